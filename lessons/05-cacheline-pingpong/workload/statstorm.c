// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * statstorm - N tasks stat(2) one file on tmpfs, and nothing else.
 *
 *	statstorm --tasks N --name-length L (--seconds S | --stats K)
 *		  [--disturb 0|1] [--entries E] [--threads 1] [--hold 1] [--dir D]
 *
 * The tasks are processes, or threads with --threads 1. All start at one barrier. With --stats
 * each task does exactly K calls, which makes counts exact; with --seconds a line in the form of
 * will-it-scale follows every second. K calls are over within a few ticks, before the scheduler
 * has spread the tasks: so with --stats, and no more tasks than CPUs, each has a CPU of its own.
 *
 * --disturb makes three phases of S seconds each: `start` without company; `disturbed`, while one
 * more process lists the directory in a loop (reading a directory of tmpfs takes the d_lock of
 * every child, and that is the lock of the lockref that stat counts in); and `after`, when it has
 * gone and the tasks went on without a pause. With --disturb 0 nobody comes.
 *
 * --entries makes the file a directory of E files, which the disturber reads from the middle: a
 * seek in a directory of tmpfs counts entries from the start, with the directory's d_lock held all
 * the time. So the lock is held long and often, also where two CPUs hardly ever meet.
 *
 * --hold says `statstorm: ready` when the file is there, and begins when its standard input says
 *so: whoever wants to watch that file's dentry has to find it first.
 *
 * The kernel's own counts (/sys/kernel/debug/lockref, both/ of the lesson) are read around the
 * run and around each phase: a get and a put a stat, by cmpxchg (fast) or under the lock (slow).
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <linux/magic.h>
#include <pthread.h>
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
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MAX_TASKS    64
#define MAX_NAME     63
#define MAX_SECONDS  600
#define MAX_ENTRIES  20000
#define SEEKS	     4 /* of each listing, if there are entries */
#define NSEC_PER_SEC 1000000000ull
#define DEBUGFS	     "/sys/kernel/debug"
#define TRACE_MARKER "/sys/kernel/tracing/trace_marker"

struct options {
	unsigned int tasks;
	unsigned int name_length;
	unsigned int seconds; /* of a phase; 0: until `stats` are done */
	uint64_t stats;	      /* of each task; 0: until the time is over */
	unsigned int entries; /* 0: a plain file */
	bool phases;
	bool disturb;
	bool threads;
	bool hold;
	const char *dir;
};

/* One writer a line: the storm may share the dentry alone. */
struct task {
	_Alignas(128) _Atomic uint64_t stats;
	_Atomic uint64_t errors;
};

static struct shared {
	atomic_bool stop; /* read by all, written once */
	atomic_bool disturb_stop;
	_Alignas(128) _Atomic uint64_t listings;
	struct task task[MAX_TASKS + 1]; /* the last one is the disturber */
} * shared;

static struct options options = {.tasks = 1, .name_length = 24, .dir = "/tmp"};
static char folder[128], path[256];
static struct stat wanted; /* what every stat must find */
static int ready[2], barrier[2], done[2], leave[2];

enum { GET_FAST, GET_SLOW, PUT_FAST, PUT_SLOW, PUT_LAST, RETRY, COUNTS };
static const char *const count_names[COUNTS] = {"get_fast", "get_slow", "put_fast",
						"put_slow", "put_last", "retry"};

struct moment {
	uint64_t ns, stats, task[MAX_TASKS], count[COUNTS];
};

static int counts_fd = -1;
static volatile sig_atomic_t children_may_end;

static _Noreturn void fail(const char *what, const char *name)
{
	fprintf(stderr, "statstorm: %s %s: %s\n", what, name, strerror(errno));
	exit(1);
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * NSEC_PER_SEC + now.tv_nsec;
}

static void sleep_until(uint64_t ns)
{
	struct timespec at = {.tv_sec = ns / NSEC_PER_SEC, .tv_nsec = ns % NSEC_PER_SEC};

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL) == EINTR)
		;
}

/* The marker is opened once: opening takes references, which would be counted. */
static void mark(const char *phase, const char *edge)
{
	static int fd = -2;

	if (fd == -2)
		fd = open(TRACE_MARKER, O_WRONLY | O_CLOEXEC);
	/* Without tracing nobody listens; a write then fails, and that is no trouble. */
	if (fd >= 0)
		dprintf(fd, "%s: %s", phase, edge);
}

/* --- the kernel's counts --- */

static void open_counts(void)
{
	counts_fd = open(DEBUGFS "/lockref", O_RDONLY | O_CLOEXEC);
	if (counts_fd < 0 && !mount("debugfs", DEBUGFS, "debugfs", 0, NULL))
		counts_fd = open(DEBUGFS "/lockref", O_RDONLY | O_CLOEXEC);
	if (counts_fd < 0)
		fprintf(stderr, "statstorm: no lockref counts, since %s/lockref: %s\n", DEBUGFS,
			strerror(errno));
}

