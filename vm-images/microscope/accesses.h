/* SPDX-License-Identifier: GPL-2.0-or-later */
/* accesses.h - number of memory accesses of an instruction. No QEMU. */
#ifndef MICROSCOPE_ACCESSES_H
#define MICROSCOPE_ACCESSES_H

#include "insn.h"

/* Accesses of one iteration of a string instruction; 0: not a string instruction. */
uint8_t string_accesses(uint8_t opcode);

/*
 * Set count and operand of @kind, whose other members are set. The opcode begins @at. @f2f3 and
 * @p66: it has such a prefix.
 */
void insn_accesses(InsnKind *kind, const uint8_t *at, const uint8_t *end, bool f2f3, bool p66);

#endif
