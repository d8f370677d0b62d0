/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * plan.h - what the host wants of one run, as text: one directive a line.
 */
#ifndef DUET_PLAN_H
#define DUET_PLAN_H

#include <stdbool.h>
#include <stddef.h>

#include "report.h"

#define PLAN_MAX_TEXT	65536
#define PLAN_MAX_PROBES 64
#define PLAN_MAX_EVENTS 64
#define PLAN_MAX_STEPS	32
#define PLAN_MAX_WORDS	64
#define PLAN_MAX_AMEND	16384

/* Two words of a line: what, and the rest of the line ("" if there is none). */
struct plan_pair {
	const char *name;
	const char *rest;
};

/* What is done before the run: a command, or a value written to a file. */
struct plan_step {
	struct plan_pair write; /* path and value; the path is NULL for a command */
	char *argv[PLAN_MAX_WORDS + 1];
};

struct plan {
	unsigned int buffer_kb;	  /* ring buffer per CPU */
	unsigned int deadline_ms; /* after which the agent ends the workload */
	unsigned int setup_ms;	  /* after which it ends a command before the run */
	bool drain_end;		  /* keep events in guest memory until the workload is over */
	bool quiet;		  /* no message at all while the workload runs: count clock */
	bool autostart;
	bool trace;
	bool input; /* the workload's standard input takes what the host says */
	int nprobes;
	int nevents;
	int nsteps;
	int argc;
	const char *probes[PLAN_MAX_PROBES];	  /* lines for kprobe_events */
	struct plan_pair events[PLAN_MAX_EVENTS]; /* group/event, filter */
	struct plan_step steps[PLAN_MAX_STEPS];	  /* in the order of the plan */
	char *argv[PLAN_MAX_WORDS + 1];
	char text[PLAN_MAX_TEXT + 1]; /* all strings above lie in here, or in the next */
	char amended[PLAN_MAX_AMEND + 1];
};

int plan_parse(struct plan *plan, const char *text, size_t len, struct report *report);
int plan_amend(struct plan *plan, const char *text, size_t len, struct report *report);

#endif
