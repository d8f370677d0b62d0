// SPDX-License-Identifier: GPL-2.0-or-later
/* Output tables, as columns of numbers. */
#include <stdlib.h>
#include <string.h>

#include "reduce.h"

#define ALIGNED(bytes) (((bytes) + 7) / 8 * 8)

/* Double the space of an array. NULL if memory is lacking; the array is then unchanged. */
void *more(void *held, long *room, unsigned long size)
{
	long want = *room ? *room * 2 : 16;
	void *grown = realloc(held, want * size);

	if (grown)
		*room = want;
	return grown;
}

/* Append a row to a table, to be filled with put(); NULL if memory is lacking. */
struct table *append(struct table *table)
{
	long room = table->room;
	void *grown;
	int c;

	if (table->rows == table->room) {
		for (c = 0; c < table->ncolumns; c++) {
			room = table->room;
			grown = more(table->cells[c], &room, table->width[c]);
			if (!grown)
				return NULL;
			table->cells[c] = grown;
		}
		table->room = room;
	}
	table->rows++;
	return table;
}

struct table *row_of(struct reduce *r, int name)
{
	return append(&r->tables[name]);
}

int put_span(struct reduce *r, int name, double t0, double t1, int row, int kind, int cpu,
	     double arg, uint32_t number)
{
	struct table *table = row_of(r, name);

	if (!table)
		return -1;
	put(table, 0, double, t0);
	put(table, 1, double, t1);
	put(table, 2, int32_t, row);
	put(table, 3, uint8_t, kind);
	put(table, 4, int16_t, cpu);
	put(table, 5, double, arg);
	put(table, 6, uint32_t, number);
	return 0;
}

int emit(struct reduce *r, int64_t t0, int64_t t1, int row, int kind, int cpu, double arg,
	 uint32_t number)
{
	if (!r->began || t1 <= r->origin || t1 == t0)
		return 0;
	r->counts[kind]++;
	return put_span(r, SPANS, t0 > r->origin ? t0 - r->origin : 0, t1 - r->origin, row, kind,
			cpu, arg, number);
}

/* Return a table by its number; the tables of metrics follow those of enum table_name. */
static const struct table *table_of(const struct reduce *r, int number)
{
	return number < NTABLES ? &r->tables[number] : &r->rows[number - NTABLES];
}

long reduce_table(const struct reduce *r, int number)
{
	return table_of(r, number)->rows;
}

/*
 * Return a copy of a table's columns, one after the other, each at a multiple of
 * 8 bytes. It is valid until the next call. NULL if memory is lacking.
 */
const void *reduce_copy(struct reduce *r, int number)
{
	const struct table *table = table_of(r, number);
	long bytes = 0;
	void *grown;
	int c;

	for (c = 0; c < table->ncolumns; c++)
		bytes += ALIGNED(table->rows * table->width[c]);
	if (bytes > r->copy_room) {
		grown = realloc(r->copy, bytes);
		if (!grown)
			return NULL;
		r->copy = grown;
		r->copy_room = bytes;
	}
	for (bytes = c = 0; c < table->ncolumns; c++) {
		memcpy(r->copy + bytes, table->cells[c], table->rows * table->width[c]);
		bytes += ALIGNED(table->rows * table->width[c]);
	}
	return r->copy;
}

void reduce_clear(struct reduce *r, int table)
{
	r->tables[table].rows = 0;
}

const int64_t *reduce_counts(const struct reduce *r)
{
	return r->counts;
}

int64_t reduce_cycles(const struct reduce *r)
{
	return r->cycles;
}
