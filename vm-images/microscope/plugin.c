/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Microscope - loads and stores of chosen kernel functions, as QEMU (TCG) executes them.
 *
 * Only instructions inside the given ranges are instrumented. A callback counts and returns; a
 * thread tells the host (wire.c). PROTOCOL.md says what is counted, and what cannot be seen.
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

/* QEMU's processes have one microscope each, and its callbacks take one pointer: a place. */
static Core core;
static Wire wire;
static Functions functions;
static pthread_once_t started = PTHREAD_ONCE_INIT;
static atomic_uint sites;

/*
 * A place: the function, and a number for the instruction, both in the one pointer. Numbers are
 * dense; one that is translated again gets a new one.
 */
static void *new_place(int function)
{
    unsigned int site = atomic_fetch_add_explicit(&sites, 1, memory_order_relaxed);

    return (void *)((uintptr_t)(site % CORE_SITES) << 16 | (uintptr_t)function);
}

static inline unsigned int place_function(const void *place)
{
    return (uintptr_t)place & 0xffff;
}

static inline unsigned int place_site(const void *place)
{
    return (unsigned int)((uintptr_t)place >> 16);
}

static void on_access(unsigned int cpu, uint32_t info, uint64_t address, void *place)
{
    core_access(&core, cpu, address, qemu_plugin_mem_size_shift(info),
                qemu_plugin_mem_is_store(info) ? ACCESS_WRITE : ACCESS_READ,
                place_function(place), place_site(place));
}

/*
 * With several vCPUs an atomic is a helper's, which calls once, as a store. With one (and when
 * QEMU stops the others to do it) it is a load and a store, which call twice. So: the store. One
 * that fails to exchange stores, too.
 */
static void on_atomic(unsigned int cpu, uint32_t info, uint64_t address, void *place)
{
    if (qemu_plugin_mem_is_store(info)) {
        core_access(&core, cpu, address, qemu_plugin_mem_size_shift(info), ACCESS_RMW,
                    place_function(place), place_site(place));
    }
}

/* cmpxchg16b: one store of 16 bytes, or two halves, of which the first begins at 16 bytes. */
static void on_wide(unsigned int cpu, uint32_t info, uint64_t address, void *place)
{
    if (qemu_plugin_mem_is_store(info) && address % 16 == 0) {
        core_access(&core, cpu, address, 4, ACCESS_RMW, place_function(place), place_site(place));
    }
}

/* Before the operation's return is executed; what that reads itself is not seen, see instrument().
 */
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

/* Whether QEMU chains @insn to itself and to its successor without asking for their place. */
static bool is_chained(const struct qemu_plugin_insn *insn, uint64_t at, uint64_t block)
{
    uint64_t next = at + qemu_plugin_insn_size(insn);

    return at / PAGE_BYTES == block / PAGE_BYTES && next / PAGE_BYTES == block / PAGE_BYTES;
}

/*
 * An instruction that leaves its block by asking QEMU where to go on (every return, indirect calls
 * and jumps, and what crosses a page) must not have a callback for memory. QEMU 7.2 takes the
 * question for a helper that may touch memory, arms the callback, and has left the block before
 * the place where it would disarm it: then what interrupts push and what other instructions'
 * helpers do (all atomics, with several vCPUs) is told as this instruction's, and after a flush
 * of the translations from memory that is no longer there. Fixed in 8.0 (tcg: exclude
 * non-memory effecting helpers from instrumentation). So on all versions: the return address that
 * calls and returns move is not counted; what an indirect one loads is counted as untold.
 *
 * Nor has one that touches its function's frame alone, which nobody else does: that is nearly half
 * of all, and each callback costs some nanoseconds.
 */
static void instrument(struct qemu_plugin_insn *insn, uint64_t at, uint64_t block, int function)
{
    InsnKind kind = classify(insn);
    bool operation = function == functions.operation;
    bool leaves = kind.jumps || (kind.repeats && !is_chained(insn, at, block));

    if (operation && at == functions.entries[function]) {
        qemu_plugin_register_vcpu_insn_exec_cb(insn, on_entry, CB_NO_REGS, NULL);
    }
    if (operation && kind.ret) {
        qemu_plugin_register_vcpu_insn_exec_cb(insn, on_return, CB_NO_REGS, NULL);
    }
    if (leaves && kind.hidden) {
        qemu_plugin_register_vcpu_insn_exec_cb(insn, on_untold, CB_NO_REGS,
                                               (void *)(uintptr_t)kind.hidden);
    }
    if (!leaves && !kind.frame) {
        ScopeMemFn fn = kind.wide ? on_wide : kind.atomic ? on_atomic : on_access;
        qemu_plugin_register_vcpu_mem_cb(insn, fn, CB_NO_REGS, MEM_RW, new_place(function));
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
            instrument(insn, at, block, function);
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
        fprintf(stderr, "microscope: no thread can be started, so nobody will be told anything.\n");
    }
}

/* vCPUs come after QEMU went into the background, if it was asked to; a thread would not follow. */
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
    /* Memory stays: vCPUs may still count while the process goes down. */
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
