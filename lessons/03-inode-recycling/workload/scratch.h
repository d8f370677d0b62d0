/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the programs of this lesson share: time, errors, trace markers, numbers of the command line.
 *
 * A program defines PROGRAM, its name, and SMALLER, what to do when the scratch disk is full,
 * before it includes this file.
 */
#ifndef SCRATCH_H
#define SCRATCH_H

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define TRACE_MARKER "/sys/kernel/tracing/trace_marker"
#define NSEC_PER_SEC 1000000000ull

static inline uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * NSEC_PER_SEC + now.tv_nsec;
}

static inline _Noreturn void fail(const char *what, const char *name)
{
	if (errno == ENOSPC)
		fprintf(stderr, PROGRAM ": the scratch disk is full: cannot %s %s. " SMALLER "\n",
			what, name);
	else
		fprintf(stderr, PROGRAM ": cannot %s %s: %s\n", what, name, strerror(errno));
	exit(1);
}

static inline void mark(const char *text)
{
	int fd = open(TRACE_MARKER, O_WRONLY | O_CLOEXEC);

	/* Without tracing nobody reads it; the write says EBADF. */
	if (fd < 0)
		return;
	if (write(fd, text, strlen(text)) < 0 && errno != EBADF)
		fprintf(stderr, PROGRAM ": no marker `%s`: %s\n", text, strerror(errno));
	close(fd);
}

#endif
