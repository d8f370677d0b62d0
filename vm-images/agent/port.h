/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * port.h - virtio-serial ports, found by name, and the queue of frames to the host.
 */
#ifndef DUET_PORT_H
#define DUET_PORT_H

#include <stdbool.h>
#include <stdint.h>

#include "frame.h"
#include "report.h"

#define PORT_FIND_MS   5000 /* the name of a port arrives after the port itself */
#define OUTBOX_BYTES   (3u << 20)
#define OUTBOX_WAIT_MS 2000 /* longest wait for room before a frame is dropped */

/* The queue of frames to the host. Only the main thread uses it. */
struct outbox {
	int fd;
	bool hold;	  /* keep frames in memory: count clock, workload running */
	uint64_t dropped; /* frames dropped because the queue was full */
	size_t start;
	size_t len;
	char buf[OUTBOX_BYTES];
};

uint64_t mono_ns(void);
int port_open(const char *name, int wait_ms, struct report *report);
int outbox_put(struct outbox *outbox, uint16_t type, const struct frame_part *parts, int nparts);
int outbox_flush(struct outbox *outbox);

#endif
