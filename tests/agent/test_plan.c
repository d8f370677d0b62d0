// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test_plan.c - what a plan may say, and the sentence for each thing it may not.
 */
#include "check.h"
#include "plan.h"

static struct plan plan;
static struct report report;

static int parse(const char *text)
{
	report.sentence[0] = '\0';
	return plan_parse(&plan, text, strlen(text), &report);
}

static void refused(const char *text, const char *sentence)
{
	check(parse(text) < 0);
	check_text(report.sentence, sentence);
	check(report.remedy[0]);
}

static void test_whole_plan(void)
{
	check(!parse("# a comment\n"
		     "plan 1\n"
		     "\n"
		     "buffer_kb 64\r\n"
		     "drain end\n"
		     "autostart\n"
		     "deadline_ms 1500\n"
		     "probe p:duet/sys_umount __x64_sys_umount\n"
		     "probe r64:duet/ret __cleanup_mnt\n"
		     "event duet/sys_umount\n"
		     "  event sched/sched_switch   prev_comm ~ \"storm*\" || next_comm ~ \"#1\"  \n"
		     "setup_ms 2500\n"
		     "setup  duet-scratch xfs  512\n"
		     "write /proc/sys/vm/drop_caches 3\n"
		     "setup sync\n"
		     "run storm --hogs   9"));
	check(plan.buffer_kb == 64 && plan.deadline_ms == 1500);
	check(plan.drain_end && plan.autostart && plan.trace && plan.quiet);
	check(plan.nprobes == 2 && plan.nevents == 2 && plan.nsteps == 3 && plan.argc == 3);
	check_text(plan.probes[1], "r64:duet/ret __cleanup_mnt");
	check_text(plan.events[0].name, "duet/sys_umount");
	check_text(plan.events[0].rest, "");
	check_text(plan.events[1].rest, "prev_comm ~ \"storm*\" || next_comm ~ \"#1\"");
	check(plan.setup_ms == 2500);
	check(!plan.steps[0].write.name && !plan.steps[2].write.name);
	check_text(plan.steps[0].argv[0], "duet-scratch");
	check_text(plan.steps[0].argv[2], "512");
	check(!plan.steps[0].argv[3]);
	check_text(plan.steps[1].write.name, "/proc/sys/vm/drop_caches");
	check_text(plan.steps[1].write.rest, "3");
	check_text(plan.steps[2].argv[0], "sync");
	check_text(plan.argv[2], "9");
	check(!plan.argv[3]);
}

static void test_defaults(void)
{
	check(!parse("plan 1\nrun true\n"));
	check(plan.buffer_kb == 8192 && plan.deadline_ms == 60000 && plan.setup_ms == 60000);
	check(!plan.nsteps && plan.trace && !plan.drain_end && !plan.autostart && !plan.quiet);
	check(!plan.input);
	check(!parse("plan 1\ninput host\nrun true\n") && plan.input);
}

/* A run without host input must not talk while it runs, traced or not. */
static void test_quiet(void)
{
	check(!parse("plan 1\ntrace off\nautostart\nrun true\n") && plan.quiet);
	check(!parse("plan 1\ntrace off\nrun true\n") && !plan.quiet);
	check(!parse("plan 1\ndrain live\nautostart\nrun true\n") && !plan.quiet);
}

static void test_sentences(void)
{
	refused("", "The plan is empty.");
	refused("# nothing\n", "The plan is empty.");
	refused("plan 1\n", "The plan has no `run` line.");
	refused("plan 2\nrun true\n", "Plan line 1: a plan starts with `plan 1`, not with `plan`.");
	refused("run true\n", "Plan line 1: a plan starts with `plan 1`, not with `run`.");
	refused("plan 1\n\nbufer_kb 3\n", "Plan line 3: unknown directive `bufer_kb`.");
	refused("plan 1\nbuffer_kb lots\n",
		"Plan line 2: a number from 4 to 1048576 was wanted, not `lots`.");
	refused("plan 1\nbuffer_kb -1\n",
		"Plan line 2: a number from 4 to 1048576 was wanted, not `-1`.");
	refused("plan 1\nbuffer_kb 99999999999999999999\n",
		"Plan line 2: a number from 4 to 1048576 was wanted, not `99999999999999999999`.");
	refused("plan 1\ndeadline_ms 0\n",
		"Plan line 2: a number from 1 to 3600000 was wanted, not `0`.");
	refused("plan 1\ndrain never\n", "Plan line 2: `live` or `end` was wanted, not `never`.");
	refused("plan 1\ntrace\n", "Plan line 2: `off` or `on` was wanted, not ``.");
	refused("plan 1\ninput me\n", "Plan line 2: `none` or `host` was wanted, not `me`.");
	refused("plan 1\nautostart now\n",
		"Plan line 2: nothing may follow autostart, but there is `now`.");
	refused("plan 1\nprobe nonsense\n",
		"Plan line 2: a probe needs TYPE:GROUP/NAME and a place, not `nonsense`.");
	refused("plan 1\nevent sched\n",
		"Plan line 2: a name with `/` and no `..` was wanted, not `sched`.");
	refused("plan 1\nevent ../../etc/x 1\n",
		"Plan line 2: a name with `/` and no `..` was wanted, not `../../etc/x`.");
	refused("plan 1\nrun a\nrun b\n", "Plan line 3: there is a second workload, `b`.");
	refused("plan 1\nsetup\n", "Plan line 2: no program follows `setup`.");
	refused("plan 1\nsetup_ms 0\n",
		"Plan line 2: a number from 1 to 3600000 was wanted, not `0`.");
	refused("plan 1\nrun\n", "Plan line 2: no program follows `run`.");
	check(plan_parse(&plan, "plan 1\n\0run x", 13, &report) < 0);
	check_text(report.sentence, "The plan holds a NUL byte.");
}

