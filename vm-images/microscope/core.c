/* SPDX-License-Identifier: GPL-2.0-or-later */
/* core.c - a vCPU's side of the core: accesses, starts and ends of operations, and resets. */
#include "core.h"

#include <time.h>

static inline uint64_t get(const _Atomic uint64_t *from)
{
    return atomic_load_explicit(from, memory_order_relaxed);
}

/* Increment. There is one writer, so a load and a store suffice. */
static inline void add(_Atomic uint64_t *to)
{
    atomic_store_explicit(to, get(to) + 1, memory_order_relaxed);
}

/* Adopt a new zero or watch. Copy the watch, and repeat if it has changed meanwhile. */
static __attribute__((noinline)) void obey(Core *core, Vcpu *vcpu)
{
    uint64_t orders = atomic_load_explicit(&core->orders, memory_order_acquire);
    uint64_t again;

    for (;; orders = again) {
        const Watch *watch = &core->watches[orders & 1];
        vcpu->address = atomic_load_explicit(&watch->address, memory_order_acquire);
        vcpu->bytes = atomic_load_explicit(&watch->bytes, memory_order_acquire);
        vcpu->limit = atomic_load_explicit(&watch->limit, memory_order_acquire);
        again = atomic_load_explicit(&core->orders, memory_order_acquire);
        if (again == orders) {
            break;
        }
    }
    vcpu->orders = orders;
    vcpu->first_line = vcpu->address >> CORE_LINE_SHIFT;
    vcpu->n_lines = 0;
    if (vcpu->bytes) {
        uint64_t last = (vcpu->address + vcpu->bytes - 1) >> CORE_LINE_SHIFT;
        vcpu->n_lines = last - vcpu->first_line + 1;
    }
    /* An operation that is open now has begun before the reset, and is not counted. */
    vcpu->open = false;
    if (atomic_load_explicit(&vcpu->zero, memory_order_relaxed) != orders >> 32) {
        for (int i = 0; i < COUNT_LOST; i++) {
            atomic_store_explicit(&vcpu->counts[i], 0, memory_order_relaxed);
        }
        atomic_store_explicit(&vcpu->used, 0, memory_order_relaxed);
        atomic_store_explicit(&vcpu->zero, (uint32_t)(orders >> 32), memory_order_release);
    }
    if (atomic_load_explicit(&vcpu->watch, memory_order_relaxed) != (uint32_t)orders) {
        vcpu->operation = 0;
        atomic_store_explicit(&vcpu->counts[COUNT_LOST], 0, memory_order_relaxed);
        atomic_store_explicit(&vcpu->counts[COUNT_OVER], 0, memory_order_relaxed);
        atomic_store_explicit(&vcpu->watch, (uint32_t)orders, memory_order_release);
    }
}

static inline Vcpu *enter(Core *core, unsigned int cpu)
{
    if (__builtin_expect(cpu >= core->n_vcpus, 0)) {
        atomic_fetch_add_explicit(&core->strange, 1, memory_order_relaxed);
        return NULL;
    }
    Vcpu *vcpu = &core->vcpus[cpu];
    if (__builtin_expect(get(&core->orders) != vcpu->orders, 0)) {
        obey(core, vcpu);
    }
    return vcpu;
}

/*
 * Allocate the next cell for a slot that is empty or belongs to an older zero. The collector reads
 * only cells below `used`, which is incremented when the cell is complete.
 */
static __attribute__((noinline)) Cell *claim(Vcpu *vcpu, uint32_t slot, uint64_t address,
                                             uint64_t tag)
{
    uint32_t used = atomic_load_explicit(&vcpu->used, memory_order_relaxed);
    Cell *cell = &vcpu->cells[used];

    if (used == CORE_MAX_CELLS) {
        return NULL;
    }
    atomic_store_explicit(&cell->address, address, memory_order_relaxed);
    for (int i = 0; i < ACCESS_CLASSES; i++) {
        atomic_store_explicit(&cell->counts[i], 0, memory_order_relaxed);
    }
    atomic_store_explicit(&cell->sizes, 0, memory_order_relaxed);
    atomic_store_explicit(&cell->tag, tag, memory_order_relaxed);
    cell->slot = (uint16_t)slot;
    vcpu->slots[slot] = (uint16_t)used;
    atomic_store_explicit(&vcpu->used, used + 1, memory_order_release);
    return cell;
}

/*
 * Return the cell of a key, or NULL if there is no room. A slot is empty if its cell belongs to an
 * older zero, or to another slot by now.
 */
static inline Cell *find(Vcpu *vcpu, uint64_t address, uint64_t tag)
{
    uint64_t hash = (address ^ (tag & 0xffffff00) << 20) * 0x9e3779b97f4a7c15u;
    uint32_t slot = (uint32_t)(hash >> (64 - CORE_SLOT_BITS));

    for (int i = 0; i < CORE_MAX_PROBES; i++, slot = (slot + 1) % CORE_SLOTS) {
        Cell *cell = &vcpu->cells[vcpu->slots[slot]];
        uint64_t have = get(&cell->tag);
        if (have == tag && get(&cell->address) == address) {
            return cell;
        }
        if (have >> 32 != tag >> 32 || cell->slot != slot) {
            return claim(vcpu, slot, address, tag);
        }
    }
    return NULL;
}

