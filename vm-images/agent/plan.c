// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * plan.c - parse the text of a plan. Pure: no I/O, no allocation.
 */
#include "plan.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define REMEDY_PLAN \
	"Correct this line of the plan; the directives stand in vm-images/agent/PROTOCOL.md."

/* The position in the text, for messages. */
struct cursor {
	struct plan *plan;
	struct report *report;
	int line;
	bool versioned;
	bool amends; /* parsing an amendment of a plan that is set up */
};

static int refuse(struct cursor *at, const char *why, const char *what)
{
	return report_set(at->report, -EINVAL, REMEDY_PLAN, "Plan line %d: %s `%s`.", at->line, why,
			  what);
}

/* Cut the first word and the blanks around it off *rest. */
static char *cut_word(char **rest)
{
	char *word = *rest + strspn(*rest, " \t");
	char *end = word + strcspn(word, " \t");

	*rest = end + strspn(end, " \t");
	*end = '\0';
	return word;
}

static int parse_number(struct cursor *at, const char *word, unsigned int least, unsigned int most,
			unsigned int *out)
{
	char *end;
	unsigned long value;

	errno = 0;
	value = strtoul(word, &end, 10);
	if (errno || *word < '0' || *word > '9' || *end || value < least || value > most)
		return report_set(at->report, -EINVAL, REMEDY_PLAN,
				  "Plan line %d: a number from %u to %u was wanted, not `%s`.",
				  at->line, least, most, word);
	*out = value;
	return 0;
}

static int parse_choice(struct cursor *at, const char *word, const char *no, const char *yes,
			bool *out)
{
	if (strcmp(word, no) && strcmp(word, yes))
		return report_set(at->report, -EINVAL, REMEDY_PLAN,
				  "Plan line %d: `%s` or `%s` was wanted, not `%s`.", at->line, no,
				  yes, word);
	*out = !strcmp(word, yes);
	return 0;
}

static int parse_probe(struct cursor *at, char *rest)
{
	struct plan *plan = at->plan;

	if (!strchr(rest, ':') || !strchr(rest, ' '))
		return refuse(at, "a probe needs TYPE:GROUP/NAME and a place, not", rest);
	if (plan->nprobes == PLAN_MAX_PROBES)
		return refuse(at, "there are too many probes, from", rest);
	plan->probes[plan->nprobes++] = rest;
	return 0;
}

static int parse_pair(struct cursor *at, char *rest, struct plan_pair *list, int *n, int max)
{
	char *name = cut_word(&rest);

	if (!strchr(name, '/') || strstr(name, ".."))
		return refuse(at, "a name with `/` and no `..` was wanted, not", name);
	if (*n == max)
		return refuse(at, "there are too many such lines, from", name);
	list[*n].name = name;
	list[*n].rest = rest;
	(*n)++;
	return 0;
}

/* Split into words. Return their number, or a negative errno if there are none or too many. */
static int cut_words(struct cursor *at, const char *directive, char *rest, char **argv)
{
	int n = 0;

	while (*rest) {
		if (n == PLAN_MAX_WORDS)
			return refuse(at, "a command has too many words, from", rest);
		argv[n++] = cut_word(&rest);
	}
	argv[n] = NULL;
	return n ? n : refuse(at, "no program follows", directive);
}

static int parse_run(struct cursor *at, char *rest)
{
	struct plan *plan = at->plan;
	int n;

	if (plan->argc)
		return refuse(at, "there is a second workload,", rest);
	n = cut_words(at, "run", rest, plan->argv);
	if (n < 0)
		return n;
	plan->argc = n;
	return 0;
}

static int parse_step(struct cursor *at, char *rest, bool command)
{
	struct plan *plan = at->plan;
	struct plan_step *step = &plan->steps[plan->nsteps];
	int one = 0, n;

	if (plan->nsteps == PLAN_MAX_STEPS)
		return refuse(at, "there are too many steps before the run, from", rest);
	if (command)
		n = cut_words(at, "setup", rest, step->argv);
	else
		n = parse_pair(at, rest, &step->write, &one, 1);
	if (n < 0)
		return n;
	plan->nsteps++;
	return 0;
}

/* Directives that may change after probes, events and filesystems were set up. */
static bool is_amendment(const char *word)
{
	return !strcmp(word, "write") || !strcmp(word, "run") || !strcmp(word, "deadline_ms");
}

