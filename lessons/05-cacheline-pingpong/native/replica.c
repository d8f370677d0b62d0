// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * replica - what a stat(2) does to the dentry of its file, by N threads on real CPUs.
 *
 *	replica --threads N (--seconds S | --ops K) [--name-at B] [--lock-at B]
 *		[--size B] [--letters L] [--work A,B,C] [--cpus LIST]
 *
 * The bytes are the kernel's: give the offsets of d_iname and d_lockref of the layout in question
 * (6.1: 56 and 88, or 136 where the lockref was moved). Each operation does, as __d_lookup_rcu(),
 * lockref_get_not_dead() and lockref_put_or_lock() do,
 *   - reads of the fields in front, and of the name in words of 8 bytes (a name of 32 letters
 *     and more lies elsewhere),
 *   - a load and a cmpxchg of the 64 bits of the lockref, count up; again if it failed,
 *   - the same, count down.
 * --work are steps of private work before the lookup, between lookup and get, and between get and
 * put: by default 2311 instructions as counted in a stat(2), at 2.6 a step of one cycle.
 *
 * It has no lock to take: whoever fails MAX_RETRIES times counts that, and goes on trying. Compiled
 * with -DCOUNT it also counts its accesses, by line and class, which costs time.
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
#include <time.h>

#define MAX_THREADS  64
#define MAX_SIZE     1024
#define MAX_LETTERS  63
#define MAX_SECONDS  600
#define INLINE_NAME  32 /* DNAME_INLINE_LEN of 6.1, with the byte that ends the name */
#define LINE	     64
#define LINES	     (MAX_SIZE / LINE + 1) /* the last one: a name outside */
#define MAX_RETRIES  100
#define NSEC_PER_SEC 1000000000ull

/* Offsets in front of the name, which no layout of interest moves. */
enum { D_FLAGS = 0, D_SEQ = 4, D_HASH = 16, D_PARENT = 24, D_LEN = 32, D_NAME = 40, D_INODE = 48 };

enum { READS, RMWS, CLASSES };

static struct options {
	unsigned int threads;
	unsigned int seconds; /* 0: until `ops` are done */
	uint64_t ops;	      /* of each thread */
	unsigned int name_at;
	unsigned int lock_at;
	unsigned int size;
	unsigned int letters;
	unsigned int work[3];
	int cpus[MAX_THREADS];
	unsigned int ncpus;
} options = {
	.threads = 2,
	.seconds = 1,
	.name_at = 56,
	.lock_at = 88,
	.size = 192,
	.letters = 24,
	.work = {682, 73, 119},
};

static _Alignas(4096) unsigned char object[MAX_SIZE + LINE];
static const unsigned char *name; /* where it is read: inside the object, or behind it */
static uint64_t wanted[MAX_LETTERS / 8 + 1];

/* One writer a line: threads may share the object alone. */
static struct task {
	_Alignas(128) pthread_t thread;
	uint64_t ops;
	uint64_t retries;
	uint64_t stuck;
	uint64_t began, ended; /* CLOCK_MONOTONIC, ns */
	uint64_t sum;	       /* of all that was read, so that nothing is left out */
	uint64_t accesses[LINES][CLASSES];
} tasks[MAX_THREADS];

static pthread_barrier_t start;
static _Alignas(128) atomic_bool stop;

static void die(const char *what)
{
	fprintf(stderr, "replica: %s\n", what);
	exit(2);
}

#ifdef COUNT
static inline void count(struct task *task, const void *at, int class)
{
	task->accesses[((const unsigned char *)at - object) / LINE][class]++;
}
#else
static inline void count(struct task *task, const void *at, int class)
{
	(void)task;
	(void)at;
	(void)class;
}
#endif

static inline void see(struct task *task, const void *at)
{
	count(task, at, READS);
	task->sum += *(const volatile uint64_t *)at;
}

static inline void work(unsigned int steps)
{
	for (unsigned int i = 0; i < steps; i++)
		__asm__ volatile("" : "+r"(i));
}

