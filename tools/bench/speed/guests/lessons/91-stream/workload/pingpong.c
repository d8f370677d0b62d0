// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * pingpong - two processes send each other one byte, in turns.
 *
 *	pingpong --trips N
 *
 * A round trip is two wake-ups and, on one CPU, two task switches. It says that it begins, and
 * then how long all round trips took on the guest's clock.
 */
#define _GNU_SOURCE
#include <getopt.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define NS_PER_S 1000000000ull

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * NS_PER_S + now.tv_nsec;
}

static void answer(int in, int out)
{
	char byte;

	while (read(in, &byte, 1) == 1)
		if (write(out, &byte, 1) != 1)
			break;
	_exit(0);
}

int main(int argc, char **argv)
{
	static const struct option known[] = {{"trips", required_argument, NULL, 't'}, {0}};
	uint64_t trips = 0, begin, end;
	int there[2], back[2], option;
	char byte = 'x';
	pid_t child;

	while ((option = getopt_long(argc, argv, "", known, NULL)) != -1) {
		if (option != 't')
			return 2;
		trips = strtoull(optarg, NULL, 10);
	}
	if (!trips || pipe(there) || pipe(back)) {
		fputs("pingpong: pingpong --trips N\n", stderr);
		return 2;
	}
	child = fork();
	if (child < 0) {
		perror("pingpong: fork");
		return 1;
	}
	if (!child) {
		close(there[1]);
		answer(there[0], back[1]);
	}
	close(there[0]);
	puts("pingpong: begins");
	fflush(stdout);
	begin = now_ns();
	for (uint64_t trip = 0; trip < trips; trip++)
		if (write(there[1], &byte, 1) != 1 || read(back[0], &byte, 1) != 1) {
			perror("pingpong");
			return 1;
		}
	end = now_ns();
	close(there[1]);
	waitpid(child, NULL, 0);
	printf("pingpong: trips=%llu seconds=%.6f per_s=%.1f\n", (unsigned long long)trips,
	       (end - begin) / 1e9, trips * 1e9 / (end - begin));
	return 0;
}
