// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Walk over the records of a ring-buffer page, as kbuffer of libtraceevent does
 * (kernel/trace/ring_buffer.c, Linux 6.1). kbuffer trusts its input, but
 * recordings are untrusted, so each step here checks that the record ends
 * within the page.
 */
#ifndef DUET_PAGES_H
#define DUET_PAGES_H

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define PAGE_HEADER   16
#define MISSED_EVENTS (1U << 31)
#define MISSED_STORED (1U << 30)
#define MAX_IDS	      65536
#define MAX_CPUS      64
#define ERROR_BYTES   512

#define PADDING	    29
#define TIME_EXTEND 30
#define TIME_STAMP  31
#define TIME_BITS   27
#define TIME_MSB    0xf800000000000000ULL /* bits that a TIME_STAMP does not contain */

struct page {
	const unsigned char *records;
	uint32_t used;	/* bytes with records */
	uint32_t at;	/* where the next record begins */
	uint64_t ts;	/* of the last record */
	int64_t missed; /* events lost right before the page; -1 if nobody counted them */
	int cpu;
	long number;
	char *error; /* ERROR_BYTES, for a sentence about the first fault */
};

static inline uint32_t u32(const unsigned char *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static inline uint64_t u64(const unsigned char *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static inline int page_lacks(const struct page *p, long need)
{
	snprintf(p->error, ERROR_BYTES,
		 "page %ld of CPU %d: the event at byte %u lacks %ld of %ld bytes", p->number,
		 p->cpu, p->at + PAGE_HEADER, p->at + need - p->used, need);
	return -1;
}

/* Go to the next record and set its bytes. Return 1, or 0 after the last, or -1 on a fault. */
static inline int page_next(struct page *p, const unsigned char **record, int *bytes)
{
	while (p->at < p->used) {
		const unsigned char *here = p->records + p->at;
		long left = p->used - p->at, need = 4;
		uint32_t head, kind, word;

		if (left < need)
			return page_lacks(p, need);
		head = u32(here);
		kind = head & 31;
		if (kind && kind < PADDING) {
			need += 4 * kind;
			if (left < need)
				return page_lacks(p, need);
			p->ts += head >> 5;
			p->at += need;
			*record = here + 4;
			*bytes = 4 * kind;
			return 1;
		}
		if (kind == PADDING && !(head >> 5)) { /* nothing follows */
			p->used = p->at;
			return 0;
		}
		need = 8;
		if (left < need)
			return page_lacks(p, need);
		word = u32(here + 4);
		if (kind == TIME_STAMP) {
			p->ts = (p->ts & TIME_MSB) | (((uint64_t)word << TIME_BITS) + (head >> 5));
		} else if (kind == TIME_EXTEND) {
			p->ts += ((uint64_t)word << TIME_BITS) + (head >> 5);
		} else { /* the word is the length */
			need = ((long)word + 3) / 4 * 4 + 4;
			if (need < 8) {
				snprintf(p->error, ERROR_BYTES,
					 "page %ld of CPU %d: an event at byte %u has length 0",
					 p->number, p->cpu, p->at + PAGE_HEADER);
				return -1;
			}
			if (left < need)
				return page_lacks(p, need);
			p->ts += head >> 5;
		}
		p->at += need;
		if (!kind) {
			*record = here + 8;
			*bytes = need - 8;
			return 1;
		}
	}
	return 0;
}

/*
 * Open a page. Return 0, or -1 on a fault.
 *
 * The lower 32 bits of the page's commit field contain its length and two flags.
 * The kernel adds the int (1 << 31) to a long, so all upper bits are set if
 * events were lost (ring_buffer_read_page() of 6.1).
 */
static inline int page_open(struct page *p, const unsigned char *bytes, int page_bytes)
{
	const uint32_t commit = u32(bytes + 8), most = page_bytes - PAGE_HEADER;
	const unsigned char *record;
	struct page rest;
	int size, found;

	p->records = bytes + PAGE_HEADER;
	p->used = commit & ~(MISSED_EVENTS | MISSED_STORED);
	p->at = 0;
	p->ts = u64(bytes);
	p->missed = commit & MISSED_EVENTS ? -1 : 0;
	if (p->used > most) {
		snprintf(p->error, ERROR_BYTES,
			 "page %ld of CPU %d says %u bytes, but a page holds %u", p->number, p->cpu,
			 p->used, most);
		return -1;
	}
	if (!(commit & MISSED_STORED))
		return 0;
	if (p->used + 8 > most) {
		snprintf(p->error, ERROR_BYTES,
			 "page %ld of CPU %d has no room for its count of lost events", p->number,
			 p->cpu);
		return -1;
	}
	if (!p->missed)
		return 0;
	rest = *p; /* the count follows the records only if they fill the length */
	while ((found = page_next(&rest, &record, &size)) > 0)
		;
	if (!found && rest.used == p->used) {
		int32_t count = u64(p->records + p->used);

		p->missed = count < 0 ? -1 : count;
	}
	return found;
}

/* Return the id of a record's event, or -1 on a fault. */
static inline int page_event(const struct page *p, const unsigned char *record, int bytes)
{
	uint16_t id;

	if (bytes < (int)sizeof(id)) {
		snprintf(p->error, ERROR_BYTES,
			 "page %ld of CPU %d: an event of %d bytes has no type", p->number, p->cpu,
			 bytes);
		return -1;
	}
	memcpy(&id, record, sizeof(id));
	return id;
}

/* Return -1 if a record is shorter than its format needs. */
static inline int page_check(const struct page *p, int id, int bytes, int need)
{
	if (bytes >= need)
		return 0;
	snprintf(p->error, ERROR_BYTES,
		 "page %ld of CPU %d: event %d has %d bytes, but its format needs %d", p->number,
		 p->cpu, id, bytes, need);
	return -1;
}

#endif
