// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * tide - a hot file that is used again and again, beside a scan that reads each page once.
 *
 *	tide [--hot PAGES] [--scan PAGES] [--limit PAGES] [--rounds N]
 *	     [--hot-by map|read] [--scan-by map|read] [--warm N]
 *
 * Both files are in /scratch. The two processes are in one memcg, whose memory.max is --limit
 * plus the pages that the processes need for themselves. They take turns, so equal runs do equal
 * things: in a round tide-hot touches each page of the hot file once, in file order, and then
 * tide-scan reads the next --scan pages of a file that it never reads twice. So a page that comes
 * back from the disk is always a page of the hot file.
 *
 * The first --warm rounds have no scan; they are there to make the hot file resident. The trace has
 * the marker `tide: start` before the first round.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define CGROUPS	     "/sys/fs/cgroup"
#define GROUP	     CGROUPS "/tide"
#define HOT	     "/scratch/hot"
#define SCAN	     "/scratch/scan"
#define TRACE_MARKER "/sys/kernel/tracing/trace_marker"
#define PAGE	     4096ul
#define OWN_PAGES    160ul /* page tables, stacks and slab of the two processes */
#define MOST_ROUNDS  200
#define CHUNK	     32 /* pages of one read() of the scan */
#define NSEC_PER_SEC 1000000000ull

enum way { BY_MAP, BY_READ };

struct options {
	unsigned long hot, scan, limit; /* pages */
	unsigned int rounds, warm;
	enum way hot_by, scan_by;
	int hot_fd, scan_fd;
};

/* One file as a process uses it. */
struct file {
	int fd;
	const volatile char *map;
	unsigned long pages;
	enum way by;
};

/* Shared by the processes. */
struct tally {
	unsigned long lost[MOST_ROUNDS];     /* hot pages absent when the round began */
	unsigned long returned[MOST_ROUNDS]; /* hot pages that this round read from the disk */
	uint64_t hot_ns[MOST_ROUNDS];	     /* time that the round's touches took */
};

static int marker = -1;
static struct tally *tally;

static _Noreturn void fail(const char *wanted, const char *name)
{
	fprintf(stderr, "tide: cannot %s %s: %s.\n", wanted, name, strerror(errno));
	exit(1);
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * NSEC_PER_SEC + now.tv_nsec;
}

/* Without tracing there is nobody to tell: the file is missing or says EBADF. */
__attribute__((format(printf, 1, 2))) static void mark(const char *form, ...)
{
	char text[48];
	va_list args;
	int len;

	va_start(args, form);
	len = vsnprintf(text, sizeof(text), form, args);
	va_end(args);
	if (marker >= 0 && write(marker, text, len) != len && errno != EBADF)
		fail("write to", TRACE_MARKER);
}

__attribute__((format(printf, 2, 3))) static void put(const char *path, const char *form, ...)
{
	char text[48];
	va_list args;
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	int len;

	va_start(args, form);
	len = vsnprintf(text, sizeof(text), form, args);
	va_end(args);
	if (fd < 0 || write(fd, text, len) != len)
		fail("write to", path);
	close(fd);
}

/* Write a file of so many pages, no two of them alike, and leave none of it in memory. */
static void make_file(const char *path, unsigned long pages)
{
	static uint64_t page[PAGE / sizeof(uint64_t)];
	int fd = open(path, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0644);

	if (fd < 0)
		fail("make", path);
	for (unsigned long i = 0; i < pages; i++) {
		page[0] = i + 1;
		if (write(fd, page, PAGE) != (ssize_t)PAGE)
			fail("write to", path);
	}
	if (fsync(fd) || posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED))
		fail("write out", path);
	close(fd);
}

static void make_group(unsigned long limit)
{
	struct stat st;

	if (stat(CGROUPS "/cgroup.controllers", &st) &&
	    mount("cgroup2", CGROUPS, "cgroup2", 0, NULL))
		fail("mount cgroup2 at", CGROUPS);
	put(CGROUPS "/cgroup.subtree_control", "+memory");
	if (mkdir(GROUP, 0755) && errno != EEXIST)
		fail("make", GROUP);
	put(GROUP "/memory.max", "%lu", (limit + OWN_PAGES) * PAGE);
}

/* Open a file that has this much readahead: the kernel takes the disk's value when it opens one. */
static int open_with(const char *path, unsigned int readahead_kb)
{
	char setting[80];
	struct stat st;
	int fd;

	if (stat(path, &st))
		fail("find", path);
	snprintf(setting, sizeof(setting), "/sys/class/bdi/%u:%u/read_ahead_kb", major(st.st_dev),
		 minor(st.st_dev));
	put(setting, "%u", readahead_kb);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		fail("open", path);
	return fd;
}

/*
 * Do not advise on the mapping: the kernel ignores accesses through a mapping with MADV_RANDOM or
 * MADV_SEQUENTIAL when it asks whether a page is in use (vma_has_recency()).
 */
