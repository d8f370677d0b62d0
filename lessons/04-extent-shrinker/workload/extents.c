// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * extents - what a scan of ext4's extent status shrinker costs, and what it frees.
 *
 *	extents --dir D --files N --written W --delayed D --scans S --nr B
 *		[--hot PERCENT] [--written-first 1] [--verify 1] [--tell 1] [--seek 1]
 *		[--apart 1] [--neighbour M]
 *	extents --dir D --scans S --nr B --every-us U [--drops N] -- fio ARGUMENTS...
 *
 * The first form makes the extents itself. Each of N files gets W blocks that are on the disk
 * and then D blocks that are not allocated yet (delayed), the latter at the left end unless
 * --written-first is given. All other entries of the filesystem are freed; then each written
 * block is looked up on its own, which caches it as an entry of its own. So there are N*D
 * entries that may not be freed and N*W that may, and no others. When nothing is left that may
 * be freed, the written blocks are looked up again: that is a round. --hot looks up so many
 * percent of them once more, which marks them as referenced. All this needs a kernel that keeps
 * neighbours apart (ext4.es_never_merge); without it, there are few entries, and none are checked.
 * --apart leaves a hole after each block instead, so that no block has a neighbour on any kernel.
 *
 * --tell is for runs that are looked at: who traces the kernel is told of every entry before the
 * first scan (after `tell: start`), and the run ends with the last one. --seek asks after each
 * scan where the data are and where a hole is, as cp does. That a block is delayed stands nowhere
 * but in its entry; so a hole is left behind the delayed blocks, and the answer is checked.
 *
 * --neighbour starts a process, extents-next, that M times gives a file of its own a block and
 * takes it back. Its inode joins the list of inodes with entries, and leaves it again, while the
 * scans go on, as many as there is time for: who holds the list's lock keeps the neighbour waiting.
 *
 * The second form runs fio and scans beside it, U us after the last time, when there is anything
 * that may be freed, as reclaim does. If those are fewer than S, others follow when fio has ended,
 * as long as there is something; and then so many times `drop_caches`.
 *
 * A scan is a write to the shrinker's file in debugfs. Between scans the filesystem's own
 * counters tell how many entries there are, so that what was freed is known exactly.
 * `scan: start` and `scan: end` go to the kernel's trace.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <glob.h>
#include <linux/fiemap.h>
#include <linux/fs.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define BLOCK	      4096u
#define CHUNK_BLOCKS  64u /* written at once where single entries are not wanted */
#define PIECES	      8u  /* of the written blocks, see `written_at` */
#define MAX_FILES     64u
#define MAX_SCANS     100000u
#define EXT4_MAGIC    0xef53
#define ALL_ENTRIES   100000000u
#define DRAIN_TRIES   8 /* a referenced entry needs two */
#define SPARE_BYTES   (16u << 20)
#define NSEC_PER_USEC 1000ull
#define NSEC_PER_SEC  1000000000ull
#define TRACE_MARKER  "/sys/kernel/tracing/trace_marker"
#define DROP_CACHES   "/proc/sys/vm/drop_caches"
#define NEVER_MERGE   "/sys/module/ext4/parameters/es_never_merge"

struct options {
	const char *dir;
	unsigned int files, written, delayed, scans, nr, hot;
	bool written_first, verify, tell, seek, apart;
	unsigned int every_us, drops, neighbour;
	char **command; /* the second form */
};

/* Entries of the whole filesystem, as it counts them itself. */
struct entries {
	unsigned long all, reclaimable;
};

struct times {
	uint64_t sum_ns;
	unsigned long n;
};

struct result {
	uint64_t *scan_ns;
	unsigned int scans, first_freed; /* first_freed counts from 1; 0: none */
	unsigned long freed, rounds;
	struct times delay, fill, lookup, drop;
};

/* Shared with the process that stands on the list, too. */
struct neighbour {
	struct times turn;
	uint64_t longest_ns;
};

static int files[MAX_FILES];
static char info_path[128];
static int scan_fd;
static bool merging; /* the kernel merges neighbours: entries are not blocks */
static volatile sig_atomic_t stopped;

static _Noreturn __attribute__((format(printf, 1, 2))) void fail(const char *format, ...)
{
	va_list words;

	fflush(stdout);
	fputs("extents: ", stderr);
	va_start(words, format);
	vfprintf(stderr, format, words);
	va_end(words);
	fputc('\n', stderr);
	exit(1);
}

