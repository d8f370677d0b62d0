// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Stage 5: decode ring-buffer pages into columns.
 *
 * tep_parse_event() of libtraceevent parses formats, and pages.h walks over the
 * records, whose fields this file copies into columns. Recordings are untrusted,
 * but the library trusts its input, so bounds are checked first. Python calls
 * these functions through ctypes, without the interpreter lock.
 *
 * A struct duet is not thread-safe.
 */
#define _GNU_SOURCE /* memmem */
#include <event-parse.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pages.h"

#define MAX_TABLES 256
#define MAX_FIELDS 48
#define TEXT_WIDTH 256

enum kind { KIND_INT = 0, KIND_CHARS = 1, KIND_STRING = 2, KIND_TEXT = 3, KIND_LOC = 4 };

struct field {
	char name[64];
	int kind;
	int offset;
	int size; /* bytes in the record */
	int is_signed;
	int width; /* bytes in the column */
	char *cells;
};

struct table {
	int id;
	int pid_offset;
	int need; /* smallest size of a record, in bytes */
	long rows;
	long room;
	uint64_t *ts;
	int64_t *seq;
	int32_t *pid;
	int nfields;
	struct field fields[MAX_FIELDS];
};

struct loss {
	uint64_t t0;
	uint64_t t1;
	int64_t count; /* -1: not counted by the kernel */
};

struct duet {
	int page_bytes;
	struct tep_handle *tep;
	int ntables;
	struct table *tables[MAX_TABLES];
	short by_id[MAX_IDS];
	uint64_t unknown[MAX_IDS];
	int64_t seq[MAX_CPUS];
	uint64_t last_ts[MAX_CPUS];
	long nlosses;
	long losses_room;
	struct loss *losses;
	char error[ERROR_BYTES];
};

static int fail(struct duet *d, const char *form, ...)
{
	va_list args;

	va_start(args, form);
	vsnprintf(d->error, sizeof(d->error), form, args);
	va_end(args);
	return -1;
}

void duet_free(struct duet *d);

struct duet *duet_new(int page_bytes)
{
	struct duet *d = calloc(1, sizeof(*d));

	if (!d)
		return NULL;
	d->page_bytes = page_bytes;
	d->tep = tep_alloc();
	if (!d->tep) {
		duet_free(d);
		return NULL;
	}
	tep_set_loglevel(TEP_LOG_NONE);
	tep_set_long_size(d->tep, 8);
	tep_set_page_size(d->tep, page_bytes);
	tep_set_file_bigendian(d->tep, TEP_LITTLE_ENDIAN);
	memset(d->by_id, 0xff, sizeof(d->by_id));
	return d;
}

void duet_free(struct duet *d)
{
	int t, f;

	if (!d)
		return;
	for (t = 0; t < d->ntables; t++) {
		for (f = 0; f < d->tables[t]->nfields; f++)
			free(d->tables[t]->fields[f].cells);
		free(d->tables[t]->ts);
		free(d->tables[t]->seq);
		free(d->tables[t]->pid);
		free(d->tables[t]);
	}
	if (d->tep)
		tep_free(d->tep);
	free(d->losses);
	free(d);
}

const char *duet_error(const struct duet *d)
{
	return d->error;
}

/*
 * header_page contains the offsets of a page's length and data. Only the layout
 * that pages.h reads is accepted: 64-bit commit, data at offset 16.
 */
int duet_header_page(struct duet *d, char *text, long bytes)
{
	int begin;

	if (tep_parse_header_page(d->tep, text, bytes, 8))
		return fail(d, "header_page could not be parsed");
	begin = tep_get_header_page_size(d->tep);
	if (begin != 8)
		return fail(d, "the length field of a page should have 8 bytes, but has %d", begin);
	return 0;
}

