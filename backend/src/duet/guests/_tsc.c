// SPDX-License-Identifier: GPL-2.0-or-later
/* Measure the frequency of the host's time stamp counter (TSC). */
#define _GNU_SOURCE
#include <stdint.h>
#include <time.h>
#if defined(__x86_64__)
#include <x86intrin.h>
#endif

#define NSEC_PER_SEC 1000000000LL
#define TRIES	     64

struct moment {
	int64_t ns;
	uint64_t ticks;
};

#if defined(__x86_64__)
static int64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC_RAW, &now);
	return now.tv_sec * NSEC_PER_SEC + now.tv_nsec;
}

/* Read clock and TSC together TRIES times, and return the reading that took the least time. */
static struct moment look(void)
{
	struct moment best = {0};
	int64_t least = NSEC_PER_SEC;

	for (int i = 0; i < TRIES; i++) {
		int64_t before = now_ns();
		uint64_t ticks = __rdtsc();
		int64_t after = now_ns();

		if (after - before < least) {
			least = after - before;
			best = (struct moment){.ns = before + least / 2, .ticks = ticks};
		}
	}
	return best;
}
#endif

/* Return the TSC's frequency in kHz, measured over `span_ns`; 0 on a host without a TSC. */
long duet_tsc_khz(long span_ns)
{
#if defined(__x86_64__)
	struct timespec span = {span_ns / NSEC_PER_SEC, span_ns % NSEC_PER_SEC};
	struct moment first = look(), last;

	nanosleep(&span, NULL);
	last = look();
	return (long)((double)(last.ticks - first.ticks) * 1e6 / (double)(last.ns - first.ns) +
		      0.5);
#else
	(void)span_ns;
	return 0;
#endif
}
