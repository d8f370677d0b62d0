// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * turns - a player that sleeps and does short jobs, beside hogs that never sleep, on one CPU.
 *
 *	turns [--hogs N] [--hog-slice US] [--slice US] [--work US] [--gap US] [--jobs N]
 *
 * The player sleeps for --gap us on average, does a job of --work us of CPU time, and sleeps again,
 * --jobs times. The sleeps are between half and three halves of --gap; they are the same in each
 * run. Player and hogs ask for their slices by sched_setattr() with sched_runtime. All of them are
 * SCHED_OTHER with nice 0 on CPU 0. The trace has the marker `turns: start` before the first job.
 *
 * Two system calls mark a job in the trace: getppid() begins it, clock_nanosleep() ends it.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define TRACE_MARKER "/sys/kernel/tracing/trace_marker"
#define MOST_HOGS    16
#define MOST_JOBS    5000
#define WARM_UP_NS   200000000ull /* each hog has had a few turns by then */
#define NSEC_PER_SEC 1000000000ull

struct options {
	unsigned int hogs, jobs;
	unsigned long hog_slice, slice, work, gap; /* us */
};

/* struct sched_attr as of Linux 3.14, which every libc's headers may lack. */
struct attributes {
	uint32_t size;
	uint32_t policy;
	uint64_t flags;
	int32_t nice;
	uint32_t priority;
	uint64_t runtime, deadline, period; /* ns */
};

/* What one job took. */
struct job {
	uint64_t delay_ns;    /* from the timer's expiry until the player runs */
	uint64_t response_ns; /* from the timer's expiry until the job is done */
};

/* Shared by the processes. */
struct tally {
	uint64_t loops[MOST_HOGS];
	struct job jobs[MOST_JOBS];
	uint64_t took_ns, cpu_ns, hog_loops; /* while the jobs ran */
};

static struct tally *tally;
static int marker = -1;

static _Noreturn void fail(const char *wanted)
{
	fprintf(stderr, "turns: cannot %s: %s.\n", wanted, strerror(errno));
	exit(1);
}

static uint64_t read_clock(clockid_t clock)
{
	struct timespec time;

	clock_gettime(clock, &time);
	return (uint64_t)time.tv_sec * NSEC_PER_SEC + (uint64_t)time.tv_nsec;
}

static void sleep_until(uint64_t ns)
{
	const struct timespec time = {.tv_sec = (time_t)(ns / NSEC_PER_SEC),
				      .tv_nsec = (long)(ns % NSEC_PER_SEC)};

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL) == EINTR)
		;
}

static void ask_for_slice(unsigned long us)
{
	struct attributes attributes = {.size = sizeof(attributes), .runtime = us * 1000};

	if (syscall(SYS_sched_setattr, 0, &attributes, 0))
		fail("ask for a slice");
}

static void name_process(const char *format, unsigned int number)
{
	char name[16];

	snprintf(name, sizeof(name), format, number);
	prctl(PR_SET_NAME, name);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
}

static _Noreturn void run_hog(const struct options *options, unsigned int number)
{
	name_process("turn-hog-%u", number);
	ask_for_slice(options->hog_slice);
	for (;;)
		((volatile struct tally *)tally)->loops[number]++;
}

/* A pseudo-random sequence that is the same in each run. */
static uint64_t next_gap_ns(const struct options *options)
{
	static uint32_t state = 8;
	uint64_t gap = options->gap * 1000;

	state = state * 1664525u + 1013904223u;
	return gap / 2 + (gap * (state >> 16) >> 16);
}

static uint64_t count_loops(const struct options *options)
{
	uint64_t loops = 0;

	for (unsigned int number = 0; number < options->hogs; number++)
		loops += ((volatile struct tally *)tally)->loops[number];
	return loops;
}

static _Noreturn void run_player(const struct options *options)
{
	uint64_t begin, begin_cpu, begin_loops;

	name_process("turn-player", 0);
	prctl(PR_SET_TIMERSLACK, 1);
	ask_for_slice(options->slice);
	sleep_until(read_clock(CLOCK_MONOTONIC) + WARM_UP_NS);
	if (marker >= 0 && write(marker, "turns: start", strlen("turns: start")) < 0)
		fail("write the marker");
	begin = read_clock(CLOCK_MONOTONIC);
	begin_cpu = read_clock(CLOCK_THREAD_CPUTIME_ID);
	begin_loops = count_loops(options);
	for (unsigned int number = 0; number < options->jobs; number++) {
		struct job *job = &tally->jobs[number];
		uint64_t expiry = read_clock(CLOCK_MONOTONIC) + next_gap_ns(options);
		uint64_t until;

		sleep_until(expiry);
		syscall(SYS_getppid);
		job->delay_ns = read_clock(CLOCK_MONOTONIC) - expiry;
		until = read_clock(CLOCK_THREAD_CPUTIME_ID) + options->work * 1000;
		while (read_clock(CLOCK_THREAD_CPUTIME_ID) < until)
			for (volatile unsigned int spin = 0; spin < 200; spin++)
				;
		job->response_ns = read_clock(CLOCK_MONOTONIC) - expiry;
	}
	tally->took_ns = read_clock(CLOCK_MONOTONIC) - begin;
	tally->cpu_ns = read_clock(CLOCK_THREAD_CPUTIME_ID) - begin_cpu;
	tally->hog_loops = count_loops(options) - begin_loops;
	exit(0);
}

