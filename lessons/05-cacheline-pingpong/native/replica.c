// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * replica - an operation's accesses to one structure, done by threads on real CPUs, all at once.
 *
 *	replica --cpus LIST --ms N --size BYTES STEP...
 *
 * One thread is bound to each CPU of the list. All of them do the steps again and again:
 *
 *	wNS	private work of so many nanoseconds
 *	rAT	a load of the 4 bytes at that offset
 *	gAT	a lockref's get: load its 8 bytes, then cmpxchg them with the count one up
 *	pAT	its put: the same with the count one down
 *	sPATH	stat(2) of that file, by the kernel that runs here
 *
 * The offsets are the caller's, so that any layout can be tried. Get and put try again after a
 * cmpxchg that failed, as CMPXCHG_LOOP of lib/lockref.c does; where the kernel would take the lock,
 * after MAX_RETRIES, that is counted and they go on.
 */
#define _GNU_SOURCE
#include <getopt.h>
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#define MAX_THREADS  64
#define MAX_STEPS    256
#define MAX_SIZE     4096
#define MAX_RETRIES  100
#define NSEC_PER_SEC 1000000000ull

struct step {
	char what;
	uint64_t number; /* an offset; of work: turns of a loop */
	const char *path;
};

/* One writer a pair of lines: the object alone is to be shared. */
struct task {
	_Alignas(128) pthread_t thread;
	int cpu;
	uint64_t ops, retries, stuck;
	uint64_t began, ended; /* CLOCK_MONOTONIC, ns */
	uint64_t sum;	       /* of all that was read, so that nothing is left out */
};

static _Alignas(MAX_SIZE) unsigned char object[MAX_SIZE];
static struct step steps[MAX_STEPS];
static unsigned int nsteps, nthreads;
static uint64_t size, ms;
static struct task tasks[MAX_THREADS];
static pthread_barrier_t start;
static _Alignas(128) atomic_bool stop;

static void die(const char *what, const char *which)
{
	fprintf(stderr, "replica: %s: '%s'\n", what, which);
	exit(2);
}

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * NSEC_PER_SEC + (uint64_t)ts.tv_nsec;
}

static inline void spin(uint64_t turns)
{
	for (uint64_t i = 0; i < turns; i++)
		__asm__ volatile("" : "+r"(i));
}

/* Turns of spin() in a microsecond: the best of some tries, since others may use the CPU, too. */
static uint64_t turns_per_us(void)
{
	const uint64_t turns = 1000000;
	uint64_t best = UINT64_MAX;

	for (int i = 0; i < 20; i++) {
		uint64_t began = now_ns(), took;

		spin(turns);
		took = now_ns() - began;
		if (took < best)
			best = took;
	}
	return turns * 1000 / (best ? best : 1);
}

static inline void move_count(struct task *task, uint64_t at, int64_t by)
{
	_Atomic uint64_t *lockref = (_Atomic uint64_t *)(object + at);
	uint64_t old = atomic_load_explicit(lockref, memory_order_relaxed);
	int retry = MAX_RETRIES;

	/* The lock is the lower half and nobody takes it; the count is the upper one. */
	while (!atomic_compare_exchange_strong(lockref, &old, old + ((uint64_t)by << 32))) {
		task->retries++;
		if (!--retry)
			task->stuck++;
	}
}

static void *run(void *arg)
{
	struct task *task = arg;
	struct stat st;

	pthread_barrier_wait(&start);
	task->began = now_ns();
	while (!atomic_load_explicit(&stop, memory_order_relaxed)) {
		for (unsigned int i = 0; i < nsteps; i++) {
			switch (steps[i].what) {
			case 'w':
				spin(steps[i].number);
				break;
			case 'r':
				task->sum += *(volatile uint32_t *)(object + steps[i].number);
				break;
			case 'g':
				move_count(task, steps[i].number, 1);
				break;
			case 's':
				task->sum += stat(steps[i].path, &st) ? 0 : (uint64_t)st.st_ino;
				break;
			default:
				move_count(task, steps[i].number, -1);
			}
		}
		task->ops++;
	}
	task->ended = now_ns();
	return NULL;
}

