/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Instructions as the assembler writes them: which are atomic, wide, or returns. */
#include "check.h"
#include "insn.h"

struct example {
	const char *text; /* for the reader */
	const char *bytes;
	size_t length;
	bool atomic, wide, ret, repeats;
	uint8_t hidden;
};

static const struct example EXAMPLES[] = {
	{"ret", "\xc3", 1, 0, 0, 1, 0, 0},
	{"ret 8", "\xc2\x08\x00", 3, 0, 0, 1, 0, 0},
	{"repz ret", "\xf3\xc3", 2, 0, 0, 1, 0, 0},
	{"iretq", "\x48\xcf", 2, 0, 0, 0, 0, 0},
	{"lock cmpxchg %rdx,(%rbx)", "\xf0\x48\x0f\xb1\x13", 5, 1, 0, 0, 0, 0},
	{"lock xadd %eax,(%rdi)", "\xf0\x0f\xc1\x07", 4, 1, 0, 0, 0, 0},
	{"lock incl (%rdi)", "\xf0\xff\x07", 3, 1, 0, 0, 0, 0},
	{"lock decl %gs:0x10(%rdi)", "\x65\xf0\xff\x4f\x10", 5, 1, 0, 0, 0, 0},
	{"lock orw $1,(%r8)", "\x66\xf0\x41\x83\x08\x01", 6, 1, 0, 0, 0, 0},
	{"xacquire lock xchg %eax,(%rdi)", "\xf2\xf0\x87\x07", 4, 1, 0, 0, 0, 0},
	{"lock cmpxchg16b (%rdi)", "\xf0\x48\x0f\xc7\x0f", 5, 1, 1, 0, 0, 0},
	{"lock cmpxchg8b (%rdi)", "\xf0\x0f\xc7\x0f", 4, 1, 0, 0, 0, 0},
	{"cmpxchg16b %gs:(%rdi), not locked", "\x65\x48\x0f\xc7\x0f", 5, 0, 0, 0, 0, 0},
	{"xchg %eax,(%rdi)", "\x87\x07", 2, 1, 0, 0, 0, 0},
	{"xchg %al,(%rdi)", "\x86\x07", 2, 1, 0, 0, 0, 0},
	{"xchg %rax,(%r8)", "\x49\x87\x00", 3, 1, 0, 0, 0, 0},
	{"xchg %ax,%ax (a nop)", "\x66\x90", 2, 0, 0, 0, 0, 0},
	{"xchg %ebx,%ecx", "\x87\xd9", 2, 0, 0, 0, 0, 0},
	{"incl (%rdi)", "\xff\x07", 2, 0, 0, 0, 0, 0},
	{"xadd %eax,(%rdi), not locked", "\x0f\xc1\x07", 3, 0, 0, 0, 0, 0},
	{"rep stosq", "\xf3\x48\xab", 3, 0, 0, 0, 1, 1},
	{"rep movsb", "\xf3\xa4", 2, 0, 0, 0, 1, 2},
	{"repnz scasb", "\xf2\xae", 2, 0, 0, 0, 1, 1},
	{"movsq, once", "\x48\xa5", 2, 0, 0, 0, 0, 0},
	{"popcnt, which has REP's byte", "\xf3\x0f\xb8\x07", 4, 0, 0, 0, 0, 0},
	{"call", "\xe8\x00\x00\x00\x00", 5, 0, 0, 0, 0, 0},
	{"call *%rax", "\xff\xd0", 2, 0, 0, 0, 0, 0},
	{"call *8(%rax)", "\xff\x50\x08", 3, 0, 0, 0, 0, 1},
	{"jmp *%r8", "\x41\xff\xe0", 3, 0, 0, 0, 0, 0},
	{"jmp *(,%rax,8)", "\xff\x24\xc5\x00\x00\x00\x00", 7, 0, 0, 0, 0, 1},
	{"push (%rdi)", "\xff\x37", 2, 0, 0, 0, 0, 0},
	{"jmp", "\xeb\x00", 2, 0, 0, 0, 0, 0},
	{"mov with c3 in its address", "\x48\x8b\x05\xc3\xf0\x87\x00", 7, 0, 0, 0, 0, 0},
	{"ds nop", "\x3e\x90", 2, 0, 0, 0, 0, 0},
	{"nothing but prefixes", "\xf0\x66", 2, 0, 0, 0, 0, 0},
	{"nothing", "", 0, 0, 0, 0, 0, 0},
	{"half an xchg", "\x87", 1, 0, 0, 0, 0, 0},
	{"half a cmpxchg16b", "\xf0\x48\x0f\xc7", 4, 1, 0, 0, 0, 0},
};

struct framed {
	const char *text, *bytes;
	size_t length;
	bool frame;
};