static struct file use(int fd, unsigned long pages, enum way by)
{
	struct file file = {.fd = fd, .pages = pages, .by = by};

	file.map = mmap(NULL, pages * PAGE, PROT_READ, MAP_SHARED, fd, 0);
	if (file.map == MAP_FAILED)
		fail("map", "a file");
	return file;
}

/* Use a page once. Return whether read() found it absent; for a mapping the faults tell. */
static bool touch(const struct file *file, unsigned long page)
{
	struct iovec to = {.iov_len = sizeof(uint64_t)};
	bool missed = false;
	uint64_t word;

	to.iov_base = &word;
	if (file->by == BY_MAP) {
		word = *(const volatile uint64_t *)(file->map + page * PAGE);
	} else if (preadv2(file->fd, &to, 1, page * PAGE, RWF_NOWAIT) != sizeof(word)) {
		missed = errno == EAGAIN;
		if (!missed || pread(file->fd, &word, sizeof(word), page * PAGE) != sizeof(word))
			fail("read", "a page");
	}
	if (word != page + 1) {
		errno = EIO;
		fail("find the right word in", "a page");
	}
	return missed;
}

/* Count the hot pages that are not in memory. */
static unsigned long absent(const struct file *file)
{
	static unsigned char in[1 << 16];
	unsigned long n = 0;

	if (mincore((void *)file->map, file->pages * PAGE, in))
		fail("ask about", HOT);
	for (unsigned long i = 0; i < file->pages; i++)
		n += !(in[i] & 1);
	return n;
}

/* The number after @key in the group's memory.stat. */
static unsigned long stat_of(const char *key)
{
	FILE *file = fopen(GROUP "/memory.stat", "re");
	char name[64];
	unsigned long value, found = 0;

	if (!file)
		fail("read", GROUP "/memory.stat");
	while (fscanf(file, "%63s %lu", name, &value) == 2)
		if (!strcmp(name, key))
			found = value;
	fclose(file);
	return found;
}

/* Wait for the other process's turn to end, and end one's own. */
static bool turn_comes(int from)
{
	char byte;

	return read(from, &byte, 1) == 1;
}

static void pass_turn(int to)
{
	if (write(to, "", 1) != 1)
		fail("pass the turn to", "the other process");
}

static void be_hot(const struct options *o, int from, int to)
{
	struct file hot = use(o->hot_fd, o->hot, o->hot_by);
	struct rusage usage;
	unsigned long faults = 0; /* major faults so far */

	for (unsigned int round = 0; round < o->rounds; round++) {
		unsigned long missed = 0;
		uint64_t began;

		if (!turn_comes(from))
			exit(1);
		tally->lost[round] = absent(&hot);
		mark("round %u: hot", round);
		began = now_ns();
		for (unsigned long page = 0; page < hot.pages; page++)
			missed += touch(&hot, page);
		tally->hot_ns[round] = now_ns() - began;
		/* The end of the round's touches, also in the trace. */
		getrusage(RUSAGE_SELF, &usage);
		tally->returned[round] =
			hot.by == BY_MAP ? (unsigned long)usage.ru_majflt - faults : missed;
		faults = usage.ru_majflt;
		pass_turn(to);
	}
	exit(0);
}

static void be_scan(const struct options *o, int from, int to)
{
	static char data[CHUNK * PAGE];
	unsigned long scanned = o->rounds > o->warm ? (o->rounds - o->warm) * o->scan : 0;
	struct file scan = use(o->scan_fd, scanned ? scanned : 1, o->scan_by);
	unsigned long at = 0;

	for (unsigned int round = 0; round < o->rounds; round++) {
		if (!turn_comes(from))
			exit(1);
		mark("round %u: scan", round);
		for (unsigned long left = round < o->warm ? 0 : o->scan; left;) {
			unsigned long n = left < CHUNK ? left : CHUNK;

			if (scan.by == BY_READ && pread(scan.fd, data, n * PAGE, at * PAGE) < 0)
				fail("read", SCAN);
			for (unsigned long i = 0; scan.by == BY_MAP && i < n; i++)
				touch(&scan, at + i);
			at += n;
			left -= n;
		}
		pass_turn(to);
	}
	exit(0);
}

static pid_t start(const char *name, void (*be)(const struct options *, int, int),
		   const struct options *o, int from, int to)
{
	pid_t pid = fork();

	if (pid < 0)
		fail("start", name);
	if (!pid) {
		prctl(PR_SET_NAME, name);
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		put(GROUP "/cgroup.procs", "0");
		be(o, from, to);
	}
	return pid;
}

static unsigned long number(const char *text)
{
	char *end;
	unsigned long n = strtoul(text, &end, 10);

	if (*end || end == text) {
		errno = EINVAL;
		fail("use as a number", text);
	}
	return n;
}

