// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * storm - N processes mount and unmount ramfs, and nothing else.
 *
 *	storm --hogs N --seconds S [--ops N] [--reclaim-ms M] [--reclaim-names K] [--dir D]
 *
 * Each hog, named storm-0, storm-1, ..., makes a directory and loops over mount(2) and
 * umount(2). All start at one barrier, at which the parent writes `storm: start` into the
 * kernel's trace; `storm: end` follows after the last hog. With --ops the hogs share that
 * many umounts and then end, which makes runs on different kernels the same work.
 *
 * --reclaim-ms adds a process storm-reclaim that puts itself in the way: every M ms it looks
 * up names that do not exist below /sys, for half of that time and at most K names (kernfs
 * keeps such negative dentries on the LRU list, unlike ramfs and tmpfs), and then asks the
 * kernel to drop them, so that shrink_slab() has real work inside its reader section.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MAX_HOGS      64
#define TRACE_MARKER  "/sys/kernel/tracing/trace_marker"
#define DROP_CACHES   "/proc/sys/vm/drop_caches"
#define DROP_SLAB     "2"
#define NSEC_PER_MSEC 1000000ull
#define NSEC_PER_SEC  1000000000ull

struct options {
	unsigned int hogs;
	double seconds;
	uint64_t ops; /* 0: until the time is over */
	unsigned int reclaim_ms;
	unsigned int reclaim_names;
	const char *dir;
};

/* Shared by all processes; one cache line a hog, so that hogs do not slow each other. */
struct hog {
	_Atomic uint64_t umounts;
	_Atomic uint64_t errors;
	char pad[48];
};

struct shared {
	_Atomic uint64_t tickets; /* umounts handed out, with --ops */
	_Atomic uint64_t end_ns;  /* when hogs stop */
	_Atomic uint64_t reclaims;
	_Atomic uint64_t names; /* looked up by the reclaimer */
	atomic_bool stop;
	struct hog hog[MAX_HOGS];
};

static struct shared *shared;
static int ready_fd = -1; /* of a process that has not reached the barrier */

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * NSEC_PER_SEC + now.tv_nsec;
}

static _Noreturn void fail(const char *what, const char *name)
{
	const char failed = 1;

	fprintf(stderr, "storm: %s %s: %s\n", what, name, strerror(errno));
	if (ready_fd >= 0 && write(ready_fd, &failed, 1) != 1)
		_exit(2);
	_exit(1);
}

static void mark(const char *text)
{
	int fd = open(TRACE_MARKER, O_WRONLY | O_CLOEXEC);

	/* Without tracing, e.g. in a measure run, there is nobody to tell; the write says EBADF. */
	if (fd < 0)
		return;
	if (write(fd, text, strlen(text)) < 0 && errno != EBADF)
		fprintf(stderr, "storm: no marker `%s`: %s\n", text, strerror(errno));
	close(fd);
}

/* Tell the parent that this process is ready, then wait for the barrier to open. */
static void stand_at_barrier(int barrier)
{
	int ready = ready_fd;
	char byte = 0;

	ready_fd = -1;
	if (write(ready, &byte, 1) != 1)
		fail("cannot reach", "the barrier");
	if (read(barrier, &byte, 1) < 0)
		fail("cannot leave", "the barrier");
}

static bool another(const struct options *options)
{
	if (atomic_load_explicit(&shared->stop, memory_order_relaxed))
		return false;
	if (options->ops)
		return atomic_fetch_add(&shared->tickets, 1) < options->ops;
	return now_ns() < atomic_load_explicit(&shared->end_ns, memory_order_relaxed);
}

