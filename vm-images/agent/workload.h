/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * workload.h - the workload: start it, read its lines, wait for its end.
 */
#ifndef DUET_WORKLOAD_H
#define DUET_WORKLOAD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "frame.h"
#include "report.h"

/* Standard output or standard error, split into lines. */
struct workload_output {
	int fd; /* -1 when closed */
	size_t len;
	char text[FRAME_MAX_LINE];
};

struct workload {
	pid_t pid; /* also its process group; 0 when none runs */
	bool reaped;
	int wait_status;
	struct workload_output output[2];
	int input; /* pipe to its standard input; -1 if it gets none */
};

/* Callback for each line, without its newline. */
typedef void (*workload_line_fn)(void *context, int stream, const char *text, size_t len);

int workload_start(struct workload *workload, char *const argv[], bool trace, bool input,
		   struct report *report);
int workload_say(struct workload *workload, const char *text, size_t len);
void workload_read(struct workload *workload, int index, workload_line_fn line, void *context);
void workload_signal(struct workload *workload, int signal);
int workload_finish(struct workload *workload, workload_line_fn line, void *context);

#endif
