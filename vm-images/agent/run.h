/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * run.h - one run: from the plan to the last event.
 */
#ifndef DUET_RUN_H
#define DUET_RUN_H

#include <stdbool.h>
#include <stdint.h>

#include "drain.h"
#include "plan.h"
#include "port.h"
#include "workload.h"

#define BEAT_MS	     20
#define STATS_MS     500
#define STOP_WAIT_MS 2000 /* between SIGTERM and SIGKILL */

enum run_state {
	RUN_IDLE,
	RUN_READY,    /* the plan is set up, tracing is off */
	RUN_RUNNING,  /* the workload runs */
	RUN_DRAINING, /* the workload has ended; events are still being sent */
};

struct run {
	enum run_state state;
	bool planned;	  /* the plan below is set up and must be torn down */
	uint64_t kill_ns; /* time of SIGKILL; 0 without a request to stop */
	uint64_t deadline_ns;
	uint64_t stats_ns; /* time of the next STATS */
	uint64_t told_dropped;
	struct plan plan;
	struct drain drain;
	struct workload workload;
	struct outbox outbox;
	struct report report;
};

void run_hello(struct run *run);
void run_error(struct run *run);
void run_plan(struct run *run, const char *text, size_t len);
void run_resume(struct run *run, const char *payload, size_t len);
void run_start(struct run *run);
void run_stop(struct run *run);
void run_say(struct run *run, const char *text, size_t len);
void run_beat(struct run *run);
void run_reaped(struct run *run);
void run_output(struct run *run, int index);
void run_tick(struct run *run);
bool run_ticks(const struct run *run);

#endif