/* One more than fits, of everything that is counted. */
static void test_limits(void)
{
	static char text[PLAN_MAX_TEXT + 2];
	static const struct {
		const char *line;
		int max;
		const char *word;
	} limits[] = {
		{"probe p:a/b c\n", PLAN_MAX_PROBES, "too many probes"},
		{"event a/b\n", PLAN_MAX_EVENTS, "too many such lines"},
		{"write /a b\n", PLAN_MAX_STEPS, "too many steps"},
		{"setup a b\n", PLAN_MAX_STEPS, "too many steps"},
	};

	for (int i = 0; i < 4; i++) {
		strcpy(text, "plan 1\nrun true\n");
		for (int n = 0; n < limits[i].max; n++)
			strcat(text, limits[i].line);
		check(!parse(text));
		strcat(text, limits[i].line);
		check(parse(text) < 0);
		check(strstr(report.sentence, limits[i].word));
	}
	for (int i = 0; i < 2; i++) {
		strcpy(text, i ? "plan 1\nrun x\nsetup" : "plan 1\nrun");
		for (int n = 0; n < PLAN_MAX_WORDS; n++)
			strcat(text, " w");
		check(!parse(text));
		strcat(text, " w");
		check(parse(text) < 0);
		check(strstr(report.sentence, "too many words"));
	}
	memset(text, '#', PLAN_MAX_TEXT + 1);
	check(plan_parse(&plan, text, PLAN_MAX_TEXT + 1, &report) < 0);
	check(strstr(report.sentence, "65537 bytes"));
}

/* No prefix of a plan, and no byte in it, may break the parser (run under sanitizers). */
static void test_every_prefix_and_byte(void)
{
	static const char whole[] = "plan 1\nbuffer_kb 64\nprobe p:d/x y\nevent d/x a == 1\n"
				    "write /proc/x 1\nsetup a  b\ntrace off\nrun a b  c\n";
	char text[sizeof(whole)];

	for (size_t len = 0; len < sizeof(whole); len++)
		plan_parse(&plan, whole, len, &report);
	for (size_t at = 0; at + 1 < sizeof(whole); at++) {
		for (int byte = 0; byte < 256; byte++) {
			memcpy(text, whole, sizeof(whole));
			text[at] = byte;
			plan_parse(&plan, text, sizeof(whole) - 1, &report);
		}
	}
}

static int amend(const char *text)
{
	report.sentence[0] = '\0';
	return plan_amend(&plan, text, strlen(text), &report);
}

/* A copy of a parked guest gets another workload; what is set up stays. */
static void test_amendment(void)
{
	static const char base[] = "plan 1\nprobe p:duet/x x\nevent duet/x\nsetup sync\n"
				   "write /sys/a 1\nrun true";

	check(!parse(base));
	check(!amend("deadline_ms 7000\nwrite /sys/a 2\nwrite /sys/b 3\nrun storm --hogs 4\n"));
	check(plan.deadline_ms == 7000 && plan.nprobes == 1 && plan.nevents == 1);
	check(plan.nsteps == 2 && plan.argc == 3);
	check_text(plan.steps[0].write.rest, "2");
	check_text(plan.steps[1].write.name, "/sys/b");
	check_text(plan.argv[2], "4");
	check_text(plan.probes[0], "p:duet/x x");
	check(!amend("run true"));
	check(plan.nsteps == 0 && plan.argc == 1);
	check(amend("run true\nsetup sync") < 0);
	check_text(report.sentence,
		   "Plan line 2: a plan that is set up takes `write`, `run`, `deadline_ms`, not "
		   "`setup`.");
	check(amend("deadline_ms 5") < 0);
	check_text(report.sentence, "The plan has no `run` line.");
	check(plan_amend(&plan, "run \0x", 6, &report) < 0);
	check(plan_amend(&plan, base, PLAN_MAX_AMEND + 1, &report) < 0);
}

int main(void)
{
	test_whole_plan();
	test_amendment();
	test_defaults();
	test_quiet();
	test_sentences();
	test_limits();
	test_every_prefix_and_byte();
	return 0;
}
