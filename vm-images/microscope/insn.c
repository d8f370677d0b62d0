/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * insn.c - classify an instruction by its bytes, in 64-bit mode.
 *
 * Source: Intel SDM volume 2, 2.1 (prefixes, ModRM, SIB), A.3 (opcode maps), and the pages of LOCK,
 * XCHG, CMPXCHG16B, CALL, RET, JMP, PUSH, POP and REP.
 */
#include "insn.h"

#include "accesses.h"

#include <string.h>

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

uint8_t string_accesses(uint8_t opcode)
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

/* One-byte opcodes with a memory operand (ModRM) that compilers use. */
static bool has_operand(uint8_t opcode)
{
    switch (opcode) {
    case 0x00 ... 0x3f:
        return (opcode & 7) < 4; /* add to cmp, except the forms with %rax and an immediate */
    case 0x63:
    case 0x69:
    case 0x6b:
    case 0x80:
    case 0x81:
    case 0x83 ... 0x8b: /* includes xchg, which is atomic */
    case 0xc0:
    case 0xc1:
    case 0xc6:
    case 0xc7:
    case 0xd0 ... 0xd3:
    case 0xf6:
    case 0xf7:
    case 0xfe:
        return true;
    default:
        return false;
    }
}

/* Opcodes after 0f with a memory operand: moves, cmov, setcc, imul, movzx, movsx. */
static bool has_operand_0f(uint8_t opcode)
{
    switch (opcode) {
    case 0x10:
    case 0x11:
    case 0x28:
    case 0x29:
    case 0x40 ... 0x4f:
    case 0x6f:
    case 0x7f:
    case 0x90 ... 0x9f:
    case 0xaf:
    case 0xb6:
    case 0xb7:
    case 0xbe:
    case 0xbf:
    case 0xd6:
        return true;
    default:
        return false;
    }
}

/* Return whether the opcode @at with prefix @rex is push or pop, or has an operand N(%rsp). */
static bool is_frame(const uint8_t *at, const uint8_t *end, uint8_t rex)
{
    bool two = at < end && *at == 0x0f;

    if (at < end && ((*at >= 0x50 && *at <= 0x5f) || *at == 0x68 || *at == 0x6a)) {
        return true;
    }
    at += two;
    if (end - at < 3 || !(two ? has_operand_0f(*at) : has_operand(*at))) {
        return false;
    }
    return at[1] >> 6 != 3 && (at[1] & 7) == 4 && at[2] == 0x24 && !(rex & 3);
}

/* Set direct and by; @at points after the opcode. */
static void take_jump(InsnKind *kind, uint8_t opcode, const uint8_t *at, const uint8_t *end)
{
    if (opcode == 0xeb && end - at >= 1) {
        kind->direct = true;
        kind->by = (int8_t)at[0];
    } else if (opcode == 0xe9 && end - at >= 4) {
        kind->direct = true;
        memcpy(&kind->by, at, sizeof(kind->by));
    }
}

InsnKind insn_kind(const uint8_t *bytes, size_t length)
{
    InsnKind kind = {0};
    size_t at = 0;
    uint8_t rex = 0;
    bool rep = false;
    bool p66 = false;

    while (at < length && is_prefix(bytes[at])) {
        kind.atomic |= bytes[at] == 0xf0;
        p66 |= bytes[at] == 0x66;
        rep |= (bytes[at++] & 0xfe) == 0xf2;
    }
    if (at < length && (bytes[at] & 0xf0) == 0x40) {
        rex = bytes[at++];
    }
    if (at >= length) {
        return (InsnKind){0};
    }
    size_t first = at;
    kind.frame = is_frame(bytes + at, bytes + length, rex);
    uint8_t opcode = bytes[at++];
    kind.ret = opcode == 0xc3 || opcode == 0xc2;
    take_jump(&kind, opcode, bytes + at, bytes + length);
    if (opcode == 0xff && at < length) {
        uint8_t what = bytes[at] >> 3 & 7; /* 2 to 5: call and jmp through a register or memory */
        kind.hidden = what >= 2 && what <= 5 && bytes[at] >> 6 != 3;
    }
    if (rep && string_accesses(opcode)) {
        kind.repeats = true;
        kind.hidden = string_accesses(opcode);
    }
    /* xchg with memory locks without a LOCK prefix; its register form (mod 3) does not. */
    if ((opcode == 0x86 || opcode == 0x87) && at < length) {
        kind.atomic |= bytes[at] >> 6 != 3;
    }
    if (opcode == 0x0f && at + 1 < length && bytes[at] == 0xc7) {
        bool cmpxchg = (bytes[at + 1] >> 3 & 7) == 1;
        kind.wide = kind.atomic && cmpxchg && (rex & 8);
    }
    kind.frame &= !kind.atomic;
    insn_accesses(&kind, bytes + first, bytes + length, rep, p66);
    return kind;
}
