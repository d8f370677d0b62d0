// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * paths - processes remove symlinks or files, while others walk paths to them.
 *
 *	paths --names N --removers R --walkers W [--target BYTES] [--dir D]
 *
 * R processes, paths-0, paths-1, ..., have a directory each and its share of N names: symlinks to
 * one common file, with a target of so many bytes (XFS keeps up to 336 of them in the inode, more
 * in a block), or empty files with --target 0. All is made, followed once and written back, which
 * is not timed. Then each remover unlinks its names and its directory.
 *
 * W processes, paths-walk first, stat(2) one name after another until the last remover is done,
 * and follow symlinks. Such a walk holds no lock and no reference as long as it stays under RCU.
 * A name is there or gone (ENOENT); a walk that ends at another file is wrong, and so is one that
 * fails in any other way.
 *
 * Trace markers `paths: start` and `paths: end` stand around the removal. Its own check: exactly
 * N names are unlinked, each directory can be removed, and no walk is wrong.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <getopt.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#define PROGRAM "paths"
#define SMALLER "Take fewer names, shorter targets or a larger disk."
#include "scratch.h"

#define MAX_PROCS    16
#define MAX_TARGET   1023 /* XFS_SYMLINK_MAXLEN less one */
#define TARGET_NAME  "target"
#define TARGET_LEAST (sizeof("../" TARGET_NAME) - 1)

struct options {
	unsigned long names, removers, walkers, target;
	const char *dir;
};

/* Of one process; on a cache line of its own. */
struct tally {
	uint64_t unlinked, walks, gone, wrong;
	char pad[32];
};

struct shared {
	atomic_bool stop;
	struct tally of[2 * MAX_PROCS];
};

static struct shared *shared;
static ino_t target_ino;

/* Name @i lies in directory i % removers, so that all directories are equally large. */
static const char *name_of(const struct options *options, unsigned long i)
{
	static char name[48];

	snprintf(name, sizeof(name), "d%lu/n%lu", i % options->removers, i);
	return name;
}

/* "..", as many slashes as it takes, and the name of the common file. */
static const char *target_of(unsigned long bytes)
{
	static char target[MAX_TARGET + 1];
	unsigned long tail = sizeof(TARGET_NAME) - 1;

	memset(target, '/', bytes);
	memcpy(target, "..", 2);
	memcpy(target + bytes - tail, TARGET_NAME, tail);
	target[bytes] = '\0';
	return target;
}

static void make_file(const char *name)
{
	int fd = open(name, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0644);

	if (fd < 0 || close(fd))
		fail("create", name);
}

/* Follows the name. */
static void walk(const struct options *options, unsigned long i, struct tally *tally)
{
	const char *name = name_of(options, i);
	struct stat st;

	tally->walks++;
	if (!stat(name, &st)) {
		bool right = options->target ? st.st_ino == target_ino : st.st_ino != target_ino;

		if (right && S_ISREG(st.st_mode))
			return;
		errno = EXDEV;
	}
	if (errno == ENOENT) {
		tally->gone++;
	} else if (!tally->wrong++) {
		fprintf(stderr, "paths: a walk to %s is wrong: %s\n", name,
			errno == EXDEV ? "it ends at another file" : strerror(errno));
	}
}

/* Follows each name once, so that no walk that counts reads an inode or writes a time of access. */
static void make_names(const struct options *options)
{
	const char *target = options->target ? target_of(options->target) : NULL;
	struct tally tally = {0};
	struct stat st;
	char dir[24];

	for (unsigned long r = 0; r < options->removers; r++) {
		snprintf(dir, sizeof(dir), "d%lu", r);
		if (mkdir(dir, 0755))
			fail("make", dir);
	}
	make_file(TARGET_NAME);
	if (stat(TARGET_NAME, &st))
		fail("look at", TARGET_NAME);
	target_ino = st.st_ino;
	for (unsigned long i = 0; i < options->names; i++) {
		const char *name = name_of(options, i);

		if (!target)
			make_file(name);
		else if (symlink(target, name))
			fail("create", name);
	}
	for (unsigned long i = 0; i < options->names; i++)
		walk(options, i, &tally);
	if (tally.gone || tally.wrong) {
		fprintf(stderr, "paths: names cannot be walked to before anything is removed\n");
		exit(1);
	}
}

static _Noreturn void remover_main(unsigned long id, int barrier)
{
	struct tally *tally = &shared->of[id];
	struct dirent *entry;
	char name[24], byte;
	DIR *dir;

	snprintf(name, sizeof(name), "paths-%lu", id);
	prctl(PR_SET_NAME, name);
	snprintf(name, sizeof(name), "d%lu", id);
	dir = opendir(name);
	if (!dir)
		fail("open", name);
	if (read(barrier, &byte, 1) < 0)
		fail("leave", "the barrier");
	while ((errno = 0, entry = readdir(dir))) {
		if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
			continue;
		if (unlinkat(dirfd(dir), entry->d_name, 0))
			fail("unlink", entry->d_name);
		tally->unlinked++;
	}
	if (errno)
		fail("read", name);
	closedir(dir);
	if (rmdir(name))
		fail("remove", name);
	_exit(0);
}