static enum way way_of(const char *text)
{
	return strcmp(text, "read") && strcmp(text, "1") ? BY_MAP : BY_READ;
}

static struct options parse(int argc, char *argv[])
{
	static const struct option known[] = {{"hot", 1, NULL, 'h'},	 {"scan", 1, NULL, 's'},
					      {"limit", 1, NULL, 'l'},	 {"rounds", 1, NULL, 'r'},
					      {"warm", 1, NULL, 'w'},	 {"hot-by", 1, NULL, 'H'},
					      {"scan-by", 1, NULL, 'S'}, {NULL, 0, NULL, 0}};
	struct options o = {.hot = 2400,
			    .scan = 3000,
			    .limit = 4096,
			    .rounds = 10,
			    .warm = 2,
			    .scan_by = BY_READ};
	int c;

	while ((c = getopt_long(argc, argv, "", known, NULL)) != -1) {
		switch (c) {
		case 'h':
			o.hot = number(optarg);
			break;
		case 's':
			o.scan = number(optarg);
			break;
		case 'l':
			o.limit = number(optarg);
			break;
		case 'r':
			o.rounds = number(optarg);
			break;
		case 'w':
			o.warm = number(optarg);
			break;
		case 'H':
			o.hot_by = way_of(optarg);
			break;
		case 'S':
			o.scan_by = way_of(optarg);
			break;
		default:
			exit(2);
		}
	}
	if (o.rounds > MOST_ROUNDS || o.hot > 1 << 16 || !o.hot || o.warm >= o.rounds) {
		fprintf(stderr,
			"tide: at most %d rounds, more than --warm, and 1 to 65536 hot pages.\n",
			MOST_ROUNDS);
		exit(2);
	}
	return o;
}

static void report(const struct options *o, uint64_t took_ns)
{
	unsigned long returned = 0, touches = 0, lost = 0, rounds = o->rounds;
	uint64_t hot_ns = 0;

	for (unsigned int r = 0; r < o->rounds; r++) {
		printf("tide: round=%u lost=%lu returned=%lu hot_us=%llu\n", r, tally->lost[r],
		       tally->returned[r], (unsigned long long)tally->hot_ns[r] / 1000);
		if (r <= o->warm) /* the first scan comes after round `warm` */
			continue;
		touches += o->hot;
		lost += tally->lost[r];
		returned += tally->returned[r];
		hot_ns += tally->hot_ns[r];
	}
	printf("tide: touches=%lu returned=%lu lost=%lu returned_percent=%.2f refaults=%lu "
	       "activated=%lu restored=%lu scanned=%lu refilled=%lu hot_us=%llu\n",
	       touches, returned, lost, touches ? 100.0 * returned / touches : 0.0,
	       stat_of("workingset_refault_file"), stat_of("workingset_activate_file"),
	       stat_of("workingset_restore_file"), stat_of("pgscan"), stat_of("pgrefill"),
	       (unsigned long long)hot_ns / 1000);
	printf("tide: ops=%lu per_s=%.3f touches_per_s=%.1f seconds=%.6f\n", rounds,
	       took_ns ? o->rounds * 1e9 / took_ns : 0.0, hot_ns ? touches * 1e9 / hot_ns : 0.0,
	       took_ns / 1e9);
}

int main(int argc, char *argv[])
{
	struct options o = parse(argc, argv);
	int to_hot[2], to_scan[2], status, bad = 0;
	pid_t pids[2];
	uint64_t began;

	tally = mmap(NULL, sizeof(*tally), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		     0);
	if (tally == MAP_FAILED || pipe2(to_hot, O_CLOEXEC) || pipe2(to_scan, O_CLOEXEC))
		fail("prepare", "the processes");
	marker = open(TRACE_MARKER, O_WRONLY | O_CLOEXEC);
	make_file(HOT, o.hot);
	make_file(SCAN, (o.rounds - o.warm) * o.scan);
	/*
	 * No readahead in the hot file: a page comes into memory only because this page is wanted.
	 * The scan reads ahead as usual.
	 */
	o.hot_fd = open_with(HOT, 0);
	o.scan_fd = open_with(SCAN, 128);
	make_group(o.limit);
	pids[0] = start("tide-hot", be_hot, &o, to_hot[0], to_scan[1]);
	pids[1] = start("tide-scan", be_scan, &o, to_scan[0], to_hot[1]);
	mark("tide: start");
	began = now_ns();
	pass_turn(to_hot[1]);
	for (int i = 0; i < 2; i++) {
		if (wait(&status) > 0 && WIFEXITED(status) && !WEXITSTATUS(status))
			continue;
		bad = 1;
		for (int j = 0; j < 2; j++) /* the other process would wait for a turn forever */
			kill(pids[j], SIGKILL);
	}
	mark("tide: end");
	report(&o, now_ns() - began);
	rmdir(GROUP);
	return bad;
}
