// SPDX-License-Identifier: GPL-2.0-or-later
/* Output tables, as columns of numbers. */
#include <stdlib.h>

#include "reduce.h"

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

long reduce_table(const struct reduce *r, int table)
{
	return r->tables[table].rows;
}

const void *reduce_column(const struct reduce *r, int table, int column)
{
	return r->tables[table].cells[column];
}

/* Return the number of rows that a metric has picked, and one of their columns. */
long reduce_rows(const struct reduce *r, int rows)
{
	return r->rows[rows].rows;
}

const void *reduce_cells(const struct reduce *r, int rows, int column)
{
	return r->rows[rows].cells[column];
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
