// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * herd - one process hands out jobs, N processes wait for them on one pipe.
 *
 *	herd --readers N --jobs J
 *
 * The herder writes a byte into the pipe and waits on an eventfd until somebody has done the
 * job; then it writes the next. The readers, named herd-0, herd-1, ..., do a job of some
 * microseconds for each byte that they get. GNU make hands out its jobs so, by tokens.
 */
#include <getopt.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MAX_READERS 64
#define JOB_STEPS   1000  /* some microseconds */
#define SETTLE_US   20000 /* all readers sleep by then */

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ull + now.tv_nsec;
}

/* For the kernel's trace; without tracing there is nobody to read it. */
static void mark(const char *text)
{
	FILE *marker = fopen("/sys/kernel/tracing/trace_marker", "w");

	if (marker) {
		fputs(text, marker);
		fclose(marker);
	}
}

static void reader(unsigned int id, int jobs, int done)
{
	const uint64_t one = 1;
	char name[16], byte;

	snprintf(name, sizeof(name), "herd-%u", id);
	prctl(PR_SET_NAME, name);
	while (read(jobs, &byte, 1) == 1) {
		for (volatile int step = 0; step < JOB_STEPS; step++)
			;
		if (write(done, &one, sizeof(one)) != sizeof(one))
			_exit(1);
	}
	_exit(0);
}

int main(int argc, char **argv)
{
	static const struct option words[] = {
		{"readers", 1, NULL, 'r'}, {"jobs", 1, NULL, 'j'}, {0}};
	unsigned int readers = 8, jobs = 500;
	int word, status, failed = 0, done, ends[2];
	uint64_t began, took, count;

	while ((word = getopt_long(argc, argv, "", words, NULL)) != -1) {
		if (word == 'r')
			readers = strtoul(optarg, NULL, 10);
		else if (word == 'j')
			jobs = strtoul(optarg, NULL, 10);
		else
			return 2;
	}
	done = eventfd(0, 0);
	if (readers < 1 || readers > MAX_READERS || jobs < 1 || done < 0 || pipe(ends))
		return 2;
	for (unsigned int id = 0; id < readers; id++) {
		if (fork() == 0) {
			close(ends[1]);
			reader(id, ends[0], done);
		}
	}
	prctl(PR_SET_NAME, "herder");
	usleep(SETTLE_US);
	mark("herd: start");
	began = now_ns();
	for (unsigned int job = 0; job < jobs; job++) {
		if (write(ends[1], "j", 1) != 1 || read(done, &count, sizeof(count)) < 0)
			return 1;
	}
	took = now_ns() - began;
	mark("herd: end");
	close(ends[1]);
	while (wait(&status) > 0)
		failed |= status;
	printf("herd: readers=%u jobs=%u per_s=%.1f\n", readers, jobs, jobs * 1e9 / took);
	return failed ? 1 : 0;
}