/* Each walker begins elsewhere. */
static _Noreturn void walker_main(const struct options *options, unsigned long id, int barrier)
{
	struct tally *tally = &shared->of[options->removers + id];
	unsigned long i = options->names / options->walkers * id;
	char name[24], byte;

	snprintf(name, sizeof(name), id ? "paths-walk-%lu" : "paths-walk", id);
	prctl(PR_SET_NAME, name);
	if (read(barrier, &byte, 1) < 0)
		fail("leave", "the barrier");
	while (!atomic_load_explicit(&shared->stop, memory_order_relaxed)) {
		walk(options, i, tally);
		i = (i + 1) % options->names;
	}
	_exit(0);
}

static pid_t spawn(const struct options *options, unsigned long i, const int barrier[2])
{
	pid_t pid = fork();

	if (pid < 0)
		fail("start", "a process");
	if (pid)
		return pid;
	close(barrier[1]);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (i < options->removers)
		remover_main(i, barrier[0]);
	walker_main(options, i - options->removers, barrier[0]);
}

/* Returns how many of the processes failed. */
static unsigned int wait_for(const pid_t *pids, unsigned long n)
{
	unsigned int failed = 0;
	int status;

	for (unsigned long i = 0; i < n; i++) {
		if (waitpid(pids[i], &status, 0) < 0)
			fail("wait for", "a process");
		failed += !WIFEXITED(status) || WEXITSTATUS(status);
	}
	return failed;
}

static unsigned long parse_count(const char *name, const char *text, unsigned long least,
				 unsigned long most)
{
	char *end;
	unsigned long value;

	errno = 0;
	value = strtoul(text, &end, 10);
	if (errno || *text < '0' || *text > '9' || *end || value < least || value > most) {
		fprintf(stderr, "paths: %s must be a whole number from %lu to %lu, not `%s`\n",
			name, least, most, text);
		exit(2);
	}
	return value;
}

static void parse_options(int argc, char **argv, struct options *options)
{
	static const struct option known[] = {
		{"names", required_argument, NULL, 'n'},
		{"removers", required_argument, NULL, 'r'},
		{"walkers", required_argument, NULL, 'w'},
		{"target", required_argument, NULL, 't'},
		{"dir", required_argument, NULL, 'd'},
		{0},
	};
	int option;

	while ((option = getopt_long(argc, argv, "", known, NULL)) != -1) {
		if (option == 'n')
			options->names = parse_count("--names", optarg, 1, 10000000);
		else if (option == 'r')
			options->removers = parse_count("--removers", optarg, 1, MAX_PROCS);
		else if (option == 'w')
			options->walkers = parse_count("--walkers", optarg, 0, MAX_PROCS);
		else if (option == 't')
			options->target = parse_count("--target", optarg, 0, MAX_TARGET);
		else if (option == 'd')
			options->dir = optarg;
		else
			exit(2);
	}
	if (optind < argc || !options->names) {
		fprintf(stderr, "paths: paths --names N [--removers R] [--walkers W] "
				"[--target BYTES] [--dir D]\n");
		exit(2);
	}
	if (options->target && options->target < TARGET_LEAST) {
		fprintf(stderr, "paths: --target must be 0 (empty files) or from %zu to %d\n",
			TARGET_LEAST, MAX_TARGET);
		exit(2);
	}
}

static int print_result(const struct options *options, uint64_t elapsed_ns, unsigned int failed)
{
	double seconds = (double)elapsed_ns / NSEC_PER_SEC;
	struct tally sum = {0};

	for (unsigned long i = 0; i < options->removers + options->walkers; i++) {
		sum.unlinked += shared->of[i].unlinked;
		sum.walks += shared->of[i].walks;
		sum.gone += shared->of[i].gone;
		sum.wrong += shared->of[i].wrong;
	}
	printf("paths: files=%lu seconds=%.6f files_per_s=%.1f walks=%lu gone=%lu wrong=%lu "
	       "walks_per_s=%.1f\n",
	       sum.unlinked, seconds, sum.unlinked / seconds, sum.walks, sum.gone, sum.wrong,
	       sum.walks / seconds);
	if (sum.unlinked != options->names) {
		fprintf(stderr, "paths: %lu names were made, but %lu unlinked\n", options->names,
			sum.unlinked);
		return 1;
	}
	return failed || sum.wrong;
}

int main(int argc, char **argv)
{
	struct options options = {.removers = 1, .dir = "/scratch"};
	pid_t pids[2 * MAX_PROCS];
	unsigned int failed;
	int barrier[2], top;
	uint64_t start;

	parse_options(argc, argv, &options);
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	if (shared == MAP_FAILED || pipe2(barrier, O_CLOEXEC))
		fail("get", "memory and a pipe");
	if (chdir(options.dir) || mkdir("paths", 0755) || chdir("paths"))
		fail("enter", options.dir);
	make_names(&options);
	top = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (top < 0 || syncfs(top))
		fail("write back", options.dir);
	close(top);
	for (unsigned long i = 0; i < options.removers + options.walkers; i++)
		pids[i] = spawn(&options, i, barrier);

	mark("paths: start");
	start = now_ns();
	close(barrier[1]);
	failed = wait_for(pids, options.removers);
	start = now_ns() - start;
	mark("paths: end");

	atomic_store(&shared->stop, true);
	failed += wait_for(pids + options.removers, options.walkers);
	return print_result(&options, start, failed);
}
