/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Microscope - counts loads and stores of chosen kernel functions, as QEMU (TCG) executes them.
 *
 * Only instructions inside the given ranges are instrumented. A callback counts and returns; a
 * thread reports to the host (wire.c). PROTOCOL.md documents what is counted, and what is not.
 *
 *     -plugin file=microscope.so,socket=PATH,functions=PATH
 */
#include "api.h"
#include "core.h"
#include "functions.h"
#include "insn.h"
#include "wire.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

SCOPE_EXPORT int qemu_plugin_version = SCOPE_API;
SCOPE_EXPORT int qemu_plugin_install(uint64_t id, const ScopeInfo *info, int argc, char **argv);

enum { PAGE_BYTES = 4096 };

/*
 * Number of accesses that the last instruction of a block may still count on a vCPU; see
 * instrument_last(). Only the vCPU's thread uses it.
 */
typedef struct {
    _Alignas(64) const void *place;
    unsigned int left; /* accesses */
} Ticket;

static Ticket tickets[CORE_MAX_VCPUS];

/* Global, because a QEMU has one microscope, and its callbacks get one pointer: a place. */
static Core core;
static Wire wire;
static Functions functions;
static pthread_once_t started = PTHREAD_ONCE_INIT;
static atomic_uint sites;

/*
 * A place encodes in a pointer: the function, a number of the instruction, and the number of its
 * accesses if it is the last of its block. Numbers are dense; a new translation gets a new number.
 */
static void *new_place(int function, uint8_t count)
{
    unsigned int site = atomic_fetch_add_explicit(&sites, 1, memory_order_relaxed);

    return (void *)((uintptr_t)count << 32 | (uintptr_t)(site % CORE_SITES) << 16 |
                    (uintptr_t)function);
}

static inline unsigned int place_function(const void *place)
{
    return (uintptr_t)place & 0xffff;
}

static inline unsigned int place_site(const void *place)
{
    return (uintptr_t)place >> 16 & 0xffff;
}

static void on_access(unsigned int cpu, uint32_t info, uint64_t address, void *place)
{
    core_access(&core, cpu, address, qemu_plugin_mem_size_shift(info),
                qemu_plugin_mem_is_store(info) ? ACCESS_WRITE : ACCESS_READ, place_function(place),
                place_site(place));
}

/*
 * With several vCPUs a helper does an atomic and calls back once, as a store. With one vCPU, and if
 * QEMU stops the others, an atomic is a load and a store with two callbacks. So only the store
 * counts. A failed exchange stores as well.
 */
static void on_atomic(unsigned int cpu, uint32_t info, uint64_t address, void *place)
{
    if (qemu_plugin_mem_is_store(info)) {
        core_access(&core, cpu, address, qemu_plugin_mem_size_shift(info), ACCESS_RMW,
                    place_function(place), place_site(place));
    }
}

/* cmpxchg16b: one store of 16 bytes, or two halves. The first half is aligned to 16 bytes. */
static void on_wide(unsigned int cpu, uint32_t info, uint64_t address, void *place)
{
    if (qemu_plugin_mem_is_store(info) && address % 16 == 0) {
        core_access(&core, cpu, address, 4, ACCESS_RMW, place_function(place), place_site(place));
    }
}

/* Before the last instruction of a block: expect its accesses, and no others. */
static void on_last(unsigned int cpu, void *place)
{
    if (cpu < CORE_MAX_VCPUS) {
        tickets[cpu] = (Ticket){place, (unsigned int)((uintptr_t)place >> 32)};
    }
}

/* Return whether an access is expected, and count it off. */
static inline bool is_awaited(unsigned int cpu, const void *place)
{
    Ticket *ticket = &tickets[cpu < CORE_MAX_VCPUS ? cpu : 0];

    if (ticket->place != place || !ticket->left) {
        return false;
    }
    ticket->left--;
    return true;
}

static void on_last_access(unsigned int cpu, uint32_t info, uint64_t address, void *place)
{
    if (is_awaited(cpu, place)) {
        on_access(cpu, info, address, place);
    }
}

static void on_last_atomic(unsigned int cpu, uint32_t info, uint64_t address, void *place)
{
    if (qemu_plugin_mem_is_store(info) && is_awaited(cpu, place)) {
        on_atomic(cpu, info, address, place);
    }
}

static void on_last_wide(unsigned int cpu, uint32_t info, uint64_t address, void *place)
{
    if (qemu_plugin_mem_is_store(info) && is_awaited(cpu, place)) {
        on_wide(cpu, info, address, place);
    }
}