static void read_counts(uint64_t count[COUNTS])
{
	char text[512], *at = text;
	ssize_t n;

	if (counts_fd < 0)
		return;
	n = pread(counts_fd, text, sizeof(text) - 1, 0);
	if (n <= 0)
		fail("cannot read", DEBUGFS "/lockref");
	text[n] = 0;
	for (unsigned int i = 0; i < COUNTS; i++) {
		size_t length = strlen(count_names[i]);

		if (strncmp(at, count_names[i], length) || at[length] != ' ') {
			errno = EPROTO;
			fail("no line in", DEBUGFS "/lockref");
		}
		count[i] = strtoull(at + length, &at, 10);
		at += *at == '\n';
	}
}

static struct moment look(void)
{
	struct moment m = {0};

	for (unsigned int i = 0; i < options.tasks; i++)
		m.stats += m.task[i] =
			atomic_load_explicit(&shared->task[i].stats, memory_order_relaxed);
	read_counts(m.count);
	m.ns = now_ns();
	return m;
}

/* --- tasks --- */

/* Ready; wait for the barrier; later: done; wait until it may leave (its exit drops references). */
static void stand(int tell, int wait)
{
	char byte = 0;

	if (write(tell, &byte, 1) != 1 || read(wait, &byte, 1) < 0) /* EOF passes, too */
		fail("cannot pass", "the barrier");
}

/* By number, where every task of a fixed number of calls can have a CPU; else the scheduler's. */
static void take_cpu(const struct task *task)
{
	cpu_set_t cpu;

	if (!options.stats || options.tasks > (unsigned long)sysconf(_SC_NPROCESSORS_ONLN))
		return;
	CPU_ZERO(&cpu);
	CPU_SET(task - shared->task, &cpu);
	if (sched_setaffinity(0, sizeof(cpu), &cpu))
		fail("cannot run on", "a CPU of its own");
}

static void *storm(void *argument)
{
	struct task *task = argument;
	uint64_t stats = 0, most = options.stats ? options.stats : UINT64_MAX;
	struct stat st;

	take_cpu(task);
	stand(ready[1], barrier[0]);
	while (stats < most && !atomic_load_explicit(&shared->stop, memory_order_relaxed)) {
		if (stat(path, &st) || st.st_ino != wanted.st_ino || st.st_size != wanted.st_size)
			atomic_fetch_add(&task->errors, 1);
		atomic_store_explicit(&task->stats, ++stats, memory_order_relaxed);
	}
	stand(done[1], leave[0]);
	return NULL;
}

/* What `ls` does: open, read all entries, close. Of many entries, the last ones after a seek. */
static void *disturb(void *argument)
{
	struct task *task = argument;
	char entries[1024];
	long n;

	while (!atomic_load(&shared->disturb_stop)) {
		int fd = open(options.entries ? path : folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

		if (fd < 0) {
			atomic_fetch_add(&task->errors, 1);
			break;
		}
		for (unsigned int i = 0; options.entries && i < SEEKS; i++)
			task->errors += lseek(fd, options.entries - i, SEEK_SET) < 0;
		while ((n = syscall(SYS_getdents64, fd, entries, sizeof(entries))) > 0)
			;
		task->errors += n < 0;
		close(fd);
		atomic_fetch_add_explicit(&shared->listings, 1, memory_order_relaxed);
	}
	return NULL;
}

/* Starts a process, or a thread; its name begins with the program's. */
static pid_t start(void *(*run)(void *), struct task *task, const char *name, bool thread)
{
	pthread_t id;
	pid_t pid;

	if (thread) {
		errno = pthread_create(&id, NULL, run, task);
		if (errno)
			fail("cannot start", name);
		pthread_setname_np(id, name);
		return 0;
	}
	pid = fork();
	if (pid < 0)
		fail("cannot start", name);
	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_NAME, name);
	signal(SIGCHLD, SIG_DFL);
	close(leave[1]); /* the last to close lets all go, and that is the parent */
	run(task);
	_exit(0);
}

/* A task that dies early (out of memory, killed) would be waited for without end. */
static void on_child(int signal)
{
	static const char text[] = "statstorm: a task ended before the run did\n";

	(void)signal;
	if (children_may_end)
		return;
	if (write(STDERR_FILENO, text, sizeof(text) - 1) < 0)
		_exit(2);
	_exit(1);
}

static void gather(int fd, unsigned int n)
{
	char byte;

	while (n--)
		while (read(fd, &byte, 1) != 1)
			if (errno != EINTR)
				fail("lost a task at", "the barrier");
}