static int by_delay(const void *left, const void *right)
{
	uint64_t a = ((const struct job *)left)->delay_ns,
		 b = ((const struct job *)right)->delay_ns;

	return (a > b) - (a < b);
}

static void report(const struct options *options, long preempted)
{
	uint64_t delay = 0, response = 0, longest = 0;
	double seconds = (double)tally->took_ns / NSEC_PER_SEC;
	unsigned int jobs = options->jobs;

	for (unsigned int number = 0; number < jobs; number++) {
		const struct job *job = &tally->jobs[number];

		delay += job->delay_ns;
		response += job->response_ns;
		if (job->response_ns > longest)
			longest = job->response_ns;
	}
	qsort(tally->jobs, jobs, sizeof(tally->jobs[0]), by_delay);
	printf("turns: jobs=%u per_s=%.2f delay_us=%.1f delay_median_us=%.1f delay_p90_us=%.1f "
	       "delay_max_us=%.1f response_us=%.1f response_max_us=%.1f preemptions_per_s=%.1f "
	       "hog_loops_per_ms=%.1f player_percent=%.2f\n",
	       jobs, jobs / seconds, (double)delay / jobs / 1e3,
	       (double)tally->jobs[jobs / 2].delay_ns / 1e3,
	       (double)tally->jobs[jobs * 9 / 10].delay_ns / 1e3,
	       (double)tally->jobs[jobs - 1].delay_ns / 1e3, (double)response / jobs / 1e3,
	       (double)longest / 1e3, (double)preempted / seconds,
	       (double)tally->hog_loops / seconds / 1e3,
	       100.0 * (double)tally->cpu_ns / (double)tally->took_ns);
}

static unsigned long read_number(const char *text, unsigned long most)
{
	char *end;
	unsigned long number = strtoul(text, &end, 10);

	if (*end || end == text || number > most) {
		fprintf(stderr, "turns: expected a number up to %lu, got %s.\n", most, text);
		exit(2);
	}
	return number;
}

static void read_options(int argc, char **argv, struct options *options)
{
	static const struct option known[] = {{"hogs", required_argument, NULL, 'h'},
					      {"hog-slice", required_argument, NULL, 'l'},
					      {"slice", required_argument, NULL, 's'},
					      {"work", required_argument, NULL, 'w'},
					      {"gap", required_argument, NULL, 'g'},
					      {"jobs", required_argument, NULL, 'j'},
					      {0}};
	int option;

	while ((option = getopt_long(argc, argv, "", known, NULL)) != -1) {
		switch (option) {
		case 'h':
			options->hogs = (unsigned int)read_number(optarg, MOST_HOGS);
			break;
		case 'l':
			options->hog_slice = read_number(optarg, 100000);
			break;
		case 's':
			options->slice = read_number(optarg, 100000);
			break;
		case 'w':
			options->work = read_number(optarg, 1000000);
			break;
		case 'g':
			options->gap = read_number(optarg, 1000000);
			break;
		case 'j':
			options->jobs = (unsigned int)read_number(optarg, MOST_JOBS);
			break;
		default:
			exit(2);
		}
	}
}

int main(int argc, char **argv)
{
	struct options options = {
		.hogs = 4, .jobs = 100, .hog_slice = 20000, .slice = 500, .work = 200, .gap = 5000};
	pid_t hogs[MOST_HOGS], player;
	cpu_set_t first;
	long preempted = 0;
	int status;

	read_options(argc, argv, &options);
	CPU_ZERO(&first);
	CPU_SET(0, &first);
	if (sched_setaffinity(0, sizeof(first), &first))
		fail("stay on CPU 0");
	marker = open(TRACE_MARKER, O_WRONLY); /* without tracing there is none */
	tally = mmap(NULL, sizeof(*tally), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		     0);
	if (tally == MAP_FAILED)
		fail("map memory");
	player = fork();
	if (!player)
		run_player(&options);
	for (unsigned int number = 0; number < options.hogs; number++) {
		hogs[number] = fork();
		if (!hogs[number])
			run_hog(&options, number);
	}
	if (waitpid(player, &status, 0) < 0 || status)
		fail("run the player");
	for (unsigned int number = 0; number < options.hogs; number++) {
		struct rusage usage;

		kill(hogs[number], SIGKILL);
		wait4(hogs[number], &status, 0, &usage);
		preempted += usage.ru_nivcsw;
	}
	report(&options, preempted);
	return 0;
}
