/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * insn.c - atomic? wide? return? out of the bytes of an instruction, in 64-bit mode.
 *
 * Source: Intel SDM volume 2, 2.1 (prefixes), and the pages of LOCK, XCHG, CMPXCHG16B and RET.
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

InsnKind insn_kind(const uint8_t *bytes, size_t length)
{
    InsnKind kind = {0};
    size_t at = 0;
    uint8_t rex = 0;

    while (at < length && is_prefix(bytes[at])) {
        kind.atomic |= bytes[at++] == 0xf0;
    }
    if (at < length && (bytes[at] & 0xf0) == 0x40) {
        rex = bytes[at++];
    }
    if (at >= length) {
        return (InsnKind){0};
    }
    uint8_t opcode = bytes[at++];
    kind.ret = opcode == 0xc3 || opcode == 0xc2;
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