static _Noreturn void fail_at(const char *what, const char *name)
{
	if (errno == ENOSPC)
		fail("cannot %s %s: the disk is full. Use fewer entries, or a larger scratch disk.",
		     what, name);
	if (errno == ENOMEM)
		fail("cannot %s %s: the guest is out of memory. Use fewer entries, or raise "
		     "memory_mb of the lesson.",
		     what, name);
	fail("cannot %s %s: %s", what, name, strerror(errno));
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * NSEC_PER_SEC + now.tv_nsec;
}

static double mean_us(const struct times *times)
{
	return times->n ? (double)times->sum_ns / times->n / NSEC_PER_USEC : 0;
}

static void add_time(struct times *times, uint64_t start, unsigned long n)
{
	times->sum_ns += now_ns() - start;
	times->n += n;
}

static void mark(const char *text)
{
	int fd = open(TRACE_MARKER, O_WRONLY | O_CLOEXEC);

	/* Without tracing there is nobody to tell; the write says EBADF. */
	if (fd < 0)
		return;
	if (write(fd, text, strlen(text)) < 0 && errno != EBADF)
		fprintf(stderr, "extents: no marker `%s`: %s\n", text, strerror(errno));
	close(fd);
}

static size_t read_text(const char *path, char *text, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t got = fd < 0 ? -1 : read(fd, text, size - 1);

	if (got < 0)
		fail_at("read", path);
	close(fd);
	text[got] = 0;
	return got;
}

/* --- The shrinker and its counters. */

/* The kernel's name of the filesystem is that of its device. */
static void find_shrinker(const char *dir)
{
	char link[64], target[256], pattern[320];
	struct statfs fs;
	struct stat st;
	ssize_t length;
	glob_t found;

	if (statfs(dir, &fs) || stat(dir, &st))
		fail_at("look at", dir);
	if (fs.f_type != EXT4_MAGIC)
		fail("%s is not on ext4, which this is about.", dir);
	if (fs.f_bsize != BLOCK)
		fail("%s has blocks of %ld bytes; entries are counted in blocks of %u. Use a "
		     "scratch disk of 512 MB or more.",
		     dir, (long)fs.f_bsize, BLOCK);
	snprintf(link, sizeof(link), "/sys/dev/block/%u:%u", major(st.st_dev), minor(st.st_dev));
	length = readlink(link, target, sizeof(target) - 1);
	if (length < 0)
		fail_at("read", link);
	target[length] = 0;
	snprintf(info_path, sizeof(info_path), "/proc/fs/ext4/%.64s/es_shrinker_info",
		 basename(target));
	snprintf(pattern, sizeof(pattern), "/sys/kernel/debug/shrinker/ext4-es:%s-*/scan",
		 basename(target));
	if (glob(pattern, 0, NULL, &found) || found.gl_pathc != 1)
		fail("there is no shrinker %s. The kernel needs CONFIG_SHRINKER_DEBUG, and debugfs "
		     "must be mounted.",
		     pattern);
	scan_fd = open(found.gl_pathv[0], O_WRONLY | O_CLOEXEC);
	if (scan_fd < 0)
		fail_at("open", found.gl_pathv[0]);
	globfree(&found);
}

/* Whether neighbours share an entry. With --apart no block has a neighbour. */
static bool neighbours_merge(const struct options *options)
{
	char text[8];

	if (options->apart)
		return false;
	if (access(NEVER_MERGE, F_OK)) {
		if (!options->command)
			fail("this kernel merges neighbours, and no switch of it prevents that. "
			     "Set the knob `set_apart` to 1.");
		return true;
	}
	read_text(NEVER_MERGE, text, sizeof(text));
	return *text == 'N';
}

static struct entries count_entries(void)
{
	struct entries entries;
	char text[1024];

	read_text(info_path, text, sizeof(text));
	if (sscanf(text, "stats: %lu objects %lu reclaimable", &entries.all,
		   &entries.reclaimable) != 2)
		fail("%s has no counts: %s", info_path, text);
	return entries;
}