/* CMPXCHG_LOOP of lib/lockref.c: the count is the upper half, the lock the lower one. */
static inline void move(struct task *task, int64_t by)
{
	_Atomic uint64_t *lockref = (_Atomic uint64_t *)(object + options.lock_at);
	uint64_t old = atomic_load_explicit(lockref, memory_order_relaxed);
	int retry = MAX_RETRIES;

	count(task, lockref, READS);
	for (;;) {
		count(task, lockref, RMWS);
		if (atomic_compare_exchange_strong(lockref, &old, old + ((uint64_t)by << 32)))
			return;
		task->retries++;
		if (!--retry)
			task->stuck++;
	}
}

static inline void stat_once(struct task *task)
{
	static const int before[] = {D_FLAGS, D_PARENT, D_HASH, D_LEN, D_NAME};
	static const int after[] = {D_FLAGS, D_FLAGS, D_INODE, D_FLAGS};

	work(options.work[0]);
	for (size_t i = 0; i < sizeof(before) / sizeof(*before); i++)
		see(task, object + before[i]);
	for (unsigned int i = 0; i * 8 < options.letters; i++) {
		const unsigned char *at = name + i * 8;

		count(task, at, READS);
		if (*(const volatile uint64_t *)at != wanted[i])
			die("the name in the object changed");
	}
	for (size_t i = 0; i < sizeof(after) / sizeof(*after); i++)
		see(task, object + after[i]);
	work(options.work[1]);
	move(task, 1);
	for (int i = 0; i < 4; i++)
		see(task, object + (i ? D_INODE : D_FLAGS));
	work(options.work[2]);
	see(task, object + D_FLAGS);
	move(task, -1);
}

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * NSEC_PER_SEC + (uint64_t)ts.tv_nsec;
}

static void *run(void *arg)
{
	struct task *task = arg;
	cpu_set_t cpu;

	CPU_ZERO(&cpu);
	CPU_SET(options.cpus[(task - tasks) % options.ncpus], &cpu);
	if (pthread_setaffinity_np(pthread_self(), sizeof(cpu), &cpu))
		die("a thread could not be bound to its CPU");
	pthread_barrier_wait(&start);
	task->began = now_ns();
	while (options.seconds ? !atomic_load_explicit(&stop, memory_order_relaxed)
			       : task->ops < options.ops) {
		stat_once(task);
		task->ops++;
	}
	task->ended = now_ns();
	return NULL;
}

static uint64_t number(const char *text, uint64_t least, uint64_t most, const char *what)
{
	char *end;
	uint64_t value = strtoull(text, &end, 10);

	if (*text < '0' || *text > '9' || *end || value < least || value > most) {
		fprintf(stderr, "replica: %s must be %" PRIu64 " to %" PRIu64 "\n", what, least,
			most);
		exit(2);
	}
	return value;
}

/* The CPUs this process may use, in order. */
static void all_cpus(void)
{
	cpu_set_t set;

	if (sched_getaffinity(0, sizeof(set), &set))
		die("the CPUs of this process could not be read");
	for (int cpu = 0; cpu < CPU_SETSIZE && options.ncpus < MAX_THREADS; cpu++)
		if (CPU_ISSET(cpu, &set))
			options.cpus[options.ncpus++] = cpu;
}

static void some_cpus(char *list)
{
	for (char *word = strtok(list, ","); word; word = strtok(NULL, ",")) {
		if (options.ncpus == MAX_THREADS)
			die("too many CPUs");
		options.cpus[options.ncpus++] = (int)number(word, 0, CPU_SETSIZE - 1, "--cpus");
	}
}

static void three_works(char *list)
{
	int n = 0;

	for (char *word = strtok(list, ","); word; word = strtok(NULL, ",")) {
		if (n == 3)
			die("--work wants three numbers");
		options.work[n++] = (unsigned int)number(word, 0, 1000000, "--work");
	}
	if (n != 3)
		die("--work wants three numbers");
}

