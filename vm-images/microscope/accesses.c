/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * accesses.c - number of memory accesses that QEMU 7.2 does for an instruction, in 64-bit mode.
 *
 * An access has at most 8 bytes, so an SSE move of 16 bytes is two. A shift by 0 stores as well.
 * Source: Intel SDM volume 2, A.3 (opcode maps); QEMU's target/i386/tcg/translate.c. The tables
 * cover the opcodes that compilers and kernels use. The plugin needs the number for the last
 * instruction of a block.
 */
#include "accesses.h"

/* Accesses of a one-byte opcode with a memory operand; @reg is ModRM.reg. 0: unknown. */
static uint8_t operand_accesses(uint8_t opcode, uint8_t reg)
{
    switch (opcode) {
    case 0x00 ... 0x3f:
        return (opcode & 7) > 3 ? 0 : (opcode & 7) < 2 && opcode < 0x38 ? 2 : 1;
    case 0x80 ... 0x81:
    case 0x83:
        return reg == 7 ? 1 : 2; /* cmp */
    case 0x63:
    case 0x69:
    case 0x6b:
    case 0x84 ... 0x8c:
    case 0xc6:
    case 0xc7:
        return 1;
    case 0xc0:
    case 0xc1:
    case 0xd0 ... 0xd3:
        return 2;
    case 0xf6:
    case 0xf7:
        return reg == 2 || reg == 3 ? 2 : 1; /* not, neg */
    case 0xfe:
    case 0xff:
        return reg < 2 || reg == 6 ? 2 : 0; /* inc, dec, push; not call and jmp */
    default:
        return 0;
    }
}

/* Accesses of an opcode after 0f; @single: a prefix makes an SSE move 4 or 8 bytes wide. */
static uint8_t operand_accesses_0f(uint8_t opcode, uint8_t reg, bool single, bool wide)
{
    switch (opcode) {
    case 0x10:
    case 0x11:
        return single ? 1 : 2;
    case 0x28:
    case 0x29:
    case 0x2b:
        return 2;
    case 0x6f:
    case 0x7f:
    case 0xe7:
        return wide ? 2 : 1;
    case 0xba:
        return reg == 4 ? 1 : 2; /* bt */
    case 0xa4:
    case 0xa5:
    case 0xab ... 0xad:
    case 0xb0:
    case 0xb1:
    case 0xb3:
    case 0xbb:
    case 0xc0:
    case 0xc1:
        return 2;
    case 0x12:
    case 0x13:
    case 0x16:
    case 0x17:
    case 0x40 ... 0x4f:
    case 0x6e:
    case 0x7e:
    case 0x90 ... 0x9f:
    case 0xa3:
    case 0xaf:
    case 0xb6 ... 0xb8:
    case 0xbc ... 0xbf:
    case 0xc3:
    case 0xd6:
        return 1;
    default:
        return 0;
    }
}

/* Return whether an opcode after 0f has a ModRM byte whose operand is accessed. */
static bool touches_0f(uint8_t opcode)
{
    switch (opcode) {
    case 0x05 ... 0x0b: /* syscall to ud2 */
    case 0x0d:
    case 0x18 ... 0x1f: /* prefetches, hints and nops */
    case 0x30 ... 0x37: /* wrmsr to getsec */
    case 0x77:
    case 0x80 ... 0x8f: /* jcc */
    case 0xa0 ... 0xa2:
    case 0xa8 ... 0xaa:
    case 0xb9:
    case 0xc8 ... 0xcf: /* bswap */
        return false;
    default:
        return true;
    }
}

/* Return whether a one-byte opcode unknown to operand_accesses() accesses its operand. */
static bool touches(uint8_t opcode)
{
    switch (opcode) {
    case 0x8e: /* mov to a segment */
    case 0x8f:
    case 0xd8 ... 0xdf: /* x87 */
        return true;
    default:
        return false;
    }
}

/* Opcodes with one access and no ModRM byte: absolute moves, xlat, pushf, popf, leave. */
static bool is_plain(uint8_t opcode)
{
    return (opcode >= 0xa0 && opcode <= 0xa3) || opcode == 0xd7 || opcode == 0x9c ||
           opcode == 0x9d || opcode == 0xc9;
}

void insn_accesses(InsnKind *kind, const uint8_t *at, const uint8_t *end, bool f2f3, bool p66)
{
    bool two = at < end && *at == 0x0f;

    if (at >= end || kind->repeats) {
        return;
    }
    if (!two && (is_plain(*at) || string_accesses(*at))) {
        bool port = (*at & 0xfc) == 0x6c; /* ins, outs: their helper's accesses are unknown */
        kind->count = port ? 0 : is_plain(*at) ? 1 : string_accesses(*at);
        kind->operand = port;
        return;
    }
    if (!two && (*at == 0x62 || *at == 0xc4 || *at == 0xc5)) {
        kind->operand = true; /* EVEX, VEX: the next byte is not ModRM */
        return;
    }
    at += two;
    if (end - at < 2 || at[1] >> 6 == 3) {
        return;
    }
    uint8_t reg = at[1] >> 3 & 7;
    if (kind->atomic) {
        kind->count = 1;
    } else if (two) {
        kind->count = operand_accesses_0f(*at, reg, f2f3, p66 || f2f3);
        kind->operand = !kind->count && touches_0f(*at);
    } else {
        kind->count = operand_accesses(*at, reg);
        kind->operand = !kind->count && touches(*at);
    }
}
