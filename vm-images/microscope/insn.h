/* SPDX-License-Identifier: GPL-2.0-or-later */
/* insn.h - what the microscope must know of an x86-64 instruction. No QEMU. */
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
    bool frame;    /* touches nothing but its function's frame: push, pop, N(%rsp) */
    bool repeats;  /* a string instruction with a REP prefix */
    bool operand;  /* it may touch memory in a way that is not known here */
    uint8_t count; /* accesses that QEMU does for it; an atomic is one; 0: none, or unknown */
    bool direct;   /* an unconditional jump by @by bytes from its end */
    int32_t by;
    uint8_t hidden; /* accesses of an indirect jump, and of a round of REP */
} InsnKind;

/* Classify the instruction that begins at @bytes; a truncated one is nothing. */
InsnKind insn_kind(const uint8_t *bytes, size_t length);

#endif
