/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tracefs.h - the kernel's tracing files: set up a plan, read counters, tear it down.
 */
#ifndef DUET_TRACEFS_H
#define DUET_TRACEFS_H

#include "frame.h"
#include "plan.h"

#define TRACEFS_ROOT "/sys/kernel/tracing"

int tracefs_mount(struct report *report);
int tracefs_write(const char *file, const char *text, int extra_flags);
long tracefs_read(const char *path, char *out, size_t cap);
void tracefs_clock(char *out, size_t cap);
int tracefs_setup(const struct plan *plan, struct report *report);
void tracefs_teardown(const struct plan *plan);
int tracefs_stats(int cpu, struct frame_stats_cpu *out);
uint64_t tracefs_kprobe_missed(void);

#endif