static const struct framed FRAMED[] = {
	{"push %rbx", "\x53", 1, 1},
	{"push %r12", "\x41\x54", 2, 1},
	{"pop %rbp", "\x5d", 1, 1},
	{"push $1", "\x6a\x01", 2, 1},
	{"mov (%rsp),%rax", "\x48\x8b\x04\x24", 4, 1},
	{"mov %rax,8(%rsp)", "\x48\x89\x44\x24\x08", 5, 1},
	{"movl $0,0x120(%rsp)", "\xc7\x84\x24\x20\x01\x00\x00\x00\x00\x00\x00", 11, 1},
	{"cmpb $0,8(%rsp)", "\x80\x7c\x24\x08\x00", 5, 1},
	{"movzbl 8(%rsp),%eax", "\x0f\xb6\x44\x24\x08", 5, 1},
	{"movups %xmm0,8(%rsp)", "\x0f\x11\x44\x24\x08", 5, 1},
	{"mov (%r12),%rax", "\x49\x8b\x04\x24", 4, 0},
	{"mov (%rsp,%rax,8),%rax", "\x48\x8b\x04\xc4", 4, 0},
	{"mov (%rsp,%r12,1),%rax", "\x4a\x8b\x04\x24", 4, 0},
	{"mov 8(%rbp),%rax", "\x48\x8b\x45\x08", 4, 0},
	{"mov (%rdi),%rax", "\x48\x8b\x07", 3, 0},
	{"lock incl (%rsp)", "\xf0\xff\x04\x24", 4, 0},
	{"lock addl $0,-4(%rsp)", "\xf0\x83\x44\x24\xfc\x00", 6, 0},
	{"xchg %eax,(%rsp)", "\x87\x04\x24", 3, 0},
	{"push (%rdi)", "\xff\x37", 2, 0},
	{"jmp 0x24048b", "\xe9\x8b\x04\x24\x00", 5, 0},
	{"mov $0x24048b48,%eax", "\xb8\x48\x8b\x04\x24", 5, 0},
	{"half a mov", "\x48\x8b\x04", 3, 0},
};

struct counted {
	const char *text, *bytes;
	size_t length;
	uint8_t count;
	bool operand;
};

/* What QEMU reads and writes for them, each time. */
static const struct counted COUNTED[] = {
	{"mov (%rdi),%rax", "\x48\x8b\x07", 3, 1, 0},
	{"mov %rax,(%rdi)", "\x48\x89\x07", 3, 1, 0},
	{"movl $1,(%rdi)", "\xc7\x07\x01\x00\x00\x00", 6, 1, 0},
	{"mov %rax,%rdi", "\x48\x89\xc7", 3, 0, 0},
	{"movslq (%rdi),%rax", "\x48\x63\x07", 3, 1, 0},
	{"movzbl (%rdi),%eax", "\x0f\xb6\x07", 3, 1, 0},
	{"lea (%rdi),%rax", "\x48\x8d\x07", 3, 0, 0},
	{"add %rax,(%rdi)", "\x48\x01\x07", 3, 2, 0},
	{"add (%rdi),%rax", "\x48\x03\x07", 3, 1, 0},
	{"add $1,%al", "\x04\x01", 2, 0, 0},
	{"cmp %rax,(%rdi)", "\x48\x39\x07", 3, 1, 0},
	{"addq $1,(%rdi)", "\x48\x83\x07\x01", 4, 2, 0},
	{"cmpq $1,(%rdi)", "\x48\x83\x3f\x01", 4, 1, 0},
	{"testb $1,(%rdi)", "\xf6\x07\x01", 3, 1, 0},
	{"notq (%rdi)", "\x48\xf7\x17", 3, 2, 0},
	{"incl (%rdi)", "\xff\x07", 2, 2, 0},
	{"push (%rdi)", "\xff\x37", 2, 2, 0},
	{"jmp *(%rdi)", "\xff\x27", 2, 0, 0},
	{"shll (%rdi)", "\xd1\x27", 2, 2, 0},
	{"lock incl (%rdi)", "\xf0\xff\x07", 3, 1, 0},
	{"lock cmpxchg16b (%rdi)", "\xf0\x48\x0f\xc7\x0f", 5, 1, 0},
	{"cmpxchg16b (%rdi), not locked", "\x48\x0f\xc7\x0f", 4, 0, 1},
	{"xchg %eax,(%rdi)", "\x87\x07", 2, 1, 0},
	{"xchg %ebx,%ecx", "\x87\xd9", 2, 0, 0},
	{"cmpxchg %rdx,(%rdi), not locked", "\x48\x0f\xb1\x17", 4, 2, 0},
	{"movups %xmm0,(%rdi)", "\x0f\x11\x07", 3, 2, 0},
	{"movsd %xmm0,(%rdi)", "\xf2\x0f\x11\x07", 4, 1, 0},
	{"movdqa (%rdi),%xmm0", "\x66\x0f\x6f\x07", 4, 2, 0},
	{"movq (%rdi),%mm0", "\x0f\x6f\x07", 3, 1, 0},
	{"setne (%rdi)", "\x0f\x95\x07", 3, 1, 0},
	{"cmovne (%rdi),%rax", "\x48\x0f\x45\x07", 4, 1, 0},
	{"bt $1,(%rdi)", "\x0f\xba\x27\x01", 4, 1, 0},
	{"bts $1,(%rdi)", "\x0f\xba\x2f\x01", 4, 2, 0},
	{"movnti %rax,(%rdi)", "\x48\x0f\xc3\x07", 4, 1, 0},
	{"fxsave (%rdi)", "\x0f\xae\x07", 3, 0, 1},
	{"fldl (%rdi)", "\xdd\x07", 2, 0, 1},
	{"vmovdqu (%rdi),%ymm0", "\xc5\xfe\x6f\x07", 4, 0, 1},
	{"prefetcht0 (%rdi)", "\x0f\x18\x0f", 3, 0, 0},
	{"nopw (%rdi)", "\x0f\x1f\x07", 3, 0, 0},
	{"movsq", "\x48\xa5", 2, 2, 0},
	{"rep movsq", "\xf3\x48\xa5", 3, 0, 0},
	{"insl", "\x6d", 1, 0, 1},
	{"popf", "\x9d", 1, 1, 0},
	{"jne", "\x75\x07", 2, 0, 0},
	{"jne, far off", "\x0f\x85\x07\x00\x00\x00", 6, 0, 0},
	{"call", "\xe8\x07\x00\x00\x00", 5, 0, 0},
	{"jmp", "\xeb\x07", 2, 0, 0},
	{"ret", "\xc3", 1, 0, 0},
	{"syscall", "\x0f\x05\x07", 2, 0, 0},
	{"half a mov", "\x48\x8b", 2, 0, 0},
};

