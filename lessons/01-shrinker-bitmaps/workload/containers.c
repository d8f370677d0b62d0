// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * containers - N memcgs with a tmpfs each, then drop_caches a few times, each call timed.
 *
 *	containers --containers N [--calls C] [--what 2|3]
 *		   [--touch DIR [--touched M] [--hold S]]
 *
 * The script of the mail, on cgroup v2 and without a shell: for each container make a memcg,
 * move into it, mount a tmpfs and make a file there. Then return to the root cgroup and write to
 * /proc/sys/vm/drop_caches. Only the write is timed; the mail's `time echo` had a process in it.
 *
 * A file on tmpfs sets no bit in the memcg's shrinker map, because tmpfs pins its dentries. With
 * --touch, M of the containers make a file in DIR (of ext4 or XFS) just before the third call, so
 * that there is something to find for them.
 *
 * With --hold, the containers stay for S seconds after the calls, and lines on standard input are
 * obeyed meanwhile: `touch I` makes a file in DIR from inside the Ith container, `drop` is one call
 *more.
 *
 * Phases in the kernel's trace: `containers: start`, `drop 1: start`, `drop 1: end`, ...,
 * `containers: end`. Everything is taken down afterwards, so that a guest may run it again.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <poll.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define CGROUPS	     "/sys/fs/cgroup"
#define PARENT	     CGROUPS "/ct"
#define MOUNTS	     "/tmp/s"
#define TRACE_MARKER "/sys/kernel/tracing/trace_marker"
#define DROP_CACHES  "/proc/sys/vm/drop_caches"
#define DEBUGFS	     "/sys/kernel/debug"
#define SHRINKERS    DEBUGFS "/shrinker"
#define MOST	     4000
#define MOST_CALLS   20
#define TOUCH_CALL   3
#define MOST_HOLD_S  60
#define NSEC_PER_SEC 1000000000ull
#define PATH_BYTES   96

struct options {
	unsigned int containers;
	unsigned int calls;
	unsigned int what;
	unsigned int touched;
	unsigned int hold; /* seconds */
	const char *touch;
};

static int marker = -1;

static _Noreturn void fail(const char *wanted, const char *name)
{
	const char *more = "";

	if (errno == ENOMEM)
		more = " (use fewer containers, or a guest with more memory)";
	fprintf(stderr, "containers: cannot %s %s: %s%s.\n", wanted, name, strerror(errno), more);
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
	char text[32];
	va_list args;
	int len;

	va_start(args, form);
	len = vsnprintf(text, sizeof(text), form, args);
	va_end(args);
	if (marker >= 0 && write(marker, text, len) != len && errno != EBADF)
		fail("write to", TRACE_MARKER);
}

static void put(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text))
		fail("write to", path);
	close(fd);
}

static void join_container(unsigned int i)
{
	char path[PATH_BYTES];

	snprintf(path, sizeof(path), PARENT "/%u/cgroup.procs", i);
	put(path, "0");
}

static void join_root(void)
{
	put(CGROUPS "/cgroup.procs", "0");
}

static void make_dir(const char *path)
{
	if (mkdir(path, 0755))
		fail("make", path);
}

/* Nothing may lie on @path: a second file there would be somebody else's. */
static void make_file(const char *path)
{
	int fd = open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0644);

	if (fd < 0)
		fail("make", path);
	close(fd);
}

static void make_parents(void)
{
	struct stat st;

	/* Its superblock has a shrinker, too, so it must be there before anything is counted. */
	if (stat(SHRINKERS, &st) && mount("debugfs", DEBUGFS, "debugfs", 0, NULL) && errno != EBUSY)
		fail("mount debugfs at", DEBUGFS);
	if (stat(CGROUPS "/cgroup.controllers", &st) &&
	    mount("cgroup2", CGROUPS, "cgroup2", 0, NULL))
		fail("mount cgroup2 at", CGROUPS);
	put(CGROUPS "/cgroup.subtree_control", "+memory");
	make_dir(PARENT);
	put(PARENT "/cgroup.subtree_control", "+memory");
	make_dir(MOUNTS);
}

static void make_container(unsigned int i)
{
	char path[PATH_BYTES], source[16];

	snprintf(path, sizeof(path), PARENT "/%u", i);
	make_dir(path);
	join_container(i);
	snprintf(path, sizeof(path), MOUNTS "/%u", i);
	make_dir(path);
	snprintf(source, sizeof(source), "%u", i);
	if (mount(source, path, "tmpfs", 0, NULL))
		fail("mount tmpfs at", path);
	snprintf(path, sizeof(path), MOUNTS "/%u/file", i);
	make_file(path);
}

