// SPDX-License-Identifier: GPL-2.0-or-later
/* From the pages of one CPU to queued events, points, rows of metrics and printed texts. */
#include <fnmatch.h>
#include <stdlib.h>

#include "reduce.h"

static int no_memory(struct reduce *r)
{
	snprintf(r->error, sizeof(r->error), "out of memory");
	return -1;
}

static int64_t string_id(const struct reduce *r, uint64_t address)
{
	long low = 0, high = r->nstrings;

	while (low < high) {
		long middle = low + (high - low) / 2;

		if (r->addresses[middle] < address)
			low = middle + 1;
		else
			high = middle;
	}
	return low < r->nstrings && r->addresses[low] == address ? r->string_ids[low] : -1;
}

static int64_t number(const struct reduce *r, const struct read *read, const unsigned char *record)
{
	const unsigned char *from = record + read->offset;
	uint32_t word;
	uint16_t half;

	if (read->kind == READ_NOTHING)
		return 0;
	switch (read->size) {
	case 8:
		return read->kind == READ_STRING ? string_id(r, u64(from)) : (int64_t)u64(from);
	case 4:
		word = u32(from);
		return read->is_signed ? (int32_t)word : (int64_t)word;
	case 2:
		memcpy(&half, from, sizeof(half));
		return read->is_signed ? (int16_t)half : half;
	default:
		return read->is_signed ? (int8_t)*from : *from;
	}
}

/* Return the number of a thread's name, which is padded with zeros; -1 if memory is lacking. */
static long name_of(struct reduce *r, const unsigned char *from, int bytes)
{
	char text[NAME_BYTES + 1] = "";
	uint64_t key[2];
	long found, had = r->known.n;
	void *grown;

	memcpy(text, from, strnlen((const char *)from, bytes < NAME_BYTES ? bytes : NAME_BYTES));
	memcpy(key, text, sizeof(key));
	found = set_add(&r->known, key[0], key[1]);
	if (r->known.n == had)
		return found;
	if (r->nnames == r->names_room) {
		grown = more(r->names, &r->names_room, sizeof(*r->names));
		if (!grown)
			return -1;
		r->names = grown;
	}
	memcpy(r->names[r->nnames].text, text, sizeof(text));
	r->names[r->nnames++].ours = !fnmatch(r->comm, text, 0);
	return found;
}

static struct event *queue_event(struct reduce *r, int cpu, int code, int64_t ts, int64_t seq)
{
	struct event *event = queue_add(&r->cpus[cpu].events, ts, seq);

	if (event) {
		event->cpu = cpu;
		event->code = code;
	}
	return event;
}

/*
 * Queue the names that this CPU has not said before, right before their event. A
 * name applies from the first event of a CPU that says it, never to earlier
 * events. Otherwise the result would depend on which pages have already arrived,
 * and a replay would differ from the live run.
 */
static int say_names(struct reduce *r, const struct page *page, const struct format *format,
		     const unsigned char *record)
{
	struct cpu *cpu = &r->cpus[page->cpu];
	int64_t tids[MAX_NAMED];
	long numbers[MAX_NAMED];
	int i, n = 0;

	for (i = 0; i < format->nnamed; i++) {
		const struct named *named = &format->named[i];
		const int64_t tid = (int32_t)u32(record + named->tid);
		const long name = name_of(r, record + named->name, named->bytes);
		const long had = cpu->named.n;

		if (name < 0)
			return -1;
		if (!tid || !r->names[name].ours)
			continue;
		if (set_add(&cpu->named, tid, name) < 0)
			return -1;
		if (cpu->named.n == had)
			continue;
		tids[n] = tid;
		numbers[n++] = name;
	}
	for (i = 0; i < n; i++) {
		const int swapped =
			n == 2 && (tids[0] > tids[1] ||
				   (tids[0] == tids[1] && strcmp(r->names[numbers[0]].text,
								 r->names[numbers[1]].text) > 0));
		struct event *event = queue_event(r, page->cpu, r->name_code, page->ts, cpu->seq);

		if (!event)
			return -1;
		event->args[0] = tids[swapped ? 1 - i : i];
		event->args[1] = numbers[swapped ? 1 - i : i];
	}
	return 0;
}

static int copy_pick(struct reduce *r, const struct page *page, const struct pick *pick,
		     const unsigned char *record, int32_t tid)
{
	const int64_t seq = r->cpus[page->cpu].seq;
	int i;

	for (i = 0; i < pick->nwhen; i++)
		if (number(r, &pick->fields[i], record) != pick->values[i])
			return 0;
	if (pick->kind >= 0) {
		struct point *point = queue_add(&r->cpus[page->cpu].points, page->ts, seq);

		if (!point)
			return -1;
		point->kind = pick->kind;
		point->tid = tid;
		for (i = 0; i < pick->ncells; i++)
			point->cells[i] = number(r, &pick->cells[i], record);
	} else {
		struct table *table = append(&r->rows[pick->rows]);

		if (!table)
			return -1;
		put(table, 0, int64_t, page->ts);
		put(table, 1, int64_t, page->cpu);
		put(table, 2, int64_t, seq);
		put(table, 3, int64_t, tid);
		put(table, 4, int64_t, pick->ncells ? number(r, pick->cells, record) : seq);
	}
	return 0;
}