/* Ask the shrinker to look for @nr entries; the time it took. */
static uint64_t scan(unsigned int nr)
{
	char order[32];
	int length = snprintf(order, sizeof(order), "0 0 %u\n", nr);
	uint64_t start = now_ns();

	if (write(scan_fd, order, length) != length)
		fail_at("write to", "the shrinker's scan file");
	return now_ns() - start;
}

/* One scan, if there is anything that may be freed: else the kernel would not ask, either. */
static bool scan_and_count(const struct options *options, struct result *result)
{
	struct entries before = count_entries(), after;

	if (!before.reclaimable || result->scans == MAX_SCANS)
		return false;

	result->scan_ns[result->scans++] = scan(options->nr);
	after = count_entries();
	if (after.all < before.all) {
		result->freed += before.all - after.all;
		if (!result->first_freed)
			result->first_freed = result->scans;
	}
	return true;
}

static unsigned long slab_value(const char *name)
{
	/* The name on 6.1, and the name on 7.3. */
	static const char *const caches[] = {"ext4_extent_status", "extent_status"};
	char path[128], text[64];

	for (unsigned int i = 0; i < 2; i++) {
		snprintf(path, sizeof(path), "/sys/kernel/slab/%s/%s", caches[i], name);
		if (!access(path, R_OK))
			break;
	}
	read_text(path, text, sizeof(text));
	return strtoul(text, NULL, 10);
}

static void print_slab(void)
{
	unsigned long slab_bytes = (unsigned long)BLOCK << slab_value("order");

	printf("extents: entry_bytes=%lu slab_entries=%lu slab_bytes=%lu\n",
	       slab_value("object_size"), slab_value("objects"), slab_value("slabs") * slab_bytes);
}

/* --- The first form: files whose entries are known. */

static uint64_t stamp_of(unsigned int file, unsigned int block)
{
	return ((uint64_t)file << 32 | block) * 0x9e3779b97f4a7c15ull + 1;
}

static unsigned int piece_blocks(const struct options *options)
{
	return options->written > PIECES ? options->written / PIECES : 1;
}

/*
 * The block that is the k-th written one. A block is left out after each piece: a file of up to
 * four pieces has them all in its inode, and asking for one block would cache whole pieces.
 */
static unsigned int written_place(const struct options *options, unsigned int k)
{
	unsigned int first = options->written_first ? 0 : options->delayed + options->seek;

	return first + k + k / piece_blocks(options);
}

/* With --apart a block that is never written lies between two places. */
static unsigned int block_at(const struct options *options, unsigned int place)
{
	return options->apart ? 2 * place : place;
}

static unsigned int written_at(const struct options *options, unsigned int k)
{
	return block_at(options, written_place(options, k));
}

/* The block that is the k-th delayed one; those of one file lie side by side. */
static unsigned int delayed_at(const struct options *options, unsigned int k)
{
	return block_at(options,
			options->written_first ? written_place(options, options->written) + k : k);
}

static unsigned int file_blocks(const struct options *options)
{
	return block_at(options, options->delayed + options->seek + options->written +
					 options->written / piece_blocks(options) + 1);
}

static void write_blocks(unsigned int file, unsigned int first, unsigned int n, unsigned int chunk)
{
	static char buffer[CHUNK_BLOCKS][BLOCK];

	while (n) {
		unsigned int now = n < chunk ? n : chunk;
		size_t bytes = (size_t)now * BLOCK;

		for (unsigned int i = 0; i < now; i++) {
			uint64_t stamp = stamp_of(file, first + i);

			memcpy(buffer[i], &stamp, sizeof(stamp));
			memcpy(buffer[i] + BLOCK - sizeof(stamp), &stamp, sizeof(stamp));
		}
		errno = ENOSPC; /* which is what a short write means */
		if (pwrite(files[file], buffer, bytes, (off_t)first * BLOCK) != (ssize_t)bytes)
			fail_at("write to", "a file");
		first += now;
		n -= now;
	}
}

static void write_places(const struct options *options, unsigned int file, unsigned int first,
			 unsigned int n, unsigned int chunk)
{
	if (!options->apart) {
		write_blocks(file, first, n, chunk);
		return;
	}
	for (unsigned int i = 0; i < n; i++)
		write_blocks(file, first + block_at(options, i), 1, 1);
}

