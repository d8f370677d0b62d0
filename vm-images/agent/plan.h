/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * plan.h - the host's plan of one run, as text: one directive per line.
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

/* A line: its first word, and the rest ("" if there is none). */
struct plan_pair {
	const char *name;
	const char *rest;
};

/* A step before the run: a command, or a value to write to a file. */
struct plan_step {
	struct plan_pair write; /* path and value; the path is NULL for a command */
	char *argv[PLAN_MAX_WORDS + 1];
};

struct plan {
	unsigned int buffer_kb;	  /* ring buffer per CPU */
	unsigned int deadline_ms; /* timeout of the workload */
	unsigned int setup_ms;	  /* timeout of each command before the run */
	bool drain_end;		  /* keep events in guest memory until the workload ends */
	bool quiet;		  /* send nothing while the workload runs: count clock */
	bool autostart;
	bool trace;
	bool input; /* the workload's standard input gets the lines of SAY */
	int nprobes;
	int nevents;
	int nsteps;
	int argc;
	const char *probes[PLAN_MAX_PROBES];	  /* lines for kprobe_events */
	struct plan_pair events[PLAN_MAX_EVENTS]; /* group/event, filter */
	struct plan_step steps[PLAN_MAX_STEPS];	  /* in the order of the plan */
	char *argv[PLAN_MAX_WORDS + 1];
	char text[PLAN_MAX_TEXT + 1]; /* all strings above point here or into amended */
	char amended[PLAN_MAX_AMEND + 1];
};

int plan_parse(struct plan *plan, const char *text, size_t len, struct report *report);
int plan_amend(struct plan *plan, const char *text, size_t len, struct report *report);

#endif
