// SPDX-License-Identifier: GPL-2.0-or-later
/* Entries of one CPU in order of time, and sets of numbers. */
#include <stdlib.h>
#include <string.h>

#include "reduce.h"

static struct when *entry(const struct queue *queue, long i)
{
	return (struct when *)(queue->cells + i * queue->width);
}

static int before(const struct when *a, const struct when *b)
{
	return a->ts < b->ts || (a->ts == b->ts && a->seq < b->seq);
}

/* Return the index of the first sorted entry that comes after a moment. */
static long place_of(const struct queue *queue, const struct when *when)
{
	long low = queue->first, high = queue->sorted;

	while (low < high) {
		long middle = low + (high - low) / 2;

		if (before(when, entry(queue, middle)))
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

/* Forget the entries that were taken. */
static void compact(struct queue *queue)
{
	const long taken = queue->first;

	memmove(queue->cells, queue->cells + taken * queue->width,
		(queue->n - taken) * queue->width);
	queue->n -= taken;
	queue->sorted -= taken;
	queue->ripe = queue->ripe > taken ? queue->ripe - taken : 0;
	queue->first = 0;
}

/* Append an entry, to be filled by the caller; NULL if memory is lacking. */
void *queue_add(struct queue *queue, int64_t ts, int64_t seq)
{
	struct when *when;
	void *grown;

	if (queue->first &&
	    (queue->first == queue->n || (queue->n == queue->room && queue->first > queue->n / 2)))
		compact(queue);
	if (queue->n == queue->room) {
		grown = more(queue->cells, &queue->room, queue->width);
		if (!grown)
			return NULL;
		queue->cells = grown;
	}
	when = entry(queue, queue->n++);
	memset(when, 0, queue->width);
	when->ts = ts;
	when->seq = seq;
	if (queue->sorted > queue->first && before(when, entry(queue, queue->sorted - 1)))
		queue->sorted = place_of(queue, when);
	else if (queue->sorted == queue->n - 1)
		queue->sorted = queue->n;
	return when;
}

static void merge(const struct queue *queue, long *to, const long *from, long low, long middle,
		  long high)
{
	long a = low, b = middle, i;

	for (i = low; i < high; i++)
		if (b == high ||
		    (a < middle && !before(entry(queue, from[b]), entry(queue, from[a]))))
			to[i] = from[a++];
		else
			to[i] = from[b++];
}

/*
 * Sort the entries by time and sequence; equal ones stay in their order. The
 * kernel writes in order of time, so this is for odd recordings, and for losses,
 * which lie right after the last event before them.
 */
int queue_sort(struct queue *queue)
{
	const long first = queue->sorted, n = queue->n - first;
	long *order, *other, *held, i, half;
	char *cells;

	if (!n)
		return 0;
	held = malloc(2 * n * sizeof(*held));
	cells = malloc(n * queue->width);
	if (!held || !cells) {
		free(held);
		free(cells);
		return -1;
	}
	order = held;
	other = held + n;
	for (i = 0; i < n; i++)
		order[i] = first + i;
	for (half = 1; half < n; half *= 2) {
		long *swap = order;

		for (i = 0; i < n; i += 2 * half)
			merge(queue, other, order, i, i + half < n ? i + half : n,
			      i + 2 * half < n ? i + 2 * half : n);
		order = other;
		other = swap;
	}
	for (i = 0; i < n; i++)
		memcpy(cells + i * queue->width, entry(queue, order[i]), queue->width);
	memcpy(entry(queue, first), cells, n * queue->width);
	queue->sorted = queue->n;
	free(held);
	free(cells);
	return 0;
}

/* Let the entries up to a time be ripe. The queue is sorted. */
void queue_ripen(struct queue *queue, int64_t until)
{
	queue->ripe = place_of(queue, &(struct when){until, INT64_MAX});
}

/*
 * Return the CPU with the earliest ripe event or point, the lowest of equal ones;
 * -1 if no CPU besides `but` has one.
 */
int earliest(const struct reduce *r, int points, int but)
{
	int cpu, found = -1;
	int64_t ts = 0;

	for (cpu = 0; cpu < r->ncpus; cpu++) {
		const struct queue *queue = points ? &r->cpus[cpu].points : &r->cpus[cpu].events;

		if (cpu != but && queue->first < queue->ripe &&
		    (found < 0 || entry(queue, queue->first)->ts < ts)) {
			ts = entry(queue, queue->first)->ts;
			found = cpu;
		}
	}
	return found;
}

static uint64_t hash(uint64_t a, uint64_t b)
{
	a = (a ^ (b * 0x9e3779b97f4a7c15ULL)) * 0xff51afd7ed558ccdULL;
	return a ^ a >> 32;
}

/* Return the slot of a pair, or the free slot where it belongs. */
static int32_t *slot_of(const struct set *set, uint64_t a, uint64_t b)
{
	uint64_t slot = hash(a, b);

	for (;; slot++) {
		int32_t *number = &set->slots[slot & (set->nslots - 1)];

		if (*number < 0 || (set->keys[*number][0] == a && set->keys[*number][1] == b))
			return number;
	}
}

/* Double the space for pairs. The hash table stays at most half full. */
static int grow(struct set *set)
{
	long room = set->room, i;
	void *grown = more(set->keys, &room, sizeof(*set->keys));

	if (!grown)
		return -1;
	set->keys = grown;
	grown = realloc(set->slots, 2 * room * sizeof(*set->slots));
	if (!grown)
		return -1;
	set->slots = grown;
	set->room = room;
	set->nslots = 2 * room;
	memset(set->slots, 0xff, set->nslots * sizeof(*set->slots));
	for (i = 0; i < set->n; i++)
		*slot_of(set, set->keys[i][0], set->keys[i][1]) = i;
	return 0;
}

/* Return the number of a pair; -1 if the set lacks it. */
long set_find(const struct set *set, uint64_t a, uint64_t b)
{
	return set->nslots ? *slot_of(set, a, b) : -1;
}

/* Return the number of a pair, which is added if it is new (set->n has grown); -1: no memory. */
long set_add(struct set *set, uint64_t a, uint64_t b)
{
	int32_t *number;

	if (set->n == set->room && grow(set))
		return -1;
	number = slot_of(set, a, b);
	if (*number < 0) {
		set->keys[set->n][0] = a;
		set->keys[set->n][1] = b;
		*number = set->n++;
	}
	return *number;
}