/* Before the operation's return executes, so the return's own read does not count. */
static void on_return(unsigned int cpu, void *userdata)
{
    (void)userdata;
    core_end(&core, cpu);
}

static void on_entry(unsigned int cpu, void *userdata)
{
    (void)userdata;
    core_begin(&core, cpu);
}

/* Before a jump to another function, which returns instead, at a time that is not observed. */
static void on_tail(unsigned int cpu, void *userdata)
{
    (void)userdata;
    core_leave(&core, cpu);
}

static void on_untold(unsigned int cpu, void *count)
{
    core_untold(&core, cpu, (unsigned int)(uintptr_t)count);
}

static void on_switch(unsigned int cpu, void *userdata)
{
    (void)userdata;
    core_switch(&core, cpu);
}

static InsnKind classify(const struct qemu_plugin_insn *insn)
{
    size_t size = qemu_plugin_insn_size(insn);
#if SCOPE_API >= 3
    uint8_t bytes[INSN_MAX_BYTES];

    size = qemu_plugin_insn_data(insn, bytes, size < sizeof(bytes) ? size : sizeof(bytes));
    return insn_kind(bytes, size);
#else
    return insn_kind(qemu_plugin_insn_data(insn), size);
#endif
}

/* Return whether QEMU chains @insn to itself and to its successor without a lookup. */
static bool is_chained(const struct qemu_plugin_insn *insn, uint64_t at, uint64_t block)
{
    uint64_t next = at + qemu_plugin_insn_size(insn);

    return at / PAGE_BYTES == block / PAGE_BYTES && next / PAGE_BYTES == block / PAGE_BYTES;
}

static void count_untold(struct qemu_plugin_insn *insn, unsigned int count)
{
    if (count) {
        qemu_plugin_register_vcpu_insn_exec_cb(insn, on_untold, CB_NO_REGS,
                                               (void *)(uintptr_t)count);
    }
}

/*
 * Instrument the last instruction of a block. QEMU before 8.0 arms the memory callbacks of an
 * instruction whose translation calls a helper, and disarms them after it. It does not disarm them
 * after an instruction that ends its block: a jump whose target or flags a helper looks up, the
 * last one before a page's end, whose successor is looked up, and one that changes the CPU's mode.
 * Later accesses of helpers on this vCPU would then count for this instruction: pushes of
 * interrupts, all atomics with several vCPUs, FPU states. After a flush of the translations the
 * callback is freed memory. So a callback is registered only if the number of accesses is known.
 * Each execution expects that number, and the callback counts no more. Other accesses count as
 * untold. PROTOCOL.md has the details.
 *
 * A REP that stays in its page calls no helper, so nothing is armed.
 */
static void instrument_last(struct qemu_plugin_insn *insn, InsnKind kind, bool chained,
                            int function)
{
    if (kind.repeats && chained) {
        qemu_plugin_register_vcpu_mem_cb(insn, on_access, CB_NO_REGS, MEM_RW,
                                         new_place(function, 0));
    } else if (kind.count) {
        ScopeMemFn fn = kind.wide ? on_last_wide : kind.atomic ? on_last_atomic : on_last_access;
        void *place = new_place(function, kind.count);
        qemu_plugin_register_vcpu_insn_exec_cb(insn, on_last, CB_NO_REGS, place);
        qemu_plugin_register_vcpu_mem_cb(insn, fn, CB_NO_REGS, MEM_RW, place);
    } else {
        count_untold(insn, kind.operand ? 1 : kind.hidden);
    }
}

/* Instrument the ends of operations: returns, and jumps out of the function that ends them. */
static void instrument_end(struct qemu_plugin_insn *insn, InsnKind kind, uint64_t at)
{
    uint64_t target = at + qemu_plugin_insn_size(insn) + (uint64_t)(int64_t)kind.by;

    if (kind.ret) {
        qemu_plugin_register_vcpu_insn_exec_cb(insn, on_return, CB_NO_REGS, NULL);
    } else if (kind.direct && functions_find(&functions, target) != functions.until) {
        qemu_plugin_register_vcpu_insn_exec_cb(insn, on_tail, CB_NO_REGS, NULL);
    }
}

/*
 * Instrument one instruction. Instructions that access only their function's stack frame, which no
 * other CPU uses, get no memory callback: they are nearly half of all, and a callback takes some
 * nanoseconds.
 */
