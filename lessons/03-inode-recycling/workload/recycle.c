// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * recycle - create some files, unlink them, and again: the loop that asks for used inodes.
 *
 *	recycle --batch N (--files N | --seconds S) [--pause US] [--dir D]
 *
 * One process creates `batch` empty files, unlinks them in the same order, and starts anew,
 * until `files` files have been created and unlinked (the last batch may be smaller), or until
 * the seconds are over. A fixed number of files is the same work on every kernel and repeats
 * exactly where time is counted in instructions. After each batch it sleeps for --pause
 * microseconds, in which a machine that is slower per file would still be busy. Trace markers
 *`recycle: start` and `recycle: end` stand around the loop.
 *
 * Its own check: every create and unlink must succeed, and the directory must be empty again.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <getopt.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/stat.h>

#define PROGRAM "recycle"
#define SMALLER "Take a smaller batch or a larger disk."
#include "scratch.h"

#define MAX_BATCH    4096
#define MAX_PAUSE_US 1000000

struct options {
	unsigned long batch;
	unsigned long files; /* 0: until the time is over */
	double seconds;
	unsigned long pause_us; /* after each batch */
	const char *dir;
};

static volatile sig_atomic_t stop;

static void create_files(unsigned long n)
{
	char name[24];

	for (unsigned long i = 0; i < n; i++) {
		int fd;

		snprintf(name, sizeof(name), "f%lu", i);
		fd = open(name, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0644);
		if (fd < 0 || close(fd))
			fail("create", name);
	}
}

static void unlink_files(unsigned long n)
{
	char name[24];

	for (unsigned long i = 0; i < n; i++) {
		snprintf(name, sizeof(name), "f%lu", i);
		if (unlink(name))
			fail("unlink", name);
	}
}

/* Returns how many names are left in the current directory. */
static unsigned long names_left(void)
{
	DIR *dir = opendir(".");
	unsigned long n = 0;

	if (!dir)
		fail("open", "its directory");
	while (readdir(dir))
		n++;
	closedir(dir);
	return n - 2; /* . and .. */
}

static void pause_us(unsigned long us)
{
	struct timespec left = {us / 1000000, us % 1000000 * 1000};

	while (us && nanosleep(&left, &left) && errno == EINTR && !stop)
		;
}

static unsigned long parse_number(const char *name, const char *text, unsigned long least,
				  unsigned long most)
{
	char *end;
	unsigned long value;

	errno = 0;
	value = strtoul(text, &end, 10);
	if (errno || *text < '0' || *text > '9' || *end || value < least || value > most) {
		fprintf(stderr, "recycle: %s must be a whole number from %lu to %lu, not `%s`\n",
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
		fprintf(stderr, "recycle: --seconds must be from 0.01 to 3600, not `%s`\n", text);
		exit(2);
	}
	return value;
}

static void parse_options(int argc, char **argv, struct options *options)
{
	static const struct option known[] = {
		{"batch", required_argument, NULL, 'b'},   {"files", required_argument, NULL, 'n'},
		{"seconds", required_argument, NULL, 's'}, {"pause", required_argument, NULL, 'p'},
		{"dir", required_argument, NULL, 'd'},	   {0},
	};
	int option;

	while ((option = getopt_long(argc, argv, "", known, NULL)) != -1) {
		switch (option) {
		case 'b':
			options->batch = parse_number("--batch", optarg, 1, MAX_BATCH);
			break;
		case 'n':
			options->files = parse_number("--files", optarg, 1, 100000000);
			break;
		case 's':
			options->seconds = parse_seconds(optarg);
			break;
		case 'p':
			options->pause_us = parse_number("--pause", optarg, 0, MAX_PAUSE_US);
			break;
		case 'd':
			options->dir = optarg;
			break;
		default:
			exit(2);
		}
	}
	if (optind < argc) {
		fprintf(stderr, "recycle: unknown word `%s`\n", argv[optind]);
		exit(2);
	}
	if (!options->batch || !options->files == !(options->seconds > 0)) {
		fprintf(stderr, "recycle: --batch and one of --files and --seconds are needed\n");
		exit(2);
	}
}

static void on_term(int signal)
{
	(void)signal;
	stop = true;
}

int main(int argc, char **argv)
{
	struct options options = {.dir = "/scratch"};
	uint64_t start, end, elapsed;
	unsigned long done = 0, left;
	double seconds;

	parse_options(argc, argv, &options);
	signal(SIGTERM, on_term);
	if (chdir(options.dir) || (mkdir("recycle", 0755) && errno != EEXIST) || chdir("recycle"))
		fail("enter", options.dir);

	mark("recycle: start");
	start = now_ns();
	end = options.files ? UINT64_MAX : start + options.seconds * NSEC_PER_SEC;
	do {
		unsigned long n = options.batch;

		if (options.files && n > options.files - done)
			n = options.files - done;
		create_files(n);
		unlink_files(n);
		pause_us(options.pause_us);
		done += n;
	} while (!stop && (options.files ? done < options.files : now_ns() < end));
	elapsed = now_ns() - start;
	mark("recycle: end");

	left = names_left();
	if (left) {
		fprintf(stderr, "recycle: %lu names are left in %s/recycle\n", left, options.dir);
		return 1;
	}
	seconds = (double)elapsed / NSEC_PER_SEC;
	printf("recycle: batch=%lu files=%lu seconds=%.6f files_per_s=%.1f\n", options.batch, done,
	       seconds, done / seconds);
	return 0;
}
