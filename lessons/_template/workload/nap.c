// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * nap - N processes sleep 100 us at a time.
 *
 *	nap --sleepers N --naps M
 *
 * Replace the body of do_operation(). A lesson needs the rest: processes with their own names, a
 * marker at which the measured time starts, and a line with the number of operations and their
 *rate.
 */
#include <getopt.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MAX_SLEEPERS 64
#define SLEEP_NS     100000

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ull + now.tv_nsec;
}

/* Write a text to the kernel's trace. Without tracing, do nothing. */
static void mark(const char *text)
{
	FILE *marker = fopen("/sys/kernel/tracing/trace_marker", "w");

	if (marker) {
		fputs(text, marker);
		fclose(marker);
	}
}

static int do_operation(void)
{
	const struct timespec sleep = {.tv_nsec = SLEEP_NS};

	return nanosleep(&sleep, NULL);
}

static void sleeper(unsigned int id, unsigned int naps, int start)
{
	char name[16], byte;

	snprintf(name, sizeof(name), "nap-%u", id);
	prctl(PR_SET_NAME, name);
	/* All processes start when the parent closes the other end of this pipe. */
	if (read(start, &byte, 1) < 0)
		_exit(1);
	for (unsigned int round = 0; round < naps; round++) {
		if (do_operation())
			_exit(1);
	}
	_exit(0);
}

int main(int argc, char **argv)
{
	static const struct option words[] = {
		{"sleepers", 1, NULL, 's'}, {"naps", 1, NULL, 'n'}, {0}};
	unsigned int sleepers = 1, naps = 200;
	int word, status, failed = 0, start[2];
	uint64_t began, took;

	while ((word = getopt_long(argc, argv, "", words, NULL)) != -1) {
		if (word == 's')
			sleepers = strtoul(optarg, NULL, 10);
		else if (word == 'n')
			naps = strtoul(optarg, NULL, 10);
		else
			return 2;
	}
	if (sleepers < 1 || sleepers > MAX_SLEEPERS || naps < 1 || pipe(start))
		return 2;
	for (unsigned int id = 0; id < sleepers; id++) {
		if (fork() == 0) {
			close(start[1]);
			sleeper(id, naps, start[0]);
		}
	}
	mark("nap: start");
	began = now_ns();
	close(start[1]);
	while (wait(&status) > 0)
		failed |= status;
	took = now_ns() - began;
	mark("nap: end");
	printf("nap: sleepers=%u ops=%u per_s=%.1f\n", sleepers, sleepers * naps,
	       sleepers * naps * 1e9 / took);
	return failed ? 1 : 0;
}