static void check_room(const struct options *options)
{
	uint64_t need = (uint64_t)options->files * (options->delayed + options->written) * BLOCK;
	struct statfs fs;

	if (statfs(options->dir, &fs))
		fail_at("look at", options->dir);
	if ((uint64_t)fs.f_bavail * BLOCK < need + SPARE_BYTES)
		fail("%llu MB are to be written, %s has %llu MB free. Use fewer entries, or a "
		     "larger "
		     "scratch disk.",
		     (unsigned long long)(need >> 20), options->dir,
		     (unsigned long long)((uint64_t)fs.f_bavail * BLOCK >> 20));
}

static void write_files(const struct options *options, struct result *result)
{
	unsigned int piece = piece_blocks(options);
	char path[256];

	for (unsigned int i = 0; i < options->files; i++) {
		snprintf(path, sizeof(path), "%s/f%u", options->dir, i);
		files[i] = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
		if (files[i] < 0)
			fail_at("make", path);
		/* At once, so that no later write changes the size. */
		if (ftruncate(files[i], (off_t)file_blocks(options) * BLOCK))
			fail_at("extend", path);
		for (unsigned int k = 0; k < options->written; k += piece) {
			unsigned int rest = options->written - k;

			write_places(options, i, written_at(options, k),
				     rest < piece ? rest : piece, CHUNK_BLOCKS);
		}
		if (fdatasync(files[i]))
			fail_at("write out", path);
	}
	for (unsigned int i = 0; i < options->files; i++) {
		uint64_t start = now_ns();

		write_places(options, i, delayed_at(options, 0), options->delayed, 1);
		add_time(&result->delay, start, options->delayed);
	}
}

/* Free what the journal, directories and the making of the files have left. */
static void drain(void)
{
	struct entries left;

	for (int i = 0; i < DRAIN_TRIES; i++) {
		scan(ALL_ENTRIES);
		left = count_entries();
		if (!left.reclaimable)
			return;
	}
	fail("%lu reclaimable entries stay in the way of a clean start.", left.reclaimable);
}

/* Each block is asked for by itself: found among the entries, or on disk and then cached. */
static void look_up_written(const struct options *options, unsigned int percent,
			    struct times *times)
{
	struct fiemap ask = {.fm_length = BLOCK};
	uint64_t start = now_ns();
	unsigned long n = 0;

	for (unsigned int i = 0; i < options->files; i++) {
		for (unsigned int k = 0; k < options->written; k++) {
			if (k % 100 >= percent)
				continue;
			ask.fm_start = (uint64_t)written_at(options, k) * BLOCK;
			ask.fm_extent_count = 0;
			if (ioctl(files[i], FS_IOC_FIEMAP, &ask))
				fail_at("ask for", "a block");
			if (ask.fm_mapped_extents != 1)
				fail("block %u of file %u is written but not found.",
				     written_at(options, k), i);
			n++;
		}
	}
	add_time(times, start, n);
}

static void fill(const struct options *options, struct result *result)
{
	struct times hot = {0};

	look_up_written(options, 100, &result->fill);
	if (options->hot)
		look_up_written(options, options->hot, &hot);
	result->rounds++;
}

/*
 * Asking for the delayed blocks makes the kernel find their entries one by one, which is an event
 * each. It changes nothing a scan goes by: whether a delayed entry is in use is never looked at.
 */
static void tell_delayed(const struct options *options)
{
	/* With --apart one by one: asking for a gap would cache it, as a hole. */
	unsigned int each = options->apart ? 1 : options->delayed;
	struct fiemap ask = {.fm_length = (uint64_t)each * BLOCK};

	mark("tell: start");
	if (!options->delayed)
		return;
	for (unsigned int i = 0; i < options->files; i++) {
		for (unsigned int k = 0; k < options->delayed; k += each) {
			ask.fm_start = (uint64_t)delayed_at(options, k) * BLOCK;
			if (ioctl(files[i], FS_IOC_FIEMAP, &ask))
				fail_at("ask for", "the delayed blocks");
		}
	}
}

/* On the disk the file begins with a hole. The entries know better. */
static void seek_data(const struct options *options)
{
	off_t bytes = (off_t)options->delayed * BLOCK;

	for (unsigned int i = 0; i < options->files; i++) {
		off_t data = lseek(files[i], 0, SEEK_DATA), hole = lseek(files[i], 0, SEEK_HOLE);

		if (data != 0 || hole != bytes)
			fail("file %u has data from 0 to %lld, the kernel says from %lld to %lld.",
			     i, (long long)bytes, (long long)data, (long long)hole);
	}
}

