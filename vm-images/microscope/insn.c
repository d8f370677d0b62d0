/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * insn.c - atomic? wide? return? out of the bytes of an instruction, in 64-bit mode.
 *
 * Source: Intel SDM volume 2, 2.1 (prefixes), and the pages of LOCK, XCHG, CMPXCHG16B, CALL, RET,
 * JMP and REP.
 */
#include "insn.h"

static bool is_prefix(uint8_t byte)
{
    switch (byte) {
    case 0x26:
    case 0x2e:
    case 0x36:
    case 0x3e:
    case 0x64:
    case 0x65:
    case 0x66:
    case 0x67:
    case 0xf0:
    case 0xf2:
    case 0xf3:
        return true;
    default:
        return false;
    }
}

/* Accesses of one round of a string instruction; 0: it is none. */
static uint8_t string_accesses(uint8_t opcode)
{
    switch (opcode) {
    case 0xa4 ... 0xa7: /* movs, cmps */
        return 2;
    case 0x6c ... 0x6f: /* ins, outs */
    case 0xaa ... 0xaf: /* stos, lods, scas */
        return 1;
    default:
        return 0;
    }
}

InsnKind insn_kind(const uint8_t *bytes, size_t length)
{
    InsnKind kind = {0};
    size_t at = 0;
    uint8_t rex = 0;
    bool rep = false;

    while (at < length && is_prefix(bytes[at])) {
        kind.atomic |= bytes[at] == 0xf0;
        rep |= (bytes[at++] & 0xfe) == 0xf2;
    }
    if (at < length && (bytes[at] & 0xf0) == 0x40) {
        rex = bytes[at++];
    }
    if (at >= length) {
        return (InsnKind){0};
    }
    uint8_t opcode = bytes[at++];
    kind.ret = opcode == 0xc3 || opcode == 0xc2;
    kind.jumps = kind.ret || opcode == 0xe8;
    if (opcode == 0xff && at < length) {
        uint8_t what = bytes[at] >> 3 & 7; /* 2 to 5: call and jmp through a register or memory */
        kind.jumps = what >= 2 && what <= 5;
        kind.hidden = kind.jumps && bytes[at] >> 6 != 3;
    }
    if (rep && string_accesses(opcode)) {
        kind.repeats = true;
        kind.hidden = string_accesses(opcode);
    }
    /* xchg with memory locks without being told; its register form (mod 3) does not. */
    if ((opcode == 0x86 || opcode == 0x87) && at < length) {
        kind.atomic |= bytes[at] >> 6 != 3;
    }
    if (opcode == 0x0f && at + 1 < length && bytes[at] == 0xc7) {
        bool cmpxchg = (bytes[at + 1] >> 3 & 7) == 1;
        kind.wide = kind.atomic && cmpxchg && (rex & 8);
    }
    return kind;
}