static uint64_t number(const char *text, uint64_t least, uint64_t most)
{
	char *end;
	uint64_t value = strtoull(text, &end, 10);

	if (*text < '0' || *text > '9' || *end || value < least || value > most) {
		fprintf(stderr, "replica: wanted %" PRIu64 " to %" PRIu64 ", but '%s' came\n",
			least, most, text);
		exit(2);
	}
	return value;
}

static void read_cpus(char *list)
{
	for (char *word = strtok(list, ","); word; word = strtok(NULL, ",")) {
		if (nthreads == MAX_THREADS)
			die("too many CPUs", word);
		tasks[nthreads++].cpu = (int)number(word, 0, CPU_SETSIZE - 1);
	}
}

static void read_step(const char *text)
{
	struct step *step = &steps[nsteps++];
	unsigned int width = *text == 'r' ? 4 : 8;

	if (!*text || !strchr("wrgps", *text))
		die("a step begins with w, r, g, p or s", text);
	step->what = *text;
	if (*text == 's') {
		struct stat st;

		step->path = text + 1;
		if (stat(step->path, &st))
			die("no such file", step->path);
		return;
	}
	if (*text == 'w') {
		step->number = number(text + 1, 0, NSEC_PER_SEC) * turns_per_us() / 1000;
		return;
	}
	step->number = number(text + 1, 0, size - width);
	if (step->number % width)
		die("an offset is no multiple of its width", text);
}

static void read_options(int argc, char **argv)
{
	static const struct option known[] = {
		{"cpus", required_argument, NULL, 'c'},
		{"ms", required_argument, NULL, 'm'},
		{"size", required_argument, NULL, 's'},
		{},
	};
	int got;

	while ((got = getopt_long(argc, argv, "", known, NULL)) != -1) {
		if (got == 'c')
			read_cpus(optarg);
		else if (got == 'm')
			ms = number(optarg, 1, 600000);
		else if (got == 's')
			size = number(optarg, 8, MAX_SIZE);
		else
			exit(2);
	}
	if (!nthreads || !ms || !size || optind == argc)
		die("wanted --cpus, --ms, --size and steps", "");
	if (argc - optind > MAX_STEPS)
		die("too many steps", argv[optind + MAX_STEPS]);
	for (; optind < argc; optind++)
		read_step(argv[optind]);
}

static void begin(struct task *task)
{
	pthread_attr_t attr;
	cpu_set_t cpu;

	CPU_ZERO(&cpu);
	CPU_SET(task->cpu, &cpu);
	pthread_attr_init(&attr);
	if (pthread_attr_setaffinity_np(&attr, sizeof(cpu), &cpu) ||
	    pthread_create(&task->thread, &attr, run, task))
		die("a thread could not be made on its CPU", "");
	pthread_attr_destroy(&attr);
}

static void tell(void)
{
	uint64_t ops = 0, retries = 0, stuck = 0, began = UINT64_MAX, ended = 0;

	for (unsigned int t = 0; t < nthreads; t++) {
		ops += tasks[t].ops;
		retries += tasks[t].retries;
		stuck += tasks[t].stuck;
		began = tasks[t].began < began ? tasks[t].began : began;
		ended = tasks[t].ended > ended ? tasks[t].ended : ended;
	}
	printf("replica: threads=%u ns=%" PRIu64 " ops=%" PRIu64 " retries=%" PRIu64
	       " stuck=%" PRIu64 "\n",
	       nthreads, ended - began, ops, retries, stuck);
}

int main(int argc, char **argv)
{
	struct timespec time;

	read_options(argc, argv);
	if (pthread_barrier_init(&start, NULL, nthreads + 1))
		die("no barrier", "");
	for (unsigned int t = 0; t < nthreads; t++)
		begin(&tasks[t]);
	pthread_barrier_wait(&start);
	time = (struct timespec){ms / 1000, (long)(ms % 1000) * 1000000};
	nanosleep(&time, NULL);
	atomic_store(&stop, true);
	for (unsigned int t = 0; t < nthreads; t++)
		pthread_join(tasks[t].thread, NULL);
	tell();
	return 0;
}