/* Return the cell of a key. Most instructions access the same address as before, so try that. */
static inline Cell *recall(Vcpu *vcpu, uint16_t *site, uint64_t address, uint64_t tag)
{
    Cell *cell = &vcpu->cells[*site];

    if (__builtin_expect(get(&cell->address) == address && get(&cell->tag) == tag, 1)) {
        return cell;
    }
    cell = find(vcpu, address, tag);
    if (cell) {
        *site = (uint16_t)(cell - vcpu->cells);
    }
    return cell;
}

static uint64_t host_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/*
 * Take the next number of the log. False if a new watch was set, the log is full, or this vCPU's
 * ring is full; a lost access gets no number.
 */
static bool take_number(Core *core, Vcpu *vcpu, uint32_t head, uint64_t *number)
{
    uint64_t logged = get(&core->logged);
    uint32_t tail = atomic_load_explicit(&vcpu->tail, memory_order_acquire);

    do {
        if ((uint32_t)(logged >> 32) != (uint32_t)vcpu->orders) {
            return false; /* a new watch was set meanwhile */
        }
        *number = (uint32_t)logged;
        if (*number >= vcpu->limit) {
            add(&vcpu->counts[COUNT_OVER]);
            return false;
        }
        if (head - tail == CORE_RING) {
            add(&vcpu->counts[COUNT_LOST]);
            return false;
        }
    } while (!atomic_compare_exchange_weak_explicit(&core->logged, &logged, logged + 1,
                                                    memory_order_relaxed, memory_order_relaxed));
    return true;
}

static __attribute__((noinline)) void watched(Core *core, Vcpu *vcpu, uint64_t address,
                                              unsigned int bytes, AccessClass class,
                                              unsigned int function)
{
    uint32_t head = atomic_load_explicit(&vcpu->head, memory_order_relaxed);
    uint64_t number;

    if (address < vcpu->address + vcpu->bytes && address + bytes > vcpu->address) {
        vcpu->touched = true;
    }
    if (!take_number(core, vcpu, head, &number)) {
        return;
    }
    vcpu->ring[head % CORE_RING] = (Record){
        .seq = number,
        .host_ns = host_ns(),
        .operation = vcpu->open ? vcpu->operation : 0,
        .at = (int16_t)(address - vcpu->address),
        .function = (uint16_t)function,
        .cpu = vcpu->cpu,
        .class = (uint8_t) class,
        .size = (uint8_t)bytes,
        .watch = (uint32_t)vcpu->orders,
    };
    atomic_store_explicit(&vcpu->head, head + 1, memory_order_release);
}

void core_access(Core *core, unsigned int cpu, uint64_t address, unsigned int shift,
                 AccessClass class, unsigned int function, unsigned int site)
{
    Vcpu *vcpu = enter(core, cpu);
    uint64_t left = (uint64_t)1 << shift;

    if (!vcpu) {
        return;
    }
    uint64_t tag = (vcpu->orders & 0xffffffff00000000u) | (uint64_t)function << 16 |
                   (uint64_t)vcpu->open << 8 | 1;
    do {
        uint64_t room = CORE_LINE - address % CORE_LINE;
        uint64_t bytes = left < room ? left : room;
        Cell *cell = recall(vcpu, &vcpu->sites[site % CORE_SITES], address, tag);

        add(&vcpu->counts[COUNT_ACCESSES]);
        if (cell) {
            uint8_t sizes = atomic_load_explicit(&cell->sizes, memory_order_relaxed);
            add(&cell->counts[class]);
            if (__builtin_expect(!(sizes & 1u << shift), 0)) {
                atomic_store_explicit(&cell->sizes, (uint8_t)(sizes | 1u << shift),
                                      memory_order_relaxed);
            }
        } else {
            add(&vcpu->counts[COUNT_UNTOLD]);
        }
        if (__builtin_expect((address >> CORE_LINE_SHIFT) - vcpu->first_line < vcpu->n_lines, 0)) {
            watched(core, vcpu, address, (unsigned int)bytes, class, function);
        }
        address += bytes;
        left -= bytes;
    } while (__builtin_expect(left != 0, 0));
}

void core_untold(Core *core, unsigned int cpu, unsigned int count)
{
    Vcpu *vcpu = enter(core, cpu);

    for (; vcpu && count; count--) {
        add(&vcpu->counts[COUNT_ACCESSES]);
        add(&vcpu->counts[COUNT_UNTOLD]);
    }
}

void core_begin(Core *core, unsigned int cpu)
{
    Vcpu *vcpu = enter(core, cpu);

    if (!vcpu) {
        return;
    }
    if (vcpu->open) {
        add(&vcpu->counts[COUNT_AGAIN]);
    }
    vcpu->open = true;
    vcpu->touched = false;
    vcpu->operation++;
    add(&vcpu->counts[COUNT_BEGUN]);
}

void core_end(Core *core, unsigned int cpu)
{
    Vcpu *vcpu = enter(core, cpu);

    if (!vcpu || !vcpu->open) {
        return; /* the operation began before the reset, or is incomplete */
    }
    vcpu->open = false;
    add(&vcpu->counts[COUNT_ENDED]);
    if (vcpu->touched) {
        add(&vcpu->counts[COUNT_TOUCHING]);
    }
}

static void break_off(Core *core, unsigned int cpu, Count reason)
{
    Vcpu *vcpu = enter(core, cpu);

    if (vcpu && vcpu->open) {
        vcpu->open = false;
        add(&vcpu->counts[reason]);
    }
}

void core_leave(Core *core, unsigned int cpu)
{
    break_off(core, cpu, COUNT_LEFT);
}

void core_switch(Core *core, unsigned int cpu)
{
    break_off(core, cpu, COUNT_SLEPT);
}