static bool is_jump(const char *bytes, size_t length, int32_t by)
{
	InsnKind kind = insn_kind((const uint8_t *)bytes, length);

	return kind.direct && kind.by == by;
}

static void jumps(void)
{
	check(is_jump("\xeb\x10", 2, 16));
	check(is_jump("\xeb\xf0", 2, -16));
	check(is_jump("\xe9\x00\x10\x00\x00", 5, 4096));
	check(is_jump("\xf2\xe9\xff\xff\xff\xff", 6, -1));
	check(!insn_kind((const uint8_t *)"\xe9\x00\x10", 3).direct);
	check(!insn_kind((const uint8_t *)"\x75\x10", 2).direct);
	check(!insn_kind((const uint8_t *)"\xe8\x00\x10\x00\x00", 5).direct);
	check(!insn_kind((const uint8_t *)"\xff\xe0", 2).direct);
}

static void counts(void)
{
	for (size_t i = 0; i < sizeof(COUNTED) / sizeof(COUNTED[0]); i++) {
		const struct counted *one = &COUNTED[i];
		uint8_t *bytes = malloc(one->length);
		InsnKind kind;

		memcpy(bytes, one->bytes, one->length);
		kind = insn_kind(bytes, one->length);
		if (kind.count != one->count || kind.operand != one->operand) {
			fprintf(stderr, "%s: %d %d\n", one->text, kind.count, kind.operand);
			exit(1);
		}
		free(bytes);
	}
}

int main(void)
{
	counts();
	jumps();
	for (size_t i = 0; i < sizeof(FRAMED) / sizeof(FRAMED[0]); i++) {
		uint8_t *bytes = malloc(FRAMED[i].length);

		memcpy(bytes, FRAMED[i].bytes, FRAMED[i].length);
		if (insn_kind(bytes, FRAMED[i].length).frame != FRAMED[i].frame) {
			fprintf(stderr, "%s: frame\n", FRAMED[i].text);
			return 1;
		}
		free(bytes);
	}
	for (size_t i = 0; i < sizeof(EXAMPLES) / sizeof(EXAMPLES[0]); i++) {
		const struct example *one = &EXAMPLES[i];
		uint8_t *bytes = malloc(one->length); /* of this very length: ASan sees the rest */
		InsnKind kind;

		memcpy(bytes, one->bytes, one->length);
		kind = insn_kind(bytes, one->length);
		if (kind.atomic != one->atomic || kind.wide != one->wide || kind.ret != one->ret ||
		    kind.repeats != one->repeats || kind.hidden != one->hidden) {
			fprintf(stderr, "%s: %d %d %d %d %d\n", one->text, kind.atomic, kind.wide,
				kind.ret, kind.repeats, kind.hidden);
			return 1;
		}
		free(bytes);
	}
	/* Whatever bytes come, nothing is read beyond them. */
	srand(1);
	for (int i = 0; i < 200000; i++) {
		size_t length = (size_t)(rand() % (INSN_MAX_BYTES + 1));
		uint8_t *bytes = malloc(length);

		for (size_t k = 0; k < length; k++)
			bytes[k] = rand() % 2 ? 0xf0 : (uint8_t)rand();
		insn_kind(bytes, length);
		free(bytes);
	}
	return 0;
}