static void check_entries(const struct options *options, bool full)
{
	unsigned long delayed = (unsigned long)options->files * options->delayed;
	unsigned long written = (unsigned long)options->files * options->written;
	struct entries now = count_entries();

	if (merging)
		return;
	if (now.all - now.reclaimable != delayed)
		fail("%lu delayed entries are expected, %lu are there. Is writeback put off?",
		     delayed, now.all - now.reclaimable);
	if (full && now.reclaimable != written)
		fail("%lu entries of written blocks are expected, %lu reclaimable ones are there.",
		     written, now.reclaimable);
}

static void read_block(unsigned int file, unsigned int block)
{
	static char buffer[BLOCK];
	uint64_t stamp = stamp_of(file, block);

	if (pread(files[file], buffer, BLOCK, (off_t)block * BLOCK) != BLOCK)
		fail_at("read", "a file");
	if (memcmp(buffer, &stamp, sizeof(stamp)) ||
	    memcmp(buffer + BLOCK - sizeof(stamp), &stamp, sizeof(stamp)))
		fail("block %u of file %u has not what was written to it.", block, file);
}

/* Nothing that was delayed may be lost: write it out, forget it, read it. */
static void read_back(const struct options *options)
{
	for (unsigned int i = 0; i < options->files; i++) {
		if (fsync(files[i]))
			fail_at("write out", "a file");
		posix_fadvise(files[i], 0, 0, POSIX_FADV_DONTNEED);
		for (unsigned int k = 0; k < options->written; k++)
			read_block(i, written_at(options, k));
		for (unsigned int k = 0; k < options->delayed; k++)
			read_block(i, delayed_at(options, k));
	}
	printf("extents: read_back=%u\n", options->files * (options->written + options->delayed));
}

/* --- A neighbour: another inode that joins the list and leaves it, meanwhile. */

/* The first entry that may be freed takes the inode onto the list, the last one off it. */
static void take_turns(const struct options *options, struct neighbour *neighbour)
{
	char path[256];
	int fd;

	prctl(PR_SET_NAME, "extents-next");
	snprintf(path, sizeof(path), "%s/next", options->dir);
	fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (fd < 0)
		fail_at("make", path);
	for (unsigned int i = 0; i < options->neighbour; i++) {
		uint64_t start = now_ns(), took;

		if (fallocate(fd, 0, 0, BLOCK) || ftruncate(fd, 0))
			fail_at("give a block to", path);
		took = now_ns() - start;
		add_time(&neighbour->turn, start, 1);
		if (took > neighbour->longest_ns)
			neighbour->longest_ns = took;
	}
}

static pid_t start_neighbour(const struct options *options, struct neighbour *neighbour)
{
	pid_t parent = getpid(), pid;

	fflush(stdout);
	pid = fork();
	if (pid < 0)
		fail_at("start", "a process");
	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	take_turns(options, neighbour);
	_exit(0);
}

