/* SPDX-License-Identifier: GPL-2.0-or-later */
/* collect.c - the collector's side of the core: resets and watches, sums, and the log. */
#include "core.h"

#include <sys/mman.h>

/* Allocate zeroed pages; untouched pages take no memory. */
static void *map(size_t bytes)
{
    void *made = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    return made == MAP_FAILED ? NULL : made;
}

static void unmap(void *made, size_t bytes)
{
    if (made) {
        munmap(made, bytes);
    }
}

bool core_init(Core *core, unsigned int n_vcpus)
{
    /* Zeros start at 1, so untouched cells belong to an older zero, and all slots are empty. */
    *core = (Core){.n_vcpus = n_vcpus, .orders = (uint64_t)1 << 32};
    core->vcpus = map(n_vcpus * sizeof(Vcpu));
    for (unsigned int i = 0; core->vcpus && i < n_vcpus; i++) {
        Vcpu *vcpu = &core->vcpus[i];
        vcpu->cpu = (uint8_t)i;
        vcpu->cells = map(CORE_MAX_CELLS * sizeof(Cell));
        vcpu->ring = map(CORE_RING * sizeof(Record));
        vcpu->slots = map(CORE_SLOTS * sizeof(*vcpu->slots));
        vcpu->sites = map(CORE_SITES * sizeof(*vcpu->sites));
        if (!vcpu->cells || !vcpu->ring || !vcpu->slots || !vcpu->sites) {
            core_exit(core);
            return false;
        }
    }
    return core->vcpus;
}

void core_exit(Core *core)
{
    for (unsigned int i = 0; core->vcpus && i < core->n_vcpus; i++) {
        unmap(core->vcpus[i].cells, CORE_MAX_CELLS * sizeof(Cell));
        unmap(core->vcpus[i].ring, CORE_RING * sizeof(Record));
        unmap(core->vcpus[i].slots, CORE_SLOTS * sizeof(*core->vcpus[i].slots));
        unmap(core->vcpus[i].sites, CORE_SITES * sizeof(*core->vcpus[i].sites));
    }
    unmap(core->vcpus, core->n_vcpus * sizeof(Vcpu));
    core->vcpus = NULL;
}

static uint64_t orders(const Core *core)
{
    return atomic_load_explicit(&core->orders, memory_order_relaxed);
}

/*
 * Set zero and watch. The new watch goes into the element that vCPUs do not use. A vCPU that is
 * still copying an older watch from it notices that the orders have changed. All stores are
 * releases: the log must be reset before the orders change, and an element is overwritten only
 * after the orders have left it.
 */
static void order(Core *core, uint64_t zero, const Watch *wanted)
{
    uint64_t watch = (uint32_t)(orders(core) + 1);
    Watch *slot = &core->watches[watch & 1];

    atomic_store_explicit(&slot->address, wanted->address, memory_order_release);
    atomic_store_explicit(&slot->bytes, wanted->bytes, memory_order_release);
    atomic_store_explicit(&slot->limit, wanted->limit, memory_order_release);
    core->next = 0;
    atomic_store_explicit(&core->logged, watch << 32, memory_order_release);
    atomic_store_explicit(&core->orders, zero << 32 | watch, memory_order_release);
}

void core_watch(Core *core, uint64_t address, uint64_t bytes, uint64_t limit)
{
    order(core, (orders(core) >> 32) + 1, &(Watch){address, bytes, limit});
}

void core_forget(Core *core)
{
    order(core, orders(core) >> 32, &(Watch){0});
}

void core_zero(Core *core)
{
    atomic_store_explicit(&core->orders, orders(core) + ((uint64_t)1 << 32), memory_order_release);
}

const Watch *core_watched(const Core *core)
{
    return &core->watches[orders(core) & 1];
}

/* Return whether a vCPU's counts belong to the current zero or watch. */
static bool is_present(const _Atomic uint32_t *have, uint64_t wanted)
{
    return atomic_load_explicit(have, memory_order_acquire) == (uint32_t)wanted;
}

void core_counts(const Core *core, uint64_t sums[COUNTS])
{
    for (int i = 0; i < COUNTS; i++) {
        sums[i] = 0;
    }
    for (unsigned int cpu = 0; cpu < core->n_vcpus; cpu++) {
        const Vcpu *vcpu = &core->vcpus[cpu];
        bool zero = is_present(&vcpu->zero, orders(core) >> 32);
        bool watch = is_present(&vcpu->watch, orders(core));
        for (int i = 0; i < COUNTS; i++) {
            if (i < COUNT_LOST ? zero : watch) {
                sums[i] += atomic_load_explicit(&vcpu->counts[i], memory_order_relaxed);
            }
        }
    }
    uint64_t strange = atomic_load_explicit(&core->strange, memory_order_relaxed);
    sums[COUNT_ACCESSES] += strange;
    sums[COUNT_UNTOLD] += strange;
}

uint64_t core_logged(const Core *core)
{
    return (uint32_t)atomic_load_explicit(&core->logged, memory_order_relaxed);
}

/* Return a vCPU's oldest record of the current watch, or NULL; drop older records. */
static const Record *oldest(const Core *core, Vcpu *vcpu)
{
    uint32_t head = atomic_load_explicit(&vcpu->head, memory_order_acquire);
    uint32_t tail = atomic_load_explicit(&vcpu->tail, memory_order_relaxed);

    for (; tail != head; tail++) {
        const Record *record = &vcpu->ring[tail % CORE_RING];
        if (record->watch == (uint32_t)orders(core)) {
            return record;
        }
        atomic_store_explicit(&vcpu->tail, tail + 1, memory_order_release);
    }
    return NULL;
}

size_t core_take(Core *core, Record *records, size_t room)
{
    size_t taken = 0;
    bool more = true;

    /* Numbers are dense, so the next record is the oldest of one ring, or not written yet. */
    while (more && taken < room) {
        more = false;
        for (unsigned int cpu = 0; cpu < core->n_vcpus && taken < room; cpu++) {
            Vcpu *vcpu = &core->vcpus[cpu];
            const Record *record = oldest(core, vcpu);
            while (record && record->seq == core->next && taken < room) {
                uint32_t tail = atomic_load_explicit(&vcpu->tail, memory_order_relaxed);
                records[taken] = *record;
                records[taken++].watch = 0;
                core->next++;
                more = true;
                atomic_store_explicit(&vcpu->tail, tail + 1, memory_order_release);
                record = oldest(core, vcpu);
            }
        }
    }
    return taken;
}

uint32_t core_cells(const Core *core, unsigned int cpu)
{
    const Vcpu *vcpu = &core->vcpus[cpu];

    if (!is_present(&vcpu->zero, orders(core) >> 32)) {
        return 0;
    }
    return atomic_load_explicit(&vcpu->used, memory_order_acquire);
}

const Cell *core_cell(const Core *core, unsigned int cpu, uint32_t index)
{
    return &core->vcpus[cpu].cells[index];
}
