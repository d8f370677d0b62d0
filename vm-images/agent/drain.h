/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * drain.h - forward ring-buffer pages from the kernel to the host, one thread per CPU.
 */
#ifndef DUET_DRAIN_H
#define DUET_DRAIN_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "frame.h"
#include "report.h"

#define DRAIN_PAGE_BYTES 4096

enum drain_phase {
	DRAIN_WAIT,   /* threads sleep; events stay in the ring buffer */
	DRAIN_LIVE,   /* forward at every tick */
	DRAIN_FINISH, /* forward until the buffer is empty, then end */
	DRAIN_STOP,   /* end now */
};

/* The reader thread of one CPU. */
struct drain_cpu {
	struct drain *drain;
	int cpu;
	int port_fd;
	int raw_fd;
	int pipe_fd[2];
	pthread_t thread;
	bool running;
	atomic_bool done;
	atomic_int error;     /* 0 or a negative errno */
	pthread_mutex_t lock; /* of progress, whose two numbers must match */
	struct frame_beat_cpu progress;
	uint64_t sent; /* bytes; used by the thread only */
	char page[DRAIN_PAGE_BYTES] __attribute__((aligned(DRAIN_PAGE_BYTES)));
};

struct drain {
	int ncpu;
	bool active;
	enum drain_phase phase;
	pthread_mutex_t lock; /* of phase */
	pthread_cond_t moved;
	struct drain_cpu cpu[FRAME_MAX_CPUS];
};

int drain_init(struct drain *drain, int ncpu, struct report *report);
int drain_begin(struct drain *drain, struct report *report);
void drain_move(struct drain *drain, enum drain_phase phase);
void drain_progress(struct drain *drain, struct frame_beat_cpu *out);
bool drain_done(struct drain *drain, int *err);
void drain_end(struct drain *drain);

#endif