/* Scan until the neighbour has had its turns. */
static void scan_beside(const struct options *options, struct result *result)
{
	struct neighbour *neighbour = mmap(NULL, sizeof(*neighbour), PROT_READ | PROT_WRITE,
					   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t pid;
	int status;

	if (neighbour == MAP_FAILED)
		fail_at("get", "memory");
	mark("scan: start");
	pid = start_neighbour(options, neighbour);
	while (!waitpid(pid, &status, WNOHANG) && !stopped)
		if (!scan_and_count(options, result)) {
			if (result->scans == MAX_SCANS)
				fail("the neighbour is not done after %u scans.", MAX_SCANS);
			fill(options, result);
		}
	mark("scan: end");
	if (stopped)
		return;
	if (!WIFEXITED(status) || WEXITSTATUS(status))
		fail("the neighbour failed.");
	printf("extents: turns=%lu turn_mean_us=%.3f turn_max_us=%.3f\n", neighbour->turn.n,
	       mean_us(&neighbour->turn), (double)neighbour->longest_ns / NSEC_PER_USEC);
}

static void measure_files(const struct options *options, struct result *result)
{
	check_room(options);
	write_files(options, result);
	drain();
	if (options->tell)
		tell_delayed(options);
	fill(options, result);
	check_entries(options, true);
	print_slab();
	if (options->neighbour) {
		scan_beside(options, result);
		return;
	}
	mark("scan: start");
	while (result->scans < options->scans && !stopped) {
		if (!scan_and_count(options, result))
			fill(options, result);
		else if (options->seek)
			seek_data(options);
	}
	mark("scan: end");
	check_entries(options, false);
	if (options->tell)
		return; /* what follows scans, too */
	drain();
	look_up_written(options, 100, &result->fill);
	look_up_written(options, 100, &result->lookup);
	if (options->verify)
		read_back(options);
}

/* --- The second form: scans beside fio. */

static pid_t start_command(const struct options *options)
{
	pid_t parent = getpid(), pid;

	fflush(stdout);
	pid = fork();
	if (pid < 0)
		fail_at("start", options->command[0]);
	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	execvp(options->command[0], options->command);
	fprintf(stderr, "extents: cannot start %s: %s\n", options->command[0], strerror(errno));
	_exit(127);
}

static void drop_caches(struct times *times)
{
	int fd = open(DROP_CACHES, O_WRONLY | O_CLOEXEC);
	uint64_t start = now_ns();

	if (fd < 0 || write(fd, "2", 1) != 1)
		fail_at("write to", DROP_CACHES);
	add_time(times, start, 1);
	close(fd);
}

static void measure_beside(const struct options *options, struct result *result)
{
	struct timespec pause = {.tv_sec = options->every_us / 1000000u,
				 .tv_nsec = options->every_us % 1000000u * NSEC_PER_USEC};
	pid_t pid = start_command(options);
	unsigned int beside = 0;
	struct entries left;
	int status;

	mark("scan: start");
	while (!waitpid(pid, &status, WNOHANG)) {
		scan_and_count(options, result);
		nanosleep(&pause, NULL);
	}
	beside = result->scans;
	left = count_entries();
	print_slab();
	if (WIFEXITED(status) && WEXITSTATUS(status))
		fail("%s ended with status %d.", options->command[0], WEXITSTATUS(status));
	if (WIFSIGNALED(status))
		fail("%s was ended by signal %d.", options->command[0], WTERMSIG(status));
	while (result->scans < options->scans && !stopped)
		if (!scan_and_count(options, result))
			break;
	mark("scan: end");
	printf("extents: beside=%u delayed_entries=%lu reclaimable_entries=%lu\n", beside,
	       left.all - left.reclaimable, left.reclaimable);
	for (unsigned int i = 0; i < options->drops && !stopped; i++)
		drop_caches(&result->drop);
}

/* --- Results and options. */

static int by_size(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static void print_result(const struct options *options, struct result *result)
{
	unsigned int n = result->scans;
	double total_us = 0;

	for (unsigned int i = 0; i < n; i++)
		total_us += (double)result->scan_ns[i] / NSEC_PER_USEC;
	qsort(result->scan_ns, n, sizeof(*result->scan_ns), by_size);
	printf("extents: nr=%u scans=%u rounds=%lu freed=%lu first_freed=%u\n", options->nr, n,
	       result->rounds, result->freed, result->first_freed);
	if (!options->command)
		printf("extents: delay_us=%.3f fill_us=%.3f lookup_us=%.3f\n",
		       mean_us(&result->delay), mean_us(&result->fill), mean_us(&result->lookup));
	if (result->drop.n)
		printf("extents: drops=%lu drop_mean_us=%.3f\n", result->drop.n,
		       mean_us(&result->drop));
	if (result->freed)
		printf("extents: us_per_freed=%.4f\n", total_us / result->freed);
	printf("extents: scan_mean_us=%.3f scan_p50_us=%.3f scan_p95_us=%.3f scan_max_us=%.3f "
	       "total_us=%.1f\n",
	       total_us / n, result->scan_ns[n / 2] / 1e3, result->scan_ns[n * 95 / 100] / 1e3,
	       result->scan_ns[n - 1] / 1e3, total_us);
}

static unsigned int parse_count(const char *name, const char *text, unsigned long least,
				unsigned long most)
{
	char *end;
	unsigned long value;

	errno = 0;
	value = strtoul(text, &end, 10);
	if (errno || *text < '0' || *text > '9' || *end || value < least || value > most) {
		fprintf(stderr, "extents: --%s must be a whole number from %lu to %lu, not `%s`\n",
			name, least, most, text);
		exit(2);
	}
	return value;
}

static void parse_options(int argc, char **argv, struct options *options)
{
	enum {
		DIR,
		FILES,
		WRITTEN,
		DELAYED,
		SCANS,
		NR,
		HOT,
		FIRST,
		VERIFY,
		TELL,
		SEEK,
		EVERY,
		DROPS,
		APART,
		NEIGHBOUR
	};
	static const struct option known[] = {
		{"dir", required_argument, NULL, DIR},
		{"files", required_argument, NULL, FILES},
		{"written", required_argument, NULL, WRITTEN},
		{"delayed", required_argument, NULL, DELAYED},
		{"scans", required_argument, NULL, SCANS},
		{"nr", required_argument, NULL, NR},
		{"hot", required_argument, NULL, HOT},
		{"written-first", required_argument, NULL, FIRST},
		{"verify", required_argument, NULL, VERIFY},
		{"tell", required_argument, NULL, TELL},
		{"seek", required_argument, NULL, SEEK},
		{"every-us", required_argument, NULL, EVERY},
		{"drops", required_argument, NULL, DROPS},
		{"apart", required_argument, NULL, APART},
		{"neighbour", required_argument, NULL, NEIGHBOUR},
		{0},
	};
	/* What each option may be, in the order of `known`. */
	static const struct {
		unsigned int least, most;
	} range[] = {
		[FILES] = {1, MAX_FILES}, [WRITTEN] = {1, 1000000},   [DELAYED] = {0, 1000000},
		[SCANS] = {1, MAX_SCANS}, [NR] = {1, ALL_ENTRIES},    [HOT] = {0, 100},
		[FIRST] = {0, 1},	  [VERIFY] = {0, 1},	      [TELL] = {0, 1},
		[SEEK] = {0, 1},	  [EVERY] = {1, 10000000},    [DROPS] = {0, 1000},
		[APART] = {0, 1},	  [NEIGHBOUR] = {0, 1000000},
	};
	unsigned int value[NEIGHBOUR + 1] = {[FILES] = 4,   [WRITTEN] = 3000, [DELAYED] = 12000,
					     [SCANS] = 600, [NR] = 128,	      [EVERY] = 1000};
	int option;

	while ((option = getopt_long(argc, argv, "+", known, NULL)) != -1) {
		if (option == DIR)
			options->dir = optarg;
		else if (option > DIR && option <= NEIGHBOUR)
			value[option] = parse_count(known[option].name, optarg, range[option].least,
						    range[option].most);
		else
			exit(2);
	}
	if (optind < argc)
		options->command = argv + optind;
	options->files = value[FILES];
	options->written = value[WRITTEN];
	options->delayed = value[DELAYED];
	options->scans = value[SCANS];
	options->nr = value[NR];
	options->hot = value[HOT];
	options->written_first = value[FIRST];
	options->verify = value[VERIFY];
	options->tell = value[TELL];
	options->seek = value[SEEK];
	options->every_us = value[EVERY];
	options->drops = value[DROPS];
	options->neighbour = value[NEIGHBOUR];
	options->apart = value[APART];
	if (options->apart && (options->seek || options->written <= 4)) {
		fputs("extents: --apart goes without --seek and with more than 4 written blocks\n",
		      stderr);
		exit(2);
	}
	if (options->seek && (!options->delayed || options->written_first)) {
		fputs("extents: --seek needs delayed blocks, at the left end\n", stderr);
		exit(2);
	}
}

static void on_term(int signal)
{
	(void)signal;
	stopped = 1;
}

int main(int argc, char **argv)
{
	struct options options = {.dir = "/scratch"};
	struct result result = {0};

	parse_options(argc, argv, &options);
	result.scan_ns = calloc(MAX_SCANS, sizeof(*result.scan_ns));
	if (!result.scan_ns)
		fail_at("get", "memory");
	signal(SIGTERM, on_term);
	find_shrinker(options.dir);
	merging = neighbours_merge(&options);
	if (options.command)
		measure_beside(&options, &result);
	else
		measure_files(&options, &result);
	if (!result.scans)
		fail("there was no scan: stopped too early, or nothing could be freed.");
	print_result(&options, &result);
	return stopped ? 1 : 0;
}
