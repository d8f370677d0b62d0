// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * hammer - makes events of one type.
 *
 *	hammer --events N [--rate R]
 *
 * Each prctl(PR_SET_NAME) is one event task:task_rename of 52 bytes (include/trace/events/task.h,
 * 6.1). With a rate, it makes the events of a slice of SLICE_NS, and then sleeps until the next
 * slice; with 0, it never sleeps. It says that it begins, and then how long the events took on the
 * guest's clock.
 */
#define _GNU_SOURCE
#include <getopt.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>

#define SLICE_NS 1000000ull
#define NS_PER_S 1000000000ull

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * NS_PER_S + now.tv_nsec;
}

/* Sleep until a slice begins, so that other processes of this CPU can run. */
static void wait_until(uint64_t at_ns)
{
	struct timespec until = {.tv_sec = at_ns / NS_PER_S, .tv_nsec = at_ns % NS_PER_S};

	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
}

int main(int argc, char **argv)
{
	static const struct option known[] = {{"events", required_argument, NULL, 'e'},
					      {"rate", required_argument, NULL, 'r'},
					      {0}};
	uint64_t events = 0, rate = 0, done = 0, begin, end;
	int option;

	while ((option = getopt_long(argc, argv, "", known, NULL)) != -1) {
		if (option == 'e')
			events = strtoull(optarg, NULL, 10);
		else if (option == 'r')
			rate = strtoull(optarg, NULL, 10);
		else
			return 2;
	}
	if (!events) {
		fputs("hammer: hammer --events N [--rate R]\n", stderr);
		return 2;
	}
	puts("hammer: begins");
	fflush(stdout);
	begin = now_ns();
	for (uint64_t slice = 1; done < events; slice++) {
		uint64_t until = rate ? rate * slice / (NS_PER_S / SLICE_NS) : events;

		for (until = until < events ? until : events; done < until; done++)
			prctl(PR_SET_NAME, done & 1 ? "hammer-odd" : "hammer-even");
		if (rate && done < events)
			wait_until(begin + slice * SLICE_NS);
	}
	end = now_ns();
	printf("hammer: events=%llu seconds=%.6f per_s=%.1f\n", (unsigned long long)events,
	       (end - begin) / 1e9, events * 1e9 / (end - begin));
	return 0;
}
