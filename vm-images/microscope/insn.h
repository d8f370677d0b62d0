/* SPDX-License-Identifier: GPL-2.0-or-later */
/* insn.h - classification of x86-64 instructions. No QEMU. */
#ifndef MICROSCOPE_INSN_H
#define MICROSCOPE_INSN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { INSN_MAX_BYTES = 15 };

typedef struct {
    bool atomic;   /* a LOCK prefix, or xchg with memory: one read-modify-write */
    bool wide;     /* cmpxchg16b, which QEMU may do in two halves of 8 bytes */
    bool ret;      /* a near return */
    bool frame;    /* accesses only its function's stack frame: push, pop, N(%rsp) */
    bool repeats;  /* a string instruction with a REP prefix */
    bool operand;  /* may access memory in a way unknown here */
    uint8_t count; /* accesses by QEMU, an atomic counts as one; 0: none, or unknown */
    bool direct;   /* an unconditional jump by @by bytes from its end */
    int32_t by;
    uint8_t hidden; /* accesses of an indirect jump, and of an iteration of REP */
} InsnKind;

/* Classify the instruction that begins at @bytes; a truncated one gives all zeros. */
InsnKind insn_kind(const uint8_t *bytes, size_t length);

#endif