static void touch_from_containers(const struct options *options)
{
	char path[PATH_BYTES];

	for (unsigned int i = 0; i < options->touched; i++) {
		join_container(i);
		snprintf(path, sizeof(path), "%.64s/file-%u", options->touch, i);
		make_file(path);
	}
	join_root();
}

/* Ask the kernel to drop what it can; returns how long that took. */
static uint64_t drop(int fd, unsigned int call, unsigned int what)
{
	const char text = '0' + what;
	uint64_t start, end;

	mark("drop %u: start", call);
	start = now_ns();
	if (pwrite(fd, &text, 1, 0) != 1)
		fail("write to", DROP_CACHES);
	end = now_ns();
	mark("drop %u: end", call);
	return end - start;
}

/* One line that a viewer said: "touch I" makes a file from inside a container, "drop" drops. */
static void obey(const struct options *options, int fd, const char *line)
{
	static unsigned int touched, dropped;
	char path[PATH_BYTES];
	unsigned int i;

	if (!strcmp(line, "drop")) {
		drop(fd, options->calls + ++dropped, options->what);
	} else if (sscanf(line, "touch %u", &i) == 1 && i >= 1 && i <= options->containers) {
		join_container(i - 1);
		snprintf(path, sizeof(path), "%.64s/touch-%u-%u", options->touch, i, ++touched);
		make_file(path);
		join_root();
	} else {
		printf("containers: `%.80s` is neither `drop` nor `touch I` with I from 1 to %u.\n",
		       line, options->containers);
	}
	printf("containers: said=%s\n", line);
	fflush(stdout);
}

/* Keep the containers for a while, and do what is said meanwhile. */
static void hold(const struct options *options, int fd)
{
	uint64_t end = now_ns() + options->hold * NSEC_PER_SEC;
	struct pollfd wait = {.fd = STDIN_FILENO, .events = POLLIN};
	char text[512], *line, *next;
	size_t len = 0;

	while (now_ns() < end) {
		int left_ms = (end - now_ns()) / 1000000 + 1;
		ssize_t n;

		if (poll(&wait, 1, left_ms) <= 0)
			continue;
		n = read(STDIN_FILENO, text + len, sizeof(text) - 1 - len);
		if (n <= 0)
			wait.fd = -1; /* nobody will say more */
		else
			len += n;
		text[len] = '\0';
		for (next = text; (line = next) && (next = strchr(line, '\n'));) {
			*next++ = '\0';
			obey(options, fd, line);
		}
		len = strlen(line);
		memmove(text, line, len + 1);
		if (len == sizeof(text) - 1)
			len = 0; /* no line is so long */
	}
}

static void take_down(const struct options *options)
{
	char path[PATH_BYTES];

	for (unsigned int i = 0; i < options->containers; i++) {
		snprintf(path, sizeof(path), MOUNTS "/%u", i);
		if (umount2(path, 0) || rmdir(path))
			fail("take away", path);
		snprintf(path, sizeof(path), PARENT "/%u", i);
		if (rmdir(path))
			fail("take away", path);
	}
	if (rmdir(PARENT) || rmdir(MOUNTS))
		fail("take away", PARENT " and " MOUNTS);
}

/* The number behind @key in a file of lines `key number`. */
static unsigned int read_key(const char *path, const char *key)
{
	char line[128], word[64];
	unsigned int value, found = 0;
	FILE *file = fopen(path, "re");

	if (!file)
		fail("read", path);
	while (fgets(line, sizeof(line), file))
		if (sscanf(line, "%63s %u", word, &value) == 2 && !strcmp(word, key))
			found = value;
	fclose(file);
	return found;
}

/* How many lines of /proc/mounts are a tmpfs of ours. */
static unsigned int count_mounts(void)
{
	char line[512], at[256], type[32];
	unsigned int count = 0;
	FILE *file = fopen("/proc/mounts", "re");

	if (!file)
		fail("read", "/proc/mounts");
	while (fgets(line, sizeof(line), file))
		count += sscanf(line, "%*s %255s %31s", at, type) == 2 && !strcmp(type, "tmpfs") &&
			 !strncmp(at, MOUNTS "/", strlen(MOUNTS "/"));
	fclose(file);
	return count;
}

/*
 * Memcg-aware shrinkers by the kernel's own list: every superblock has one, and the shadow nodes
 * of the page cache have one. 0: the list cannot be read.
 */
