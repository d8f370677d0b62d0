// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * libFuzzer target: pages and events in any order through session/loop, with the programs of real
 * lessons and the formats of a real guest.
 *
 * Input: u8 program, with the highest bit for pages of two CPUs, alternately; else events of
 * 8 bytes: i8 time step (its square, with its sign), u8 CPU, u8 code, u8 thread, u8 a, u8 b,
 * u16 c. Rows and roles are assigned as in reduce.py.
 */
#include <stdlib.h>
#include <string.h>

#include "programs.h"
#include "reduce.h"

#define EVENT	    8
#define MOST_EVENTS 512
#define MOST_ROWS   4096
#define AS_PAGES    128

static int answer(struct reduce *r, int why, int *rows)
{
	int64_t about = reduce_about(r), tid;
	int gone, row, track;

	switch (why) {
	case START:
		reduce_start(r, about);
		for (long n = 0; reduce_thread(r, n, &tid, &gone, &row); n++)
			if (!gone && row < 0)
				reduce_place(r, tid, (*rows)++);
		for (track = 0; track < r->ntracks; track++)
			reduce_place_track(r, track, (*rows)++);
		break;
	case PLACE:
		reduce_place(r, about, (*rows)++);
		break;
	}
	if (*rows > MOST_ROWS)
		abort(); /* more rows than events: a row was requested twice */
	return 0;
}

static void feed_pages(struct reduce *r, const uint8_t *data, size_t size)
{
	const int64_t marks[] = {0, 1000};
	int cpu = 0;

	for (; size >= PAGE_BYTES; size -= PAGE_BYTES, data += PAGE_BYTES, cpu ^= 1) {
		unsigned char *page =
			malloc(PAGE_BYTES); /* exact size: the sanitizer sees overreads */

		memcpy(page, data, PAGE_BYTES);
		if (reduce_feed(r, cpu, page, 1, 1, marks))
			size = 0;
		free(page);
		if (!size)
			return;
	}
}

static void feed_events(struct reduce *r, const uint8_t *data, size_t size)
{
	int64_t ts = 1 << 20;
	long n;

	r->ncpus = 4;
	for (n = 0; size >= EVENT && n < MOST_EVENTS; size -= EVENT, data += EVENT, n++) {
		int step = (int8_t)data[0], cpu = data[1] % r->ncpus;
		struct event *event;
		uint16_t c;

		memcpy(&c, data + 6, 2);
		ts += step == -128 ? -((int64_t)1 << 62) : step * abs(step);
		event = queue_add(&r->cpus[cpu].events, ts, n);
		if (!event)
			abort();
		event->cpu = cpu;
		event->code = data[2] % r->ncodes;
		event->pid = data[3];
		event->args[0] = (int8_t)data[4];
		event->args[1] = (int8_t)data[5];
		event->args[2] = c;
		if (data[3] < 64)
			reduce_know(r, data[3], data[3] % 4);
	}
}

static unsigned char touch(const struct table *table)
{
	unsigned char sum = 0;
	long i;
	int c;

	for (c = 0; c < table->ncolumns; c++)
		for (i = 0; i < table->rows * table->width[c]; i++)
			sum += table->cells[c][i];
	return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static volatile unsigned char sink;
	const struct program *program;
	struct reduce *r;
	int why, rows = 0, t;
	long limit, ripe;

	if (!size)
		return 0;
	program = &programs[(*data & ~AS_PAGES) % NPROGRAMS];
	r = reduce_new(program->words, program->n);
	if (!r)
		abort();
	(*data & AS_PAGES ? feed_pages : feed_events)(r, data + 1, size - 1);
	while ((ripe = reduce_ripen(r, INT64_MAX)) > 0) {
		limit = 100;
		while ((why = reduce_run(r, &limit))) {
			if (why < 0)
				abort();
			answer(r, why, &rows);
		}
		if (r->ripe > ripe - 1)
			abort(); /* a step took nothing */
	}
	if (ripe < 0 || reduce_points(r, INT64_MAX) || reduce_still_open(r, 1e18))
		abort();
	for (t = 0; t < NTABLES; t++)
		sink += touch(&r->tables[t]);
	for (t = 0; t < r->nrows; t++)
		sink += touch(&r->rows[t]);
	reduce_free(r);
	return 0;
}
