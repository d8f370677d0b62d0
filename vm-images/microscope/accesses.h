/* SPDX-License-Identifier: GPL-2.0-or-later */
/* accesses.h - how many accesses to memory an instruction is. No QEMU. */
#ifndef MICROSCOPE_ACCESSES_H
#define MICROSCOPE_ACCESSES_H

#include "insn.h"

/* Accesses of one round of a string instruction; 0: it is none. */
uint8_t string_accesses(uint8_t opcode);

/*
 * Fill in count and operand of @kind, whose other members are known. The opcode begins @at; @f2f3
 * and @p66: such a prefix came before it.
 */
void insn_accesses(InsnKind *kind, const uint8_t *at, const uint8_t *end, bool f2f3, bool p66);

#endif