static int add_field(struct duet *d, struct table *table, struct tep_format_field *from)
{
	struct field *field;
	int is_pointer = from->flags & TEP_FIELD_IS_POINTER;
	int is_array = from->flags & TEP_FIELD_IS_ARRAY;
	int is_string = from->flags & TEP_FIELD_IS_STRING;
	int is_dynamic = from->flags & TEP_FIELD_IS_DYNAMIC;
	int is_relative = from->flags & TEP_FIELD_IS_RELATIVE;

	if (!strncmp(from->name, "__probe_", 8))
		return 0;
	if (table->nfields == MAX_FIELDS)
		return fail(d, "an event has more than %d fields", MAX_FIELDS);
	field = &table->fields[table->nfields];
	snprintf(field->name, sizeof(field->name), "%s", from->name ? from->name : "");
	field->offset = from->offset;
	field->size = from->size;
	field->is_signed = !!(from->flags & TEP_FIELD_IS_SIGNED);
	if (is_dynamic && is_string && !is_relative && from->size == 4) {
		field->kind = KIND_LOC;
		field->width = TEXT_WIDTH;
	} else if (is_array && is_string && !is_dynamic && !from->size) {
		field->kind = KIND_TEXT;
		field->width = TEXT_WIDTH;
	} else if (is_array && is_string && !is_dynamic) {
		field->kind = KIND_CHARS;
		field->width = from->size < TEXT_WIDTH ? from->size : TEXT_WIDTH;
	} else if (is_array || is_dynamic) {
		return 0; /* arrays of numbers are left out: no lesson uses them */
	} else if (is_pointer && strstr(from->type, "char") && from->size == 8) {
		field->kind = KIND_STRING;
		field->width = 8;
	} else if (from->size == 1 || from->size == 2 || from->size == 4 || from->size == 8) {
		field->kind = KIND_INT;
		field->width = 8;
	} else {
		return 0;
	}
	if (field->offset < 0 || field->offset > d->page_bytes || field->size < 0 ||
	    field->size > d->page_bytes)
		return fail(d, "field %s is outside a page", field->name);
	if (field->offset + field->size > table->need)
		table->need = field->offset + field->size;
	table->nfields++;
	return 0;
}

/*
 * Return whether a format consists of lines of ASCII text with closed brackets. At an unclosed
 * bracket libtraceevent 1.7 searches past the last token, and then dereferences NULL.
 */
static bool is_text(const char *text, long bytes)
{
	bool open = false;
	long i;

	for (i = 0; i < bytes; i++) {
		unsigned char c = text[i];

		if ((c < ' ' && c != '\n' && c != '\t') || c > '~')
			return false;
		if (open && (c == '\n' || c == ';'))
			return false;
		if (c == '[' || c == ']')
			open = c == '[';
	}
	return !open;
}

/*
 * Parse a format file without its "print fmt" line. No column needs this line, and
 * libtraceevent parses the line recursively, so 64 KiB of "- - - " would overflow the stack.
 */
static int parse_format(struct duet *d, const char *group, const char *text, long bytes)
{
	static const char print[] = "\nprint fmt:", none[] = "\nprint fmt: \"\"\n";
	const char *cut = memmem(text, bytes, print, sizeof(print) - 1);
	long length = cut ? cut - text : bytes;
	char *plain;

	if (!is_text(text, length))
		return fail(d, "the format of %s is not the text of a format file", group);
	plain = malloc(length + sizeof(none));
	if (!plain)
		return fail(d, "out of memory");
	memcpy(plain, text, length);
	memcpy(plain + length, none, sizeof(none));
	/* the return value is ignored, because the caller checks that the event exists */
	tep_parse_event(d->tep, plain, length + sizeof(none) - 1, group);
	free(plain);
	return 0;
}