/* By bytes: closing the pipe would drop a reference, which would be counted. */
static void open_barrier(void)
{
	const char bytes[MAX_TASKS] = {0};

	if (write(barrier[1], bytes, options.tasks) != (ssize_t)options.tasks)
		fail("cannot open", "the barrier");
}

/* --- what is told --- */

static void tell_interval(const struct moment *a, const struct moment *b)
{
	uint64_t least = UINT64_MAX, most = 0;

	for (unsigned int i = 0; i < options.tasks; i++) {
		uint64_t n = b->task[i] - a->task[i];

		least = n < least ? n : least;
		most = n > most ? n : most;
	}
	printf("min:%" PRIu64 " max:%" PRIu64 " total:%" PRIu64 "\n", least, most,
	       b->stats - a->stats);
	fflush(stdout);
}

static void tell_span(const char *head, const struct moment *a, const struct moment *b)
{
	double seconds = (double)(b->ns - a->ns) / NSEC_PER_SEC;
	uint64_t stats = b->stats - a->stats, n[COUNTS], fast, slow;
	double ops = stats ? stats : 1;

	printf("statstorm: %s seconds=%.3f stats=%" PRIu64 " per_s=%.1f", head, seconds, stats,
	       stats / seconds);
	if (counts_fd >= 0) {
		for (unsigned int i = 0; i < COUNTS; i++) {
			n[i] = b->count[i] - a->count[i];
			printf(" %s=%" PRIu64, count_names[i], n[i]);
		}
		fast = n[GET_FAST] + n[PUT_FAST];
		slow = n[GET_SLOW] + n[PUT_SLOW];
		printf(" lockref_per_op=%.6f fast_per_op=%.6f slow_per_op=%.6f"
		       " retries_per_op=%.6f slow_percent=%.4f",
		       (fast + slow) / ops, fast / ops, slow / ops, n[RETRY] / ops,
		       fast + slow ? 100.0 * slow / (fast + slow) : 0.0);
	}
	printf("\n");
	fflush(stdout);
}

/* --- the run --- */

static struct moment run_phase(const char *name, struct moment from, bool disturbed)
{
	struct moment last = from, now;
	char head[32];
	uint64_t listings = shared->listings;
	pid_t pid = 0;

	mark(name, "start");
	if (disturbed)
		pid = start(disturb, &shared->task[MAX_TASKS], "statstorm-ls", false);
	for (unsigned int i = 1; i <= options.seconds; i++) {
		sleep_until(from.ns + i * (uint64_t)NSEC_PER_SEC);
		now = look();
		tell_interval(&last, &now);
		last = now;
	}
	if (disturbed) {
		children_may_end = true;
		atomic_store(&shared->disturb_stop, true);
		while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
			;
		children_may_end = false;
		last = look(); /* the phase ends with its disturber */
		printf("statstorm-ls: listings=%" PRIu64 "\n", shared->listings - listings);
	}
	mark(name, "end");
	snprintf(head, sizeof(head), "phase=%s", name);
	tell_span(head, &from, &last);
	return last;
}

/* The tasks wait at their barrier meanwhile. */
static void wait_for_go(void)
{
	char word[64];

	printf("statstorm: ready name=%s\n", strrchr(path, '/') + 1);
	fflush(stdout);
	if (!fgets(word, sizeof(word), stdin)) {
		fprintf(stderr, "statstorm: --hold waits for a line that never came\n");
		exit(1);
	}
}

static void run(void)
{
	struct moment first, phase, last;
	uint64_t errors = 0;

	if (options.hold)
		wait_for_go();
	mark("statstorm", "start");
	phase = first = look();
	open_barrier();
	if (options.stats) {
		gather(done[0], options.tasks);
		last = look();
	} else {
		last = run_phase("start", first, false);
		if (options.phases) {
			last = run_phase("disturbed", last, options.disturb);
			phase = last;
			last = run_phase("after", last, false);
		}
		printf("statstorm: last_phase_per_s=%.1f\n",
		       (double)(last.stats - phase.stats) * NSEC_PER_SEC / (last.ns - phase.ns));
		atomic_store(&shared->stop, true);
		gather(done[0], options.tasks);
		last = look(); /* nobody runs any more: now all counts are exact */
	}
	mark("statstorm", "end");
	for (unsigned int i = 0; i <= MAX_TASKS; i++)
		errors += shared->task[i].errors;
	for (unsigned int i = 0; options.stats && i < options.tasks; i++)
		errors += shared->task[i].stats != options.stats;
	tell_span("run", &first, &last);
	printf("statstorm: tasks=%u name_length=%u entries=%u errors=%" PRIu64 "\n", options.tasks,
	       options.name_length, options.entries, errors);
	children_may_end = true;
	close(leave[1]);
	if (errors) {
		fprintf(stderr, "statstorm: %" PRIu64 " calls failed or found another file\n",
			errors);
		exit(1);
	}
}

