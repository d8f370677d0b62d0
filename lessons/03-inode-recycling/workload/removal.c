// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * removal - one process removes a directory full of empty files, as `rm -rf` does.
 *
 *	removal --files N [--dir D]
 *
 * Creates N empty files in one directory and writes them back (none of this is timed), then
 * reads the directory and unlinks each name in the order it is given, and removes the directory
 * itself. Trace markers `removal: start` and `removal: end` stand around that.
 *
 * Its own check: exactly N names are unlinked and the directory can be removed. With --drain it
 * then asks how long the filesystem needs until no inode waits for inactivation (FIFREEZE stops
 * inodegc, which works the queues off), and thaws it.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <getopt.h>
#include <linux/fs.h>
#include <stdbool.h>
#include <sys/ioctl.h>
#include <sys/stat.h>

#define PROGRAM "removal"
#define SMALLER "Take fewer files or a larger disk."
#include "scratch.h"

static void create_files(int dir, unsigned long n)
{
	char name[24];

	for (unsigned long i = 0; i < n; i++) {
		int fd;

		snprintf(name, sizeof(name), "f%lu", i);
		fd = openat(dir, name, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0644);
		if (fd < 0 || close(fd))
			fail("create", name);
	}
}

/* Returns how many names it has unlinked. */
static unsigned long unlink_all(const char *path)
{
	DIR *dir = opendir(path);
	struct dirent *entry;
	unsigned long n = 0;

	if (!dir)
		fail("open", path);
	while ((errno = 0, entry = readdir(dir))) {
		if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
			continue;
		if (unlinkat(dirfd(dir), entry->d_name, 0))
			fail("unlink", entry->d_name);
		n++;
	}
	if (errno)
		fail("read", path);
	closedir(dir);
	if (rmdir(path))
		fail("remove", path);
	return n;
}

/* Returns the ns until the filesystem has no inode left to inactivate. */
static uint64_t drain(const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	uint64_t start = now_ns(), elapsed;

	if (fd < 0 || ioctl(fd, FIFREEZE, 0))
		fail("freeze", path);
	elapsed = now_ns() - start;
	if (ioctl(fd, FITHAW, 0))
		fail("thaw", path);
	close(fd);
	return elapsed;
}

static unsigned long parse_count(const char *name, const char *text)
{
	char *end;
	unsigned long value;

	errno = 0;
	value = strtoul(text, &end, 10);
	if (errno || *text < '0' || *text > '9' || *end || value < 1 || value > 10000000) {
		fprintf(stderr, "removal: %s must be a whole number from 1 to 10000000, not `%s`\n",
			name, text);
		exit(2);
	}
	return value;
}

int main(int argc, char **argv)
{
	static const struct option known[] = {
		{"files", required_argument, NULL, 'n'},
		{"dir", required_argument, NULL, 'd'},
		{"drain", no_argument, NULL, 'w'},
		{0},
	};
	unsigned long files = 0, done;
	const char *where = "/scratch";
	bool drained = false;
	uint64_t start, elapsed;
	double seconds;
	int option, dir;

	while ((option = getopt_long(argc, argv, "", known, NULL)) != -1) {
		if (option == 'n')
			files = parse_count("--files", optarg);
		else if (option == 'd')
			where = optarg;
		else if (option == 'w')
			drained = true;
		else
			return 2;
	}
	if (optind < argc || !files) {
		fprintf(stderr, "removal: removal --files N [--dir D] [--drain]\n");
		return 2;
	}
	if (chdir(where))
		fail("enter", where);
	if (mkdir("removal", 0755))
		fail("make", "removal");
	dir = open("removal", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0)
		fail("open", "removal");
	create_files(dir, files);
	if (syncfs(dir))
		fail("write back", where);
	close(dir);

	mark("removal: start");
	start = now_ns();
	done = unlink_all("removal");
	elapsed = now_ns() - start;
	mark("removal: end");

	if (done != files) {
		fprintf(stderr, "removal: %lu files were made, but %lu unlinked\n", files, done);
		return 1;
	}
	seconds = (double)elapsed / NSEC_PER_SEC;
	if (drained)
		printf("removal: drain_ms=%.3f\n", drain(".") / 1e6);
	printf("removal: files=%lu seconds=%.6f files_per_s=%.1f\n", done, seconds, done / seconds);
	return 0;
}