/* Add an event type; return the number of the event's table, or -1. */
int duet_add_event(struct duet *d, const char *group, const char *name, const char *text,
		   long bytes)
{
	struct tep_event *event;
	struct tep_format_field *from;
	struct table *table;

	if (d->ntables == MAX_TABLES)
		return fail(d, "there are more than %d events", MAX_TABLES);
	if (parse_format(d, group, text, bytes))
		return -1;
	event = tep_find_event_by_name(d->tep, group, name);
	if (!event)
		return fail(d, "the format of %s/%s could not be parsed", group, name);
	if (event->id < 0 || event->id >= MAX_IDS || d->by_id[event->id] >= 0)
		return fail(d, "event %s/%s has the invalid or duplicate id %d", group, name,
			    event->id);
	table = calloc(1, sizeof(*table));
	if (!table)
		return fail(d, "out of memory");
	d->tables[d->ntables] = table; /* from here on owned by d */
	table->id = event->id;
	table->pid_offset = -1;
	for (from = event->format.common_fields; from; from = from->next) {
		if (!from->name) { /* libtraceevent accepts "field: ;" */
			free(table);
			return fail(d, "%s/%s has a field without a name", group, name);
		}
		if (!strcmp(from->name, "common_pid") && from->size == 4)
			table->pid_offset = from->offset;
		if (!strcmp(from->name, "common_type") && (from->offset || from->size != 2)) {
			free(table);
			return fail(d, "common_type of %s/%s is not at 0", group, name);
		}
	}
	if (table->pid_offset < 0 || table->pid_offset > d->page_bytes) {
		free(table);
		return fail(d, "event %s/%s has no common_pid", group, name);
	}
	table->need = table->pid_offset + 4;
	for (from = event->format.fields; from; from = from->next) {
		if (add_field(d, table, from)) {
			free(table);
			return -1;
		}
	}
	d->by_id[event->id] = d->ntables;
	return d->ntables++;
}

int duet_event_id(const struct duet *d, int t)
{
	return d->tables[t]->id;
}

int duet_nfields(const struct duet *d, int t)
{
	return d->tables[t]->nfields;
}

/* Return the offset of common_pid in the event's records. */
int duet_pid_offset(const struct duet *d, int t)
{
	return d->tables[t]->pid_offset;
}

/* Return the smallest size of the event's records, in bytes. */
int duet_need(const struct duet *d, int t)
{
	return d->tables[t]->need;
}

const char *duet_field(const struct duet *d, int t, int f, int *kind, int *width, int *is_signed,
		       int *size, int *offset)
{
	const struct field *field = &d->tables[t]->fields[f];

	*kind = field->kind;
	*width = field->width;
	*is_signed = field->is_signed;
	*size = field->size;
	*offset = field->offset;
	return field->name;
}

static int grow(struct duet *d, struct table *table)
{
	long room = table->room ? table->room * 2 : 512;
	void *more;
	int f;

	more = realloc(table->ts, room * sizeof(*table->ts));
	if (!more)
		return fail(d, "out of memory");
	table->ts = more;
	more = realloc(table->seq, room * sizeof(*table->seq));
	if (!more)
		return fail(d, "out of memory");
	table->seq = more;
	more = realloc(table->pid, room * sizeof(*table->pid));
	if (!more)
		return fail(d, "out of memory");
	table->pid = more;
	for (f = 0; f < table->nfields; f++) {
		more = realloc(table->fields[f].cells, room * table->fields[f].width);
		if (!more)
			return fail(d, "out of memory");
		table->fields[f].cells = more;
	}
	table->room = room;
	return 0;
}

static void copy_text(char *cell, const unsigned char *from, int bytes, int width)
{
	int length = strnlen((const char *)from, bytes < width ? bytes : width);

	memcpy(cell, from, length);
	memset(cell + length, 0, width - length);
}

static void copy_int(const struct field *field, const unsigned char *from, int64_t *cell)
{
	int16_t s16;
	uint16_t u16;
	int32_t s32;

	switch (field->size) {
	case 8:
		memcpy(cell, from, 8);
		break;
	case 4:
		memcpy(&s32, from, 4);
		*cell = field->is_signed ? s32 : (int64_t)(uint32_t)s32;
		break;
	case 2:
		memcpy(&u16, from, 2);
		memcpy(&s16, from, 2);
		*cell = field->is_signed ? s16 : u16;
		break;
	default:
		*cell = field->is_signed ? (int8_t)*from : *from;
	}
}