static _Noreturn void hog_main(const struct options *options, unsigned int id, int barrier)
{
	struct hog *hog = &shared->hog[id];
	char name[16], dir[256];

	snprintf(name, sizeof(name), "storm-%u", id);
	prctl(PR_SET_NAME, name);
	snprintf(dir, sizeof(dir), "%s/m%u", options->dir, id);
	if (mkdir(dir, 0755) && errno != EEXIST)
		fail("cannot make", dir);
	stand_at_barrier(barrier);
	while (another(options)) {
		if (mount("storm", dir, "ramfs", 0, NULL) || umount2(dir, 0)) {
			if (!atomic_fetch_add(&hog->errors, 1))
				fprintf(stderr, "storm: %s: %s\n", dir, strerror(errno));
			continue;
		}
		atomic_fetch_add_explicit(&hog->umounts, 1, memory_order_relaxed);
	}
	rmdir(dir);
	_exit(0);
}

/* Leave up to @names negative dentries on the LRU list of sysfs; stop at @until. */
static unsigned int fill_dentries(unsigned int names, uint64_t until)
{
	static unsigned int round;
	struct stat st;
	char path[64];
	unsigned int i;

	round++;
	for (i = 0; i < names && now_ns() < until; i++) {
		snprintf(path, sizeof(path), "/sys/kernel/storm-%u-%u", round, i);
		stat(path, &st);
	}
	return i;
}

static _Noreturn void reclaim_main(const struct options *options, int barrier)
{
	int fd = open(DROP_CACHES, O_WRONLY | O_CLOEXEC);
	uint64_t next;

	prctl(PR_SET_NAME, "storm-reclaim");
	if (fd < 0)
		fail("cannot open", DROP_CACHES);
	stand_at_barrier(barrier);
	next = now_ns();
	while (!atomic_load(&shared->stop)) {
		struct timespec at;
		uint64_t half = now_ns() + options->reclaim_ms * NSEC_PER_MSEC / 2;

		shared->names += fill_dentries(options->reclaim_names, half);
		if (pwrite(fd, DROP_SLAB, 1, 0) != 1)
			fail("cannot write", DROP_CACHES);
		atomic_fetch_add(&shared->reclaims, 1);
		next += options->reclaim_ms * NSEC_PER_MSEC;
		if (next < now_ns())
			next = now_ns() + NSEC_PER_MSEC; /* too slow for the period: yield a bit */
		at.tv_sec = next / NSEC_PER_SEC;
		at.tv_nsec = next % NSEC_PER_SEC;
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL);
	}
	_exit(0);
}

static unsigned long parse_count(const char *name, const char *text, unsigned long least,
				 unsigned long most)
{
	char *end;
	unsigned long value;

	errno = 0;
	value = strtoul(text, &end, 10);
	if (errno || *text < '0' || *text > '9' || *end || value < least || value > most) {
		fprintf(stderr, "storm: %s must be a whole number from %lu to %lu, not `%s`\n",
			name, least, most, text);
		exit(2);
	}
	return value;
}

static double parse_seconds(const char *text)
{
	char *end;
	double value = strtod(text, &end);

	if (end == text || *end || !(value >= 0.01 && value <= 3600)) {
		fprintf(stderr, "storm: --seconds must be from 0.01 to 3600, not `%s`\n", text);
		exit(2);
	}
	return value;
}

static void parse_options(int argc, char **argv, struct options *options)
{
	static const struct option known[] = {
		{"hogs", required_argument, NULL, 'n'},
		{"seconds", required_argument, NULL, 's'},
		{"ops", required_argument, NULL, 'o'},
		{"reclaim-ms", required_argument, NULL, 'r'},
		{"reclaim-names", required_argument, NULL, 'k'},
		{"dir", required_argument, NULL, 'd'},
		{0},
	};
	int option;

	while ((option = getopt_long(argc, argv, "", known, NULL)) != -1) {
		switch (option) {
		case 'n':
			options->hogs = parse_count("--hogs", optarg, 1, MAX_HOGS);
			break;
		case 's':
			options->seconds = parse_seconds(optarg);
			break;
		case 'o':
			options->ops = parse_count("--ops", optarg, 1, 1000000000);
			break;
		case 'r':
			options->reclaim_ms = parse_count("--reclaim-ms", optarg, 1, 60000);
			break;
		case 'k':
			options->reclaim_names = parse_count("--reclaim-names", optarg, 0, 1000000);
			break;
		case 'd':
			options->dir = optarg;
			break;
		default:
			exit(2);
		}
	}
	if (optind < argc) {
		fprintf(stderr, "storm: unknown word `%s`\n", argv[optind]);
		exit(2);
	}
	if (!options->hogs || (!options->ops && options->seconds <= 0)) {
		fprintf(stderr, "storm: --hogs and one of --seconds and --ops are needed\n");
		exit(2);
	}
}

