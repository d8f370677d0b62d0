// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The least that reads every event of ring-buffer pages with libtraceevent: walk the records with
 * kbuffer_*, add up their times, count them by id. No bounds are checked, and no field is read.
 */
#include <kbuffer.h>
#include <stdint.h>
#include <string.h>

/* Count the events of some pages by id (65,536 counts); return the sum of their times. */
uint64_t kbuffer_loop(unsigned char *pages, long count, int page_bytes, uint64_t *counts)
{
	struct kbuffer *kbuf = kbuffer_alloc(KBUFFER_LSIZE_8, KBUFFER_ENDIAN_LITTLE);
	uint64_t sum = 0;
	long p;

	if (!kbuf)
		return 0;
	for (p = 0; p < count; p++) {
		unsigned long long ts;
		unsigned char *record;

		if (kbuffer_load_subbuffer(kbuf, pages + p * page_bytes))
			break;
		for (record = kbuffer_read_event(kbuf, &ts); record;
		     record = kbuffer_next_event(kbuf, &ts)) {
			uint16_t id;

			memcpy(&id, record, sizeof(id));
			counts[id]++;
			sum += ts;
		}
	}
	kbuffer_free(kbuf);
	return sum;
}