static int copy_record(struct duet *d, struct table *table, const unsigned char *record, int bytes)
{
	long row = table->rows;
	uint32_t loc;
	int f;

	for (f = 0; f < table->nfields; f++) {
		struct field *field = &table->fields[f];
		const unsigned char *from = record + field->offset;
		char *cell = field->cells + row * field->width;

		switch (field->kind) {
		case KIND_CHARS:
			copy_text(cell, from, field->size, field->width);
			break;
		case KIND_TEXT:
			copy_text(cell, from, bytes - field->offset, field->width);
			break;
		case KIND_LOC:
			loc = u32(from);
			if ((int)((loc & 0xffff) + (loc >> 16)) > bytes)
				return fail(d, "text %s runs past its event", field->name);
			copy_text(cell, record + (loc & 0xffff), loc >> 16, field->width);
			break;
		default:
			copy_int(field, from, (int64_t *)cell);
		}
	}
	return 0;
}

static int note_loss(struct duet *d, uint64_t t0, uint64_t t1, int64_t count)
{
	if (d->nlosses == d->losses_room) {
		long room = d->losses_room ? d->losses_room * 2 : 16;
		void *more = realloc(d->losses, room * sizeof(*d->losses));

		if (!more)
			return fail(d, "out of memory");
		d->losses = more;
		d->losses_room = room;
	}
	d->losses[d->nlosses++] = (struct loss){t0 ? t0 : t1, t1, count};
	return 0;
}

static int decode_record(struct duet *d, const struct page *page, const unsigned char *record,
			 int bytes)
{
	const int cpu = page->cpu, id = page_event(page, record, bytes);
	struct table *table;

	if (id < 0)
		return -1;
	d->last_ts[cpu] = page->ts;
	if (d->by_id[id] < 0) {
		d->unknown[id]++;
		d->seq[cpu]++;
		return 0;
	}
	table = d->tables[d->by_id[id]];
	if (page_check(page, id, bytes, table->need))
		return -1;
	if (table->rows == table->room && grow(d, table))
		return -1;
	if (copy_record(d, table, record, bytes))
		return -1;
	table->ts[table->rows] = page->ts;
	table->seq[table->rows] = d->seq[cpu]++;
	memcpy(&table->pid[table->rows], record + table->pid_offset, 4);
	table->rows++;
	return 0;
}

static int decode_page(struct duet *d, int cpu, const unsigned char *bytes, long number)
{
	struct page page = {.cpu = cpu, .number = number, .error = d->error};
	const unsigned char *record;
	int size, found;

	if (page_open(&page, bytes, d->page_bytes))
		return -1;
	found = page_next(&page, &record, &size);
	if (page.missed &&
	    note_loss(d, d->last_ts[cpu], found > 0 ? page.ts : u64(bytes), page.missed))
		return -1;
	for (; found > 0; found = page_next(&page, &record, &size))
		if (decode_record(d, &page, record, size))
			return -1;
	return found;
}

/* Decode complete pages of one CPU and append rows to the tables; return 0, or -1 on error. */
int duet_decode(struct duet *d, int cpu, const unsigned char *pages, long count)
{
	long p;

	if (cpu < 0 || cpu >= MAX_CPUS)
		return fail(d, "CPU %d is not from 0 to %d", cpu, MAX_CPUS - 1);
	for (p = 0; p < count; p++) {
		if (decode_page(d, cpu, pages + p * d->page_bytes, p))
			return -1;
	}
	return 0;
}

long duet_rows(const struct duet *d, int t)
{
	return d->tables[t]->rows;
}

/* Return a column: ts for -3, seq for -2, pid for -1, otherwise the field with this number. */
const void *duet_column(const struct duet *d, int t, int column)
{
	const struct table *table = d->tables[t];

	switch (column) {
	case -3:
		return table->ts;
	case -2:
		return table->seq;
	case -1:
		return table->pid;
	default:
		return table->fields[column].cells;
	}
}

long duet_losses(const struct duet *d, const struct loss **losses)
{
	*losses = d->losses;
	return d->nlosses;
}

/* Return, by id, the total number of events whose id has no format. */
const uint64_t *duet_unknown(const struct duet *d)
{
	return d->unknown;
}

/* Drop rows and losses after Python has copied them. Times and sequence numbers are kept. */
void duet_clear(struct duet *d)
{
	int t;

	for (t = 0; t < d->ntables; t++)
		d->tables[t]->rows = 0;
	d->nlosses = 0;
}