/* Make, or remove, the entries. */
static void fill(bool make)
{
	char entry[288];

	for (unsigned int i = 0; i < options.entries; i++) {
		snprintf(entry, sizeof(entry), "%s/%u", path, i);
		if (make ? mknod(entry, S_IFREG | 0644, 0) : unlink(entry))
			fail(make ? "cannot make" : "cannot remove", entry);
	}
}

static void make_file(void)
{
	char name[MAX_NAME + 1];
	struct statfs fs;
	int fd;

	for (unsigned int i = 0; i < options.name_length; i++)
		name[i] = 'a' + i % 26;
	name[options.name_length] = 0;
	snprintf(folder, sizeof(folder), "%s/statstorm-XXXXXX", options.dir);
	if (!mkdtemp(folder))
		fail("cannot make", folder);
	snprintf(path, sizeof(path), "%s/%s", folder, name);
	if (options.entries) {
		if (mkdir(path, 0755))
			fail("cannot make", path);
		fill(true);
	} else {
		fd = open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0644);
		if (fd < 0 || write(fd, "duet\n", 5) != 5)
			fail("cannot make", path);
		close(fd);
	}
	if (stat(path, &wanted) || statfs(path, &fs))
		fail("cannot look at", path);
	if (fs.f_type != TMPFS_MAGIC)
		fprintf(stderr, "statstorm: %s is not on tmpfs; other paths are taken there\n",
			options.dir);
}

static unsigned long number(const char *name, const char *text, unsigned long least,
			    unsigned long most)
{
	unsigned long value;
	char *end;

	errno = 0;
	value = strtoul(text, &end, 10);
	if (errno || *text < '0' || *text > '9' || *end || value < least || value > most) {
		fprintf(stderr, "statstorm: --%s is a whole number from %lu to %lu, not `%s`\n",
			name, least, most, text);
		exit(2);
	}
	return value;
}

static void parse(int argc, char **argv)
{
	static const struct option known[] = {
		{"tasks", required_argument, NULL, 'n'},
		{"name-length", required_argument, NULL, 'l'},
		{"seconds", required_argument, NULL, 's'},
		{"stats", required_argument, NULL, 'k'},
		{"disturb", required_argument, NULL, 'd'},
		{"entries", required_argument, NULL, 'e'},
		{"threads", required_argument, NULL, 't'},
		{"hold", required_argument, NULL, 'h'},
		{"dir", required_argument, NULL, 'D'},
		{0},
	};
	int option;

	while ((option = getopt_long(argc, argv, "", known, NULL)) != -1) {
		switch (option) {
		case 'n':
			options.tasks = number("tasks", optarg, 1, MAX_TASKS);
			break;
		case 'l':
			options.name_length = number("name-length", optarg, 1, MAX_NAME);
			break;
		case 's':
			options.seconds = number("seconds", optarg, 1, MAX_SECONDS);
			break;
		case 'k':
			options.stats = number("stats", optarg, 1, 1000000000);
			break;
		case 'd':
			options.phases = true;
			options.disturb = number("disturb", optarg, 0, 1);
			break;
		case 'e':
			options.entries = number("entries", optarg, 0, MAX_ENTRIES);
			break;
		case 't':
			options.threads = number("threads", optarg, 0, 1);
			break;
		case 'h':
			options.hold = number("hold", optarg, 0, 1);
			break;
		case 'D':
			options.dir = optarg;
			break;
		default:
			exit(2);
		}
	}
	if (optind < argc || !options.seconds == !options.stats ||
	    (options.phases && options.stats)) {
		fprintf(stderr, "statstorm: give one of --seconds and --stats, "
				"--disturb only with --seconds, and no other words\n");
		exit(2);
	}
}

int main(int argc, char **argv)
{
	char name[24];

	parse(argc, argv);
	make_file();
	open_counts();
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	if (shared == MAP_FAILED || pipe(ready) || pipe(barrier) || pipe(done) || pipe(leave))
		fail("cannot get", "memory and pipes");
	signal(SIGCHLD, on_child);
	for (unsigned int i = 0; i < options.tasks; i++) {
		snprintf(name, sizeof(name), "statstorm-%u", i);
		start(storm, &shared->task[i], name, options.threads);
	}
	gather(ready[0], options.tasks);
	run();
	if (!options.threads)
		while (wait(NULL) > 0 || errno == EINTR)
			;
	fill(false);
	if ((options.entries ? rmdir(path) : unlink(path)) || rmdir(folder))
		fail("cannot remove", folder);
	return 0;
}