static void instrument(struct qemu_plugin_insn *insn, uint64_t at, uint64_t block, bool last,
                       int function)
{
    InsnKind kind = classify(insn);

    if (function == functions.operation && at == functions.entries[function]) {
        qemu_plugin_register_vcpu_insn_exec_cb(insn, on_entry, CB_NO_REGS, NULL);
    }
    if (function == functions.until) {
        instrument_end(insn, kind, at);
    }
    if (kind.frame) {
        return;
    }
    if (last) {
        instrument_last(insn, kind, is_chained(insn, at, block), function);
    } else {
        ScopeMemFn fn = kind.wide ? on_wide : kind.atomic ? on_atomic : on_access;
        qemu_plugin_register_vcpu_mem_cb(insn, fn, CB_NO_REGS, MEM_RW, new_place(function, 0));
    }
}

static void on_translation(uint64_t id, struct qemu_plugin_tb *tb)
{
    size_t count = qemu_plugin_tb_n_insns(tb);
    uint64_t block = count ? qemu_plugin_insn_vaddr(qemu_plugin_tb_get_insn(tb, 0)) : 0;

    (void)id;
    for (size_t i = 0; i < count; i++) {
        struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
        uint64_t at = qemu_plugin_insn_vaddr(insn);
        int function = functions_find(&functions, at);

        if (function >= 0) {
            instrument(insn, at, block, i + 1 == count, function);
        }
        if (functions.switch_at && at == functions.switch_at) {
            qemu_plugin_register_vcpu_insn_exec_cb(insn, on_switch, CB_NO_REGS, NULL);
        }
    }
}

static void start(void)
{
    wire.owner = getpid();
    if (!wire_start(&wire)) {
        fprintf(stderr, "microscope: no thread can be started, so clients get no data.\n");
    }
}

/* Start the thread with the first vCPU: that is after QEMU has daemonized, which ends threads. */
static void on_vcpu(uint64_t id, unsigned int vcpu)
{
    (void)id;
    (void)vcpu;
    pthread_once(&started, start);
}

static void on_exit_of_qemu(uint64_t id, void *userdata)
{
    (void)id;
    (void)userdata;
    /* Memory is not freed, because vCPUs may still count while the process exits. */
    wire_close(&wire);
}

static bool check(const ScopeInfo *info, char *sentence)
{
    if (SCOPE_API < info->version.min || SCOPE_API > info->version.cur) {
        snprintf(sentence, SENTENCE_BYTES,
                 "it was compiled for version %d of the plugin interface, but this QEMU has %d to "
                 "%d.",
                 SCOPE_API, info->version.min, info->version.cur);
    } else if (!info->system_emulation || strcmp(info->target_name, "x86_64") != 0) {
        snprintf(sentence, SENTENCE_BYTES, "wanted a whole x86_64 machine, but this is %.40s%s.",
                 info->target_name, info->system_emulation ? "" : " in user mode");
    } else if (info->system.max_vcpus < 1 || info->system.max_vcpus > CORE_MAX_VCPUS) {
        snprintf(sentence, SENTENCE_BYTES, "wanted 1 to %d vCPUs, but the machine has %d.",
                 CORE_MAX_VCPUS, info->system.max_vcpus);
    } else {
        return true;
    }
    return false;
}

static bool prepare(const ScopeInfo *info, int argc, char **argv, char *sentence)
{
    Arguments arguments;

    if (!check(info, sentence) || !arguments_parse(&arguments, argc, argv, sentence) ||
        !functions_read(&functions, arguments.functions, sentence)) {
        return false;
    }
    if (!core_init(&core, (unsigned int)info->system.max_vcpus)) {
        snprintf(sentence, SENTENCE_BYTES, "memory is short.");
        return false;
    }
    return wire_open(&wire, &core, arguments.socket, SCOPE_API, functions.count, sentence);
}

int qemu_plugin_install(uint64_t id, const ScopeInfo *info, int argc, char **argv)
{
    char sentence[SENTENCE_BYTES];

    if (!prepare(info, argc, argv, sentence)) {
        fprintf(stderr, "microscope: %s\n", sentence);
        return 1;
    }
    if (functions.remark[0]) {
        fprintf(stderr, "microscope: %s\n", functions.remark);
    }
    qemu_plugin_register_atexit_cb(id, on_exit_of_qemu, NULL);
    qemu_plugin_register_vcpu_init_cb(id, on_vcpu);
    qemu_plugin_register_vcpu_tb_trans_cb(id, on_translation);
    return 0;
}