/* Keep a printed text; return whether it is the start marker, or -1. */
static int keep_text(struct reduce *r, const struct page *page, const unsigned char *from,
		     int bytes)
{
	static const char blank[] = " \t\n\r\v\f";
	struct table *table = row_of(r, PRINTS);
	char text[TEXT_BYTES + 1] = "", *begin = text, *end;
	long length;

	if (!table)
		return -1;
	length = strnlen((const char *)from, bytes < TEXT_BYTES ? bytes : TEXT_BYTES);
	memcpy(text, from, length);
	put(table, 0, int64_t, page->ts);
	put(table, 1, int64_t, page->cpu);
	put(table, 2, int64_t, r->cpus[page->cpu].seq);
	begin += strspn(begin, blank);
	for (end = text + length; end > begin && strchr(blank, end[-1]); end--)
		;
	*end = 0;
	strncpy(table->cells[3] + (table->rows - 1) * TEXT_BYTES, begin, TEXT_BYTES);
	return !strcmp(begin, r->marker);
}

static int feed_record(struct reduce *r, const struct page *page, const unsigned char *record,
		       int bytes)
{
	struct cpu *cpu = &r->cpus[page->cpu];
	const struct format *format;
	const int id = page_event(page, record, bytes);
	struct event *event;
	int64_t ts;
	int32_t tid;
	int i, marker = 0;

	if (id < 0)
		return -1;
	cpu->last_ts = page->ts;
	if (r->by_id[id] < 0) {
		r->decoded[1]++;
		cpu->seq++;
		return 0;
	}
	format = &r->formats[r->by_id[id]];
	if (page_check(page, id, bytes, format->need))
		return -1;
	ts = page->ts;
	if (!r->fed[0] || ts < r->fed[1])
		r->fed[1] = ts;
	if (!r->fed[0] || ts > r->fed[2])
		r->fed[2] = ts;
	r->fed[0]++;
	tid = u32(record + format->pid_offset);
	if (format->text >= 0)
		marker = keep_text(r, page, record + format->text, bytes - format->text);
	if (marker < 0 || (format->nnamed && say_names(r, page, format, record)))
		return no_memory(r);
	for (i = 0; i < format->npicks; i++)
		if (copy_pick(r, page, &format->picks[i], record, tid))
			return no_memory(r);
	if (format->code >= 0) {
		event = queue_event(r, page->cpu, format->code, page->ts, cpu->seq);
		if (!event)
			return no_memory(r);
		event->pid = tid;
		for (i = 0; i < MAX_ARGS; i++)
			event->args[i] = number(r, &format->args[i], record);
		if (format->text >= 0)
			event->args[0] = marker;
	}
	cpu->seq++;
	return 0;
}

/*
 * Queue a loss. It begins after the CPU's last event, and after the time up to
 * which the CPU was complete before the page.
 *
 * marks: pairs of a page's number and a time, ascending.
 */
static int queue_loss(struct reduce *r, const struct page *page, uint64_t next_ts, long nmarks,
		      const int64_t *marks)
{
	const uint64_t last = r->cpus[page->cpu].last_ts;
	int64_t t1 = next_ts, t0 = last ? (int64_t)last : t1, here = 0;
	struct event *event;
	long i;

	for (i = 0; i < nmarks && marks[2 * i] <= page->number; i++)
		here = marks[2 * i + 1] + 1;
	if (here > t1)
		here = t1;
	if (here > t0)
		t0 = here;
	event = queue_event(r, page->cpu, r->loss_code, t0, LAST_SEQ);
	if (!event)
		return no_memory(r);
	event->args[0] = t1;
	event->args[1] = page->missed;
	return 0;
}

/*
 * Walk over complete pages of one CPU, oldest first. Return 0, or -1 after a
 * fault, which reduce_error() explains; the lane cannot be continued then.
 */
int reduce_feed(struct reduce *r, int cpu, const unsigned char *pages, long count, long nmarks,
		const int64_t *marks)
{
	long i;

	memset(r->fed, 0, sizeof(r->fed));
	if (cpu < 0 || cpu >= MAX_CPUS) {
		snprintf(r->error, sizeof(r->error), "CPU %d is not from 0 to %d", cpu,
			 MAX_CPUS - 1);
		return -1;
	}
	if (cpu >= r->ncpus)
		r->ncpus = cpu + 1;
	for (i = 0; i < count; i++) {
		struct page page = {.cpu = cpu, .number = i, .error = r->error};
		const unsigned char *bytes = pages + i * PAGE_BYTES, *record;
		int size, found;

		if (page_open(&page, bytes, PAGE_BYTES))
			return -1;
		found = page_next(&page, &record, &size);
		if (page.missed &&
		    queue_loss(r, &page, found > 0 ? page.ts : u64(bytes), nmarks, marks))
			return -1;
		for (; found > 0; found = page_next(&page, &record, &size))
			if (feed_record(r, &page, record, size))
				return -1;
		if (found)
			return -1;
	}
	r->decoded[0] += r->fed[0];
	return 0;
}

const char *reduce_error(const struct reduce *r)
{
	return r->error;
}

/* Return number, first and last time of the records that the last reduce_feed() knew. */
const int64_t *reduce_fed(const struct reduce *r)
{
	return r->fed;
}

/* Return the number of records so far: with a format, and without. */
const int64_t *reduce_decoded(const struct reduce *r)
{
	return r->decoded;
}

const char *reduce_name(const struct reduce *r, long number)
{
	return number >= 0 && number < r->nnames ? r->names[number].text : "";
}

/* Set the kernel's strings: their addresses, ascending, and the numbers of their texts. */
int reduce_strings(struct reduce *r, long n, const uint64_t *addresses, const int64_t *ids)
{
	r->addresses = malloc((n + 1) * sizeof(*addresses));
	r->string_ids = malloc((n + 1) * sizeof(*ids));
	if (!r->addresses || !r->string_ids)
		return -1;
	memcpy(r->addresses, addresses, n * sizeof(*addresses));
	memcpy(r->string_ids, ids, n * sizeof(*ids));
	r->nstrings = n;
	return 0;
}