static void read_options(int argc, char **argv)
{
	static const struct option known[] = {
		{"threads", required_argument, NULL, 't'},
		{"seconds", required_argument, NULL, 's'},
		{"ops", required_argument, NULL, 'o'},
		{"name-at", required_argument, NULL, 'n'},
		{"lock-at", required_argument, NULL, 'l'},
		{"size", required_argument, NULL, 'z'},
		{"letters", required_argument, NULL, 'L'},
		{"work", required_argument, NULL, 'w'},
		{"cpus", required_argument, NULL, 'c'},
		{},
	};
	int got;

	while ((got = getopt_long(argc, argv, "", known, NULL)) != -1) {
		switch (got) {
		case 't':
			options.threads = (unsigned int)number(optarg, 1, MAX_THREADS, "--threads");
			break;
		case 's':
			options.seconds = (unsigned int)number(optarg, 1, MAX_SECONDS, "--seconds");
			break;
		case 'o':
			options.ops = number(optarg, 1, UINT64_MAX / 2, "--ops");
			options.seconds = 0;
			break;
		case 'n':
			options.name_at = (unsigned int)number(optarg, 56, MAX_SIZE, "--name-at");
			break;
		case 'l':
			options.lock_at = (unsigned int)number(optarg, 56, MAX_SIZE, "--lock-at");
			break;
		case 'z':
			options.size = (unsigned int)number(optarg, LINE, MAX_SIZE, "--size");
			break;
		case 'L':
			options.letters = (unsigned int)number(optarg, 1, MAX_LETTERS, "--letters");
			break;
		case 'w':
			three_works(optarg);
			break;
		case 'c':
			some_cpus(optarg);
			break;
		default:
			exit(2);
		}
	}
	if (optind < argc)
		die("an argument that is not known");
	if (!options.ncpus)
		all_cpus();
}

static void make_object(void)
{
	unsigned char *place = object + options.name_at;
	unsigned int lock_end = options.lock_at + 8;

	if (options.lock_at % 8 || options.name_at % 8)
		die("name and lockref begin at multiples of 8");
	if (lock_end > options.size || options.name_at + INLINE_NAME > options.size)
		die("name and lockref must lie within the size");
	if (options.lock_at < options.name_at + INLINE_NAME && lock_end > options.name_at)
		die("name and lockref overlap");
	if (options.letters >= INLINE_NAME)
		place = object + MAX_SIZE;
	for (unsigned int i = 0; i < options.letters; i++)
		place[i] = (unsigned char)('a' + i % 26);
	memcpy(wanted, place, (options.letters + 7) / 8 * 8);
	name = place;
	*(uint64_t *)(object + options.lock_at) = 1ull << 32;
}

static void tell(void)
{
	uint64_t ops = 0, retries = 0, stuck = 0, sums[LINES][CLASSES] = {};
	uint64_t began = UINT64_MAX, ended = 0, took_ns;
	uint64_t left = *(uint64_t *)(object + options.lock_at) >> 32;

	for (unsigned int t = 0; t < options.threads; t++) {
		if (tasks[t].began < began)
			began = tasks[t].began;
		if (tasks[t].ended > ended)
			ended = tasks[t].ended;
		ops += tasks[t].ops;
		retries += tasks[t].retries;
		stuck += tasks[t].stuck;
		for (int line = 0; line < LINES; line++)
			for (int class = 0; class < CLASSES; class ++)
				sums[line][class] += tasks[t].accesses[line][class];
	}
	took_ns = ended - began;
	printf("replica: run threads=%u cpus=%u seconds=%.6f ops=%" PRIu64
	       " per_s=%.1f retries=%" PRIu64 " stuck=%" PRIu64 " count=%" PRIu64 "\n",
	       options.threads, options.ncpus, (double)took_ns / NSEC_PER_SEC, ops,
	       (double)ops * NSEC_PER_SEC / (double)took_ns, retries, stuck, left);
#ifdef COUNT
	for (int line = 0; line < LINES; line++)
		if (sums[line][READS] + sums[line][RMWS])
			printf("replica: line=%d reads=%" PRIu64 " rmws=%" PRIu64 "\n", line,
			       sums[line][READS], sums[line][RMWS]);
#endif
}

int main(int argc, char **argv)
{
	read_options(argc, argv);
	make_object();
	if (pthread_barrier_init(&start, NULL, options.threads + 1))
		die("no barrier");
	for (unsigned int t = 0; t < options.threads; t++)
		if (pthread_create(&tasks[t].thread, NULL, run, &tasks[t]))
			die("a thread could not be made");
	pthread_barrier_wait(&start);
	if (options.seconds) {
		struct timespec time = {.tv_sec = options.seconds};

		nanosleep(&time, NULL);
		atomic_store(&stop, true);
	}
	for (unsigned int t = 0; t < options.threads; t++)
		pthread_join(tasks[t].thread, NULL);
	tell();
	return 0;
}