static int parse_line(struct cursor *at, char *line)
{
	struct plan *plan = at->plan;
	char *rest = line;
	char *word = cut_word(&rest);

	if (at->amends && !is_amendment(word))
		return refuse(at, "a plan that is set up takes `write`, `run`, `deadline_ms`, not",
			      word);
	if (!at->versioned) {
		if (strcmp(word, "plan") || strcmp(rest, "1"))
			return refuse(at, "a plan starts with `plan 1`, not with", word);
		at->versioned = true;
		return 0;
	}
	if (!strcmp(word, "buffer_kb"))
		return parse_number(at, rest, 4, 1u << 20, &plan->buffer_kb);
	if (!strcmp(word, "deadline_ms"))
		return parse_number(at, rest, 1, 3600000, &plan->deadline_ms);
	if (!strcmp(word, "setup_ms"))
		return parse_number(at, rest, 1, 3600000, &plan->setup_ms);
	if (!strcmp(word, "drain"))
		return parse_choice(at, rest, "live", "end", &plan->drain_end);
	if (!strcmp(word, "trace"))
		return parse_choice(at, rest, "off", "on", &plan->trace);
	if (!strcmp(word, "input"))
		return parse_choice(at, rest, "none", "host", &plan->input);
	if (!strcmp(word, "autostart")) {
		plan->autostart = true;
		return *rest ? refuse(at, "nothing may follow autostart, but there is", rest) : 0;
	}
	if (!strcmp(word, "probe"))
		return parse_probe(at, rest);
	if (!strcmp(word, "event"))
		return parse_pair(at, rest, plan->events, &plan->nevents, PLAN_MAX_EVENTS);
	if (!strcmp(word, "write"))
		return parse_step(at, rest, false);
	if (!strcmp(word, "setup"))
		return parse_step(at, rest, true);
	if (!strcmp(word, "run"))
		return parse_run(at, rest);
	return refuse(at, "unknown directive", word);
}

/* Remove blanks and a comment line. A later `#` is kept, because filters may contain one. */
static char *trim(char *line)
{
	size_t len;

	line += strspn(line, " \t");
	len = strlen(line);
	while (len && strchr(" \t\r", line[len - 1]))
		line[--len] = '\0';
	return *line == '#' ? line + len : line;
}

static int parse_lines(struct cursor *at, char *text)
{
	char *next = text;

	while (next) {
		char *line = strsep(&next, "\n");
		int err;

		at->line++;
		line = trim(line);
		err = *line ? parse_line(at, line) : 0;
		if (err)
			return err;
	}
	return 0;
}

/**
 * plan_parse() - parse a plan
 * @plan: out; on failure its content is undefined
 * @text: the plan, need not end with NUL
 * @len: bytes of @text, at most PLAN_MAX_TEXT
 * @report: out: the sentence for the host, on failure
 *
 * Return: 0, or -EINVAL with @report filled.
 */
int plan_parse(struct plan *plan, const char *text, size_t len, struct report *report)
{
	struct cursor at = {.plan = plan, .report = report};
	int err;

	memset(plan, 0, offsetof(struct plan, text));
	plan->buffer_kb = 8192;
	plan->deadline_ms = 60000;
	plan->setup_ms = 60000;
	plan->trace = true;
	if (len > PLAN_MAX_TEXT)
		return report_set(report, -EINVAL, "Use fewer probes or shorter filters.",
				  "The plan has %zu bytes, the limit is %d.", len, PLAN_MAX_TEXT);
	if (memchr(text, '\0', len))
		return report_set(report, -EINVAL, REMEDY_PLAN, "The plan holds a NUL byte.");
	memcpy(plan->text, text, len);
	plan->text[len] = '\0';
	err = parse_lines(&at, plan->text);
	if (err)
		return err;
	if (!at.versioned)
		return report_set(report, -EINVAL, REMEDY_PLAN, "The plan is empty.");
	if (!plan->argc)
		return report_set(report, -EINVAL, REMEDY_PLAN, "The plan has no `run` line.");
	plan->quiet = plan->drain_end || (plan->autostart && !plan->trace);
	return 0;
}

/**
 * plan_amend() - change workload, deadline and written files of a plan that is set up
 * @plan: from plan_parse(); @text replaces its steps; on failure its content is undefined
 * @text: lines `write`, `run` and `deadline_ms`; need not end with NUL
 * @len: bytes of @text, at most PLAN_MAX_AMEND
 * @report: out: the sentence for the host, on failure
 *
 * Return: 0, or -EINVAL with @report filled.
 */
int plan_amend(struct plan *plan, const char *text, size_t len, struct report *report)
{
	struct cursor at = {.plan = plan, .report = report, .versioned = true, .amends = true};
	int err;

	if (len > PLAN_MAX_AMEND)
		return report_set(report, -EINVAL, REMEDY_PLAN,
				  "The amendment has %zu bytes, the limit is %d.", len,
				  PLAN_MAX_AMEND);
	if (memchr(text, '\0', len))
		return report_set(report, -EINVAL, REMEDY_PLAN, "The plan holds a NUL byte.");
	memcpy(plan->amended, text, len);
	plan->amended[len] = '\0';
	plan->nsteps = 0;
	plan->argc = 0;
	err = parse_lines(&at, plan->amended);
	if (!err && !plan->argc)
		err = report_set(report, -EINVAL, REMEDY_PLAN, "The plan has no `run` line.");
	return err;
}