static unsigned int count_shrinkers(void)
{
	DIR *dir = opendir(SHRINKERS);
	struct dirent *entry;
	unsigned int count = 0;

	if (!dir)
		return 0;
	while ((entry = readdir(dir)))
		count += !strncmp(entry->d_name, "sb-", 3) ||
			 !strncmp(entry->d_name, "mm-shadow", 9);
	closedir(dir);
	return count;
}

static unsigned int parse_count(const char *name, const char *text, unsigned int least,
				unsigned int most)
{
	char *end;
	unsigned long value;

	errno = 0;
	value = strtoul(text, &end, 10);
	if (errno || *text < '0' || *text > '9' || *end || value < least || value > most) {
		fprintf(stderr, "containers: %s must be a whole number from %u to %u, not `%s`.\n",
			name, least, most, text);
		exit(2);
	}
	return value;
}

static void parse_options(int argc, char **argv, struct options *options)
{
	static const struct option known[] = {
		{"containers", required_argument, NULL, 'n'},
		{"calls", required_argument, NULL, 'c'},
		{"what", required_argument, NULL, 'w'},
		{"touch", required_argument, NULL, 't'},
		{"touched", required_argument, NULL, 'm'},
		{"hold", required_argument, NULL, 'h'},
		{0},
	};
	int option;

	while ((option = getopt_long(argc, argv, "", known, NULL)) != -1) {
		switch (option) {
		case 'n':
			options->containers = parse_count("--containers", optarg, 1, MOST);
			break;
		case 'c':
			options->calls = parse_count("--calls", optarg, 1, MOST_CALLS);
			break;
		case 'w':
			options->what = parse_count("--what", optarg, 2, 3);
			break;
		case 't':
			options->touch = optarg;
			break;
		case 'm':
			options->touched = parse_count("--touched", optarg, 0, MOST);
			break;
		case 'h':
			options->hold = parse_count("--hold", optarg, 0, MOST_HOLD_S);
			break;
		default:
			exit(2);
		}
	}
	if (optind < argc || !options->containers || options->touched > options->containers ||
	    ((options->touched || options->hold) && !options->touch)) {
		fprintf(stderr,
			"containers: --containers N is needed, --touched M is at most N, it and "
			"--hold S need --touch DIR, and nothing else may follow.\n");
		exit(2);
	}
}

static void verify(const struct options *options, unsigned int memcgs, unsigned int mounts)
{
	/* The containers' parent is a memcg as well; others may be there, fewer may not. */
	if (memcgs > options->containers && mounts == options->containers)
		return;
	fprintf(stderr,
		"containers: %u memcgs and %u mounts were wanted, but there are %u and %u.\n",
		options->containers + 1, options->containers, memcgs, mounts);
	exit(1);
}

int main(int argc, char **argv)
{
	struct options options = {.calls = 5, .what = 3};
	unsigned int memcgs, mounts, dying;
	uint64_t start, made, took[MOST_CALLS];
	int fd;

	parse_options(argc, argv, &options);
	marker = open(TRACE_MARKER, O_WRONLY | O_CLOEXEC);
	fd = open(DROP_CACHES, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		fail("open", DROP_CACHES);

	mark("containers: start");
	start = now_ns();
	make_parents();
	for (unsigned int i = 0; i < options.containers; i++)
		make_container(i);
	join_root();
	made = now_ns() - start;
	memcgs = read_key(CGROUPS "/cgroup.stat", "nr_descendants");
	mounts = count_mounts();
	verify(&options, memcgs, mounts);

	for (unsigned int i = 0; i < options.calls; i++) {
		if (i + 1 == TOUCH_CALL)
			touch_from_containers(&options);
		took[i] = drop(fd, i + 1, options.what);
	}
	if (options.hold)
		hold(&options, fd);
	mark("containers: end");

	dying = read_key(CGROUPS "/cgroup.stat", "nr_dying_descendants");
	for (unsigned int i = 0; i < options.calls; i++)
		printf("containers: drop=%u us=%.1f\n", i + 1, took[i] / 1e3);
	printf("containers: containers=%u memcgs=%u dying=%u mounts=%u shrinkers=%u setup_ms=%.1f "
	       "first_us=%.1f last_us=%.1f\n",
	       options.containers, memcgs, dying, mounts, count_shrinkers(), made / 1e6,
	       took[0] / 1e3, took[options.calls - 1] / 1e3);
	fflush(stdout);
	take_down(&options);
	return 0;
}
