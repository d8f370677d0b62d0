/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The functions file and the arguments: what is understood, and each refusal's sentence. */
#include "check.h"
#include "functions.h"

static Functions functions;
static char sentence[SENTENCE_BYTES];

static bool parse(const char *text)
{
	char *exact = malloc(strlen(text)); /* without its NUL: ASan sees what is read beyond */
	bool good;

	memcpy(exact, text, strlen(text));
	good = functions_parse(&functions, exact, strlen(text), sentence);
	free(exact);
	return good;
}

static void refused(const char *text, const char *why)
{
	check(!parse(text));
	check_text(sentence, why);
}

static void understood(void)
{
	check(parse("microscope 1\n"
		    "function dput ffffffff81001000 ffffffff81001100\n"
		    "function path_put 2000 2010\n"
		    "function dput 3000 3001\n"
		    "operation path_put\n"
		    "switch ffffffff810016a0"));
	check(functions.count == 2 && functions.n_ranges == 3);
	check_text(functions.names[0], "dput");
	check(functions.entries[0] == 0xffffffff81001000u);
	check(functions.operation == 1 && functions.until == 1);
	check(functions.switch_at == 0xffffffff810016a0u);
	check(functions_find(&functions, 0xffffffff81001000u) == 0);
	check(functions_find(&functions, 0xffffffff810010ffu) == 0);
	check(functions_find(&functions, 0xffffffff81001100u) == -1);
	check(functions_find(&functions, 0x1fff) == -1);
	check(functions_find(&functions, 0x2000) == 1);
	check(functions_find(&functions, 0x2010) == -1);
	check(functions_find(&functions, 0x3000) == 0);
	check(functions_find(&functions, UINT64_MAX) == -1);
	check(!functions.remark[0]);
	check(parse("microscope 1\nfunction all 0 ffffffffffffffff\n"));
	check(functions.operation == -1 && functions.until == -1 && functions.switch_at == 0);
	check(functions_find(&functions, 0) == 0);
	check(strstr(functions.remark, "all is 18014398509481983 KiB wide;"));
}

static void from_one_to_another(void)
{
	check(parse("microscope 1\nfunction open 0 10\nfunction close 10 20\n"
		    "until close\noperation open\n"));
	check(functions.operation == 0 && functions.until == 1);
	refused("microscope 1\nfunction a 0 10\noperation a\nuntil b\n",
		"the end of an operation b is not among the functions.");
	refused("microscope 1\nfunction a 0 10\nuntil a\n",
		"until a ends an operation, but none is named.");
}

static void too_many(void)
{
	char *text = malloc(1 << 20);
	size_t at = (size_t)sprintf(text, "microscope 1\n");

	for (int i = 0; i < FUNCTIONS_MAX; i++)
		at += (size_t)sprintf(text + at, "function f%d %x %x\n", i, 16 * i, 16 * i + 16);
	check(parse(text));
	check(functions_find(&functions, 16 * 255) == 255);
	strcpy(text + at, "function g 10000 10001\n");
	refused(text, "there are more than 256 functions.");
	for (int i = FUNCTIONS_MAX; i <= FUNCTIONS_MAX_RANGES; i++)
		at += (size_t)sprintf(text + at, "function f0 %x %x\n", 16 * i, 16 * i + 16);
	refused(text, "there are more than 4096 ranges.");
	free(text);
}

static void refusals(void)
{
	refused("", "the functions file names no function.");
	refused("microscope 1\n", "the functions file names no function.");
	refused("microscope 2\n", "the functions file does not begin with `microscope 1`.");
	refused("function a 0 1\n", "the functions file does not begin with `microscope 1`.");
	refused("microscope 1\nfunction a 1 1\n", "the range of a in line 2 is empty.");
	refused("microscope 1\nfunction a 0 1\nfunction b x 2\n",
		"line 3 is not `function NAME LOW HIGH` with hex numbers.");
	refused("microscope 1\nfunction a 0x1 2\n",
		"line 2 is not `function NAME LOW HIGH` with hex numbers.");
	refused("microscope 1\nfunction a 0 11111111111111111\n",
		"line 2 is not `function NAME LOW HIGH` with hex numbers.");
	refused("microscope 1\nfunction a-b 0 1\n",
		"line 2 is not `function NAME LOW HIGH` with hex numbers.");
	refused("microscope 1\nfunction a 0 10\nfunction b f 20\n",
		"the ranges of a and b overlap at f.");
	refused("microscope 1\nfunction a 0 10\noperation b\n",
		"the operation b is not among the functions.");
	refused("microscope 1\nfunction a 0 10\noperation a\noperation a\n",
		"line 4 (operation) is no `function NAME LOW HIGH`, and no first `operation NAME`, "
		"`until NAME` or `switch ADDRESS`.");
	refused("microscope 1\nfunction a 0 10\nswitch 0\n",
		"line 3 (switch) is no `function NAME LOW HIGH`, and no first `operation NAME`, "
		"`until NAME` or `switch ADDRESS`.");
	refused("microscope 1\nfunction a 0 10 20\n", "line 2 (function) is no `function NAME LOW "
						      "HIGH`, and no first `operation NAME`, "
						      "`until NAME` or `switch ADDRESS`.");
	refused("microscope 1\n\n", "line 2 () is no `function NAME LOW HIGH`, and no first "
				    "`operation NAME`, `until NAME` or `switch ADDRESS`.");
	check(!functions_parse(&functions, "microscope 1\nfunc\0tion", 21, sentence));
	check_text(sentence, "line 2 of the functions file is too long or no text.");
	check(!functions_read(&functions, "/nowhere/at/all", sentence));
	check_text(sentence, "the functions file /nowhere/at/all cannot be read: No such file or "
			     "directory.");
	check(!functions_read(&functions, "/", sentence));
	check_text(sentence, "the functions file / cannot be read: Is a directory.");
}

static void arguments(void)
{
	char *good[] = {"functions=/f", "socket=/s=1"};
	char *unknown[] = {"socket=/s", "colour=red"};
	char *twice[] = {"socket=/s", "socket=/t"};
	char *empty[] = {"functions="};
	char *bare[] = {"socket"};
	char longest[] =
		"socket=/"
		"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
		"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
	char *wide[] = {longest, "functions=/f"};
	Arguments args;

	check(arguments_parse(&args, 2, good, sentence));
	check_text(args.socket, "/s=1");
	check_text(args.functions, "/f");
	check(!arguments_parse(&args, 2, unknown, sentence));
	check_text(sentence,
		   "wanted socket=PATH and functions=PATH, each once, but `colour=red` came.");
	check(!arguments_parse(&args, 2, twice, sentence));
	check_text(sentence,
		   "wanted socket=PATH and functions=PATH, each once, but `socket=/t` came.");
	check(!arguments_parse(&args, 1, empty, sentence));
	check(!arguments_parse(&args, 1, bare, sentence));
	check(!arguments_parse(&args, 1, good, sentence));
	check_text(sentence, "wanted socket=PATH and functions=PATH, but socket= is missing.");
	check(!arguments_parse(&args, 0, good, sentence));
	check(!arguments_parse(&args, 2, wide, sentence));
	check_text(sentence, "the path of the socket is longer than 107 bytes.");
}

int main(void)
{
	understood();
	from_one_to_another();
	too_many();
	refusals();
	arguments();
	return 0;
}
