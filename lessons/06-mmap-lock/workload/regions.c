// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * regions - N threads touch new pages, one thread changes the protection of a region.
 *
 *	regions --faulters N --pages P --rounds R --change-pages C --gap-us G --region 0|1|2
 *
 * Each faulting thread touches P pages, one page fault each, and gives them back with
 * MADV_DONTNEED; it does this R times. The writer calls mprotect() on its region of C pages in
 * turn with and without PROT_EXEC, as a JIT compiler does, and sleeps for G us between two calls.
 * With C = 0 there is no writer.
 *
 *	0, own	each thread touches pages of a region of its own
 *	1, same	each thread touches pages of the writer's region, behind the C pages
 *	2, fresh	each thread maps regions of 8 pages anew before each round
 *
 * A page without access lies between two regions, or the kernel would merge their VMAs. Each
 * region, except a fresh one, has an anon_vma before the measured time starts.
 */
#define _GNU_SOURCE
#include <getopt.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#define PAGE	     4096ul
#define MAX_FAULTERS 64
#define CHUNK	     8ul   /* pages of a fresh region */
#define SETTLE_US    20000 /* all threads sleep at the barrier by then */

enum place { OWN, SAME, FRESH };

struct options {
	unsigned int faulters;
	unsigned int pages;
	unsigned int rounds;
	unsigned int change_pages;
	unsigned int gap_us;
	enum place place;
};

struct faulter {
	pthread_t thread;
	unsigned int id;
	char *pages;
	uint64_t total_ns;
	uint64_t longest_ns;
};

static struct options options = {2, 64, 20, 2048, 1000, OWN};
static pthread_barrier_t barrier;
static atomic_uint working;
static char *changed;
static uint64_t changes, change_ns;

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ull + now.tv_nsec;
}

/* Write a text to the kernel's trace. Without tracing, do nothing. */
static void mark(const char *text)
{
	FILE *marker = fopen("/sys/kernel/tracing/trace_marker", "w");

	if (marker) {
		fputs(text, marker);
		fclose(marker);
	}
}

static void die(const char *what)
{
	perror(what);
	exit(1);
}

