// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * libFuzzer target: events in any order through session/loop, with the programs of real lessons.
 *
 * Input: u8 program, then events of 8 bytes: i8 time step (its square, with its sign), u8 CPU,
 * u8 code, u8 thread, u8 a, u8 b, u16 c. Rows and roles are assigned as in reduce.py.
 */
#include <stdlib.h>
#include <string.h>

#include "programs.h"
#include "reduce.h"

#define EVENT	    8
#define MOST_EVENTS 512
#define MOST_ROWS   4096

static int answer(struct reduce *r, int why, int *rows)
{
	int64_t about = reduce_about(r, why), tid;
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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int64_t columns[7][MOST_EVENTS], ts = 1 << 20;
	struct reduce *r;
	int why, rows = 0;
	long n = 0;

	if (!size)
		return 0;
	const struct program *program = &programs[*data % NPROGRAMS];
	r = reduce_new(program->words, program->n);
	if (!r)
		abort();
	for (data++, size--; size >= EVENT && n < MOST_EVENTS; size -= EVENT, data += EVENT, n++) {
		int step = (int8_t)data[0];
		uint16_t c;

		memcpy(&c, data + 6, 2);
		ts += step == -128 ? -((int64_t)1 << 62) : step * abs(step);
		columns[0][n] = ts;
		columns[1][n] = data[1];
		columns[2][n] = data[2] % r->ncodes;
		columns[3][n] = data[3];
		columns[4][n] = (int8_t)data[4];
		columns[5][n] = (int8_t)data[5];
		columns[6][n] = c;
		if (data[3] < 64)
			reduce_know(r, data[3], data[3] % 4);
	}
	while ((why = reduce_run(r, n, columns[0], columns[1], columns[2], columns[3], columns[4],
				 columns[5], columns[6]))) {
		if (why < 0)
			abort();
		answer(r, why, &rows);
	}
	if (reduce_still_open(r, 1e18))
		abort();
	for (int t = 0; t < NTABLES; t++)
		for (int c = 0; c < r->tables[t].ncolumns; c++) {
			const char *cells = reduce_column(r, t, c);
			long bytes = reduce_table(r, t) * r->tables[t].width[c];
			volatile char sink = 0;

			for (long i = 0; i < bytes; i++)
				sink += cells[i];
		}
	reduce_free(r);
	return 0;
}