static pid_t spawn(const struct options *options, int id, int ready, const int barrier[2])
{
	pid_t pid = fork();

	if (pid < 0)
		fail("cannot start", "a process");
	if (pid)
		return pid;
	ready_fd = ready;
	close(barrier[1]);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (id < 0)
		reclaim_main(options, barrier[0]);
	hog_main(options, id, barrier[0]);
}

/* Returns when all @n processes stand at the barrier; a failed one ends the run. */
static void gather(int ready, unsigned int n)
{
	char byte;

	while (n--)
		if (read(ready, &byte, 1) != 1 || byte)
			exit(1);
}

/* Returns the number of hogs that failed. */
static unsigned int wait_for_hogs(const pid_t *hogs, unsigned int n)
{
	unsigned int failed = 0;
	int status;

	for (unsigned int i = 0; i < n; i++) {
		waitpid(hogs[i], &status, 0);
		failed += !WIFEXITED(status) || WEXITSTATUS(status);
	}
	return failed;
}

static int print_result(const struct options *options, uint64_t elapsed_ns, unsigned int failed)
{
	double seconds = (double)elapsed_ns / NSEC_PER_SEC;
	uint64_t umounts = 0, errors = failed;

	for (unsigned int i = 0; i < options->hogs; i++) {
		printf("storm-%u: umounts=%llu\n", i, (unsigned long long)shared->hog[i].umounts);
		umounts += shared->hog[i].umounts;
		errors += shared->hog[i].errors;
	}
	if (options->reclaim_ms)
		printf("storm-reclaim: drops=%llu names=%llu\n",
		       (unsigned long long)shared->reclaims, (unsigned long long)shared->names);
	printf("storm: hogs=%u seconds=%.3f umounts=%llu per_s=%.1f errors=%llu\n", options->hogs,
	       seconds, (unsigned long long)umounts, umounts / seconds, (unsigned long long)errors);
	return errors ? 1 : 0;
}

/* The handler may only set what the loops look at. */
static void on_term(int signal)
{
	(void)signal;
	atomic_store(&shared->stop, true);
}

int main(int argc, char **argv)
{
	struct options options = {.reclaim_names = 4000, .dir = "/tmp"};
	pid_t hogs[MAX_HOGS], reclaim = 0;
	int ready[2], barrier[2];
	uint64_t start;
	unsigned int failed;

	parse_options(argc, argv, &options);
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	if (shared == MAP_FAILED || pipe2(ready, O_CLOEXEC) || pipe2(barrier, O_CLOEXEC))
		fail("cannot get", "memory and pipes");
	signal(SIGTERM, on_term);
	for (unsigned int i = 0; i < options.hogs; i++)
		hogs[i] = spawn(&options, i, ready[1], barrier);
	if (options.reclaim_ms)
		reclaim = spawn(&options, -1, ready[1], barrier);
	close(ready[1]);
	gather(ready[0], options.hogs + !!options.reclaim_ms);

	mark("storm: start");
	start = now_ns();
	shared->end_ns = options.ops ? UINT64_MAX : start + options.seconds * NSEC_PER_SEC;
	close(barrier[1]);
	failed = wait_for_hogs(hogs, options.hogs);
	start = now_ns() - start;
	mark("storm: end");

	atomic_store(&shared->stop, true);
	if (reclaim)
		waitpid(reclaim, NULL, 0);
	return print_result(&options, start, failed);
}