/* Map a region between two pages without access. */
static char *map_region(size_t pages)
{
	char *area = mmap(NULL, (pages + 2) * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (area == MAP_FAILED || mprotect(area + PAGE, pages * PAGE, PROT_READ | PROT_WRITE))
		die("mmap");
	return area + PAGE;
}

/* Where a page of a thread is: behind each fresh region lies a page without access. */
static size_t offset_of(size_t page)
{
	return (options.place == FRESH ? page + page / CHUNK : page) * PAGE;
}

static void map_chunks(char *pages)
{
	for (size_t page = 0; page < options.pages; page += CHUNK) {
		size_t left = options.pages - page;

		if (mmap(pages + offset_of(page), (left < CHUNK ? left : CHUNK) * PAGE,
			 PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
			 0) == MAP_FAILED)
			die("mmap");
	}
}

static void *run_faulter(void *context)
{
	struct faulter *self = context;
	const size_t bytes = options.pages * PAGE;
	char name[16];

	snprintf(name, sizeof(name), "mm-fault-%u", self->id);
	prctl(PR_SET_NAME, name);
	pthread_barrier_wait(&barrier);
	for (unsigned int round = 0; round < options.rounds; round++) {
		if (options.place == FRESH)
			map_chunks(self->pages);
		for (unsigned int page = 0; page < options.pages; page++) {
			uint64_t began = now_ns(), took;

			*(volatile char *)(self->pages + offset_of(page)) = 1;
			took = now_ns() - began;
			self->total_ns += took;
			if (took > self->longest_ns)
				self->longest_ns = took;
		}
		if (options.place != FRESH && madvise(self->pages, bytes, MADV_DONTNEED))
			die("madvise");
	}
	atomic_fetch_sub(&working, 1);
	return NULL;
}

static void *run_writer(void *context)
{
	const struct timespec gap = {.tv_sec = options.gap_us / 1000000,
				     .tv_nsec = options.gap_us % 1000000 * 1000l};
	size_t bytes = options.change_pages * PAGE;
	int executable = PROT_EXEC;

	if (options.place == SAME)
		bytes += options.faulters * options.pages * PAGE;
	prctl(PR_SET_NAME, "mm-writer");
	pthread_barrier_wait(&barrier);
	while (atomic_load(&working)) {
		uint64_t began = now_ns();

		if (mprotect(changed, bytes, PROT_READ | PROT_WRITE | executable))
			die("mprotect");
		change_ns += now_ns() - began;
		changes++;
		executable ^= PROT_EXEC;
		nanosleep(&gap, NULL);
	}
	return context;
}

static bool read_options(int argc, char **argv)
{
	static const struct option words[] = {{"faulters", 1, NULL, 'f'},
					      {"pages", 1, NULL, 'p'},
					      {"rounds", 1, NULL, 'r'},
					      {"change-pages", 1, NULL, 'c'},
					      {"gap-us", 1, NULL, 'g'},
					      {"region", 1, NULL, 'w'},
					      {0}};
	int word;

	while ((word = getopt_long(argc, argv, "", words, NULL)) != -1) {
		if (word == 'f')
			options.faulters = strtoul(optarg, NULL, 10);
		else if (word == 'p')
			options.pages = strtoul(optarg, NULL, 10);
		else if (word == 'r')
			options.rounds = strtoul(optarg, NULL, 10);
		else if (word == 'c')
			options.change_pages = strtoul(optarg, NULL, 10);
		else if (word == 'g')
			options.gap_us = strtoul(optarg, NULL, 10);
		else if (word == 'w')
			options.place = strtoul(optarg, NULL, 10);
		else
			return false;
	}
	return options.faulters >= 1 && options.faulters <= MAX_FAULTERS && options.pages >= 1 &&
	       options.rounds >= 1 && options.place <= FRESH;
}

int main(int argc, char **argv)
{
	static struct faulter faulters[MAX_FAULTERS];
	uint64_t began, took, total_ns = 0, longest_ns = 0, faults;
	pthread_t writer;
	size_t behind;
	bool writes;

	if (!read_options(argc, argv))
		return 2;
	writes = options.change_pages > 0;
	behind = options.place == SAME ? options.faulters * options.pages : 0;
	changed = map_region(options.change_pages + behind + 1);
	memset(changed, 1, (options.change_pages + 1) * PAGE);
	atomic_store(&working, options.faulters);
	pthread_barrier_init(&barrier, NULL, options.faulters + writes + 1);
	for (unsigned int id = 0; id < options.faulters; id++) {
		struct faulter *one = &faulters[id];

		one->id = id;
		if (options.place == SAME) {
			one->pages = changed + (options.change_pages + id * options.pages) * PAGE;
		} else {
			one->pages = map_region(options.pages + options.pages / CHUNK + 1);
			*one->pages = 1;
			if (madvise(one->pages, PAGE, MADV_DONTNEED) ||
			    (options.place == FRESH &&
			     mprotect(one->pages, offset_of(options.pages) + PAGE, PROT_NONE)))
				die("madvise");
		}
		if (pthread_create(&one->thread, NULL, run_faulter, one))
			die("pthread_create");
	}
	if (writes && pthread_create(&writer, NULL, run_writer, NULL))
		die("pthread_create");
	usleep(SETTLE_US);
	mark("regions: start");
	began = now_ns();
	pthread_barrier_wait(&barrier);
	for (unsigned int id = 0; id < options.faulters; id++) {
		pthread_join(faulters[id].thread, NULL);
		total_ns += faulters[id].total_ns;
		if (faulters[id].longest_ns > longest_ns)
			longest_ns = faulters[id].longest_ns;
	}
	took = now_ns() - began;
	mark("regions: end");
	if (writes)
		pthread_join(writer, NULL);
	faults = (uint64_t)options.faulters * options.pages * options.rounds;
	printf("regions: faults=%llu per_s=%.1f fault_us=%.2f longest_us=%.2f changes=%llu "
	       "change_us=%.2f\n",
	       (unsigned long long)faults, faults * 1e9 / took, total_ns / 1e3 / faults,
	       longest_ns / 1e3, (unsigned long long)changes,
	       changes ? change_ns / 1e3 / changes : 0.0);
	return 0;
}
