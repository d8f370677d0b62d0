// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Run the command of a trial between two trace markers, and print how long the command took.
 *
 *	PROGRAM TIMES LIMIT
 *
 * The command runs TIMES times, one run after another, in the folder /root. If all runs together
 * exceed LIMIT seconds, the command and its children are killed, and the trial fails.
 */
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define COMMAND "@COMMAND@"
#define NAME	"@NAME@"

static volatile pid_t running;
static volatile sig_atomic_t late;

static void end_it(int number)
{
	(void)number;
	late = 1;
	if (running > 0)
		kill(-running, SIGKILL);
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ull + now.tv_nsec;
}

/* Write a text into the kernel's trace. If tracing is not available, do nothing. */
static void mark(const char *text)
{
	FILE *marker = fopen("/sys/kernel/tracing/trace_marker", "w");

	if (marker) {
		fputs(text, marker);
		fclose(marker);
	}
}

/* Run the command once, and return its exit status as a shell reports it. */
static int run_once(void)
{
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		setpgid(0, 0);
		execl("/bin/sh", "sh", "-c", COMMAND, NULL);
		_exit(127);
	}
	if (pid < 0)
		return 126;
	setpgid(pid, pid);
	running = pid;
	if (late)
		kill(-pid, SIGKILL);
	while (waitpid(pid, &status, 0) != pid)
		;
	running = 0;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static double ms(struct timeval time)
{
	return time.tv_sec * 1e3 + time.tv_usec / 1e3;
}

int main(int argc, char **argv)
{
	unsigned int times = argc > 1 ? strtoul(argv[1], NULL, 10) : 1, done;
	unsigned int limit_s = argc > 2 ? strtoul(argv[2], NULL, 10) : 0;
	struct sigaction ends = {.sa_handler = end_it, .sa_flags = SA_RESTART};
	struct rusage usage;
	uint64_t began, took;
	int status = 0;

	if (times < 1 || chdir("/root"))
		return 2;
	sigaction(SIGALRM, &ends, NULL);
	alarm(limit_s);
	mark(NAME ": start");
	began = now_ns();
	for (done = 0; done < times && !status; done++)
		status = run_once();
	took = now_ns() - began;
	mark(NAME ": end");
	getrusage(RUSAGE_CHILDREN, &usage);
	printf(NAME ": ops=%u per_s=%.6f elapsed_ms=%.6f user_ms=%.3f system_ms=%.3f\n", done,
	       done * 1e9 / took, took / 1e6 / done, ms(usage.ru_utime) / done,
	       ms(usage.ru_stime) / done);
	if (late) {
		fprintf(stderr,
			NAME
			": the command did not end within %u s; --timeout sets another limit\n",
			limit_s);
		return 124;
	}
	if (status)
		fprintf(stderr, NAME ": the command ended with status %d\n", status);
	return status;
}
