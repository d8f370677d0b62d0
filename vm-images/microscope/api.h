/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * api.h - our declarations of the functions of QEMU's plugin interface that the microscope uses.
 *
 * Debian's QEMU loads plugins but ships no header. SCOPE_API is the declared version of the
 * interface: 1 up to QEMU 8.2; 2 in 9.0 (removes n_vcpus and unsafe inline operations, unused
 * here); 3 since 9.1 (insn_data copies). Versions 4 to 6 only add functions. Version 7 removes the
 * plugin's id from callbacks. Source: qemu-plugin.h and docs/devel/tcg-plugins.rst.
 */
#ifndef MICROSCOPE_API_H
#define MICROSCOPE_API_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifndef SCOPE_API
#define SCOPE_API 1
#endif
#if SCOPE_API < 1 || SCOPE_API > 6
#error "the microscope knows versions 1 to 6 of QEMU's plugin interface"
#endif

#define SCOPE_EXPORT __attribute__((visibility("default")))

struct qemu_plugin_tb;
struct qemu_plugin_insn;

typedef struct {
    const char *target_name;
    struct {
        int min;
        int cur;
    } version;
    bool system_emulation;
    struct {
        int smp_vcpus;
        int max_vcpus;
    } system;
} ScopeInfo;

enum { CB_NO_REGS = 0 };
enum { MEM_RW = 3 };

typedef void (*ScopeVcpuFn)(uint64_t id, unsigned int vcpu);
typedef void (*ScopeTransFn)(uint64_t id, struct qemu_plugin_tb *tb);
typedef void (*ScopeExecFn)(unsigned int vcpu, void *userdata);
typedef void (*ScopeMemFn)(unsigned int vcpu, uint32_t info, uint64_t vaddr, void *userdata);
typedef void (*ScopeExitFn)(uint64_t id, void *userdata);

void qemu_plugin_register_vcpu_init_cb(uint64_t id, ScopeVcpuFn fn);
void qemu_plugin_register_vcpu_tb_trans_cb(uint64_t id, ScopeTransFn fn);
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *insn, ScopeExecFn fn,
                                            int flags, void *userdata);
void qemu_plugin_register_vcpu_mem_cb(struct qemu_plugin_insn *insn, ScopeMemFn fn, int flags,
                                      int rw, void *userdata);
void qemu_plugin_register_atexit_cb(uint64_t id, ScopeExitFn fn, void *userdata);

size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *tb, size_t index);
uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *insn);
size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *insn);
unsigned int qemu_plugin_mem_size_shift(uint32_t info);
bool qemu_plugin_mem_is_store(uint32_t info);

#if SCOPE_API >= 3
size_t qemu_plugin_insn_data(const struct qemu_plugin_insn *insn, void *to, size_t room);
#else
const void *qemu_plugin_insn_data(const struct qemu_plugin_insn *insn);
#endif

#endif
