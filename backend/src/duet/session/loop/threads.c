// SPDX-License-Identifier: GPL-2.0-or-later
/* States of the workload's threads, from switches, wakes and the threads' own events. */
#include <stdlib.h>
#include <string.h>

#include "reduce.h"

struct thread *thread_find(const struct reduce *r, int64_t tid)
{
	const long number = set_find(&r->tids, tid, 0);

	return number < 0 ? NULL : r->threads[number];
}

static int more_threads(struct reduce *r)
{
	long room = r->room;
	void *grown;

	grown = more(r->threads, &room, sizeof(*r->threads));
	if (!grown)
		return -1;
	r->threads = grown;
	grown = realloc(r->made, room * sizeof(*r->made));
	if (!grown)
		return -1;
	r->made = grown;
	r->room = room;
	return 0;
}

/* Add a thread of the workload, or change its role. */
int reduce_know(struct reduce *r, int64_t tid, int role)
{
	struct thread *thread = thread_find(r, tid);

	if (thread) {
		thread->role = role;
		return 0;
	}
	if (r->nthreads == r->room && more_threads(r))
		return -1;
	thread = calloc(1, sizeof(*thread));
	if (!thread)
		return -1;
	thread->inside = calloc(r->ngroups + 1, sizeof(*thread->inside));
	if (!thread->inside || set_add(&r->tids, tid, 0) < 0) {
		free(thread->inside);
		free(thread);
		return -1;
	}
	thread->tid = tid;
	thread->role = role;
	thread->row = thread->cpu = -1;
	thread->state = UNKNOWN;
	thread->op_t0 = -1;
	thread->certain = 1;
	r->threads[r->nthreads++] = thread;
	return 0;
}

/* Return the workload's thread with this id, or NULL. Record that the thread had an event. */
struct thread *thread_of(struct reduce *r, int64_t tid)
{
	struct thread *thread = thread_find(r, tid);

	if (thread && !thread->made) {
		thread->made = 1;
		r->made[r->nmade++] = thread;
	}
	return thread;
}

/* Change a thread's state; the former state becomes a span. */
int enter(struct reduce *r, struct thread *thread, int state, int64_t ts, int cpu)
{
	int bad = 0;

	if (thread->state >= 0 && thread->row >= 0)
		bad = emit(r, thread->since, ts, thread->row, thread->state, thread->cpu, 0,
			   thread->span);
	thread->state = state;
	thread->since = ts;
	thread->cpu = cpu;
	thread->span = ++r->span_number;
	return bad;
}

/* Return the state of a sleep that begins now, from the innermost open call with `wait`. */
static int cause(const struct reduce *r, const struct thread *thread)
{
	if (thread->ncalls && thread->calls[thread->ncalls - 1].wait >= 0)
		return thread->calls[thread->ncalls - 1].wait;
	return thread->certain || thread->ncalls ? r->wait_other : UNKNOWN;
}

static int goes(struct reduce *r, struct thread *thread, int64_t ts, int cpu, int64_t prev_state)
{
	int state = r->runnable;

	if (thread->state != r->running && enter(r, thread, r->running, ts, cpu))
		return -1;
	if (prev_state & EXIT_STATES) {
		state = GONE;
	} else if (prev_state & SLEEP_STATES) {
		if (!thread->woken)
			state = cause(r, thread);
		thread->woken = 0;
	}
	return enter(r, thread, state, ts, -1);
}

int switches(struct reduce *r, int64_t ts, int cpu, const int64_t *args)
{
	struct thread *thread = thread_of(r, args[0]);

	if (thread && thread->state != GONE && goes(r, thread, ts, cpu, args[2]))
		return -1;
	thread = thread_of(r, args[1]);
	if (thread && thread->state != r->running)
		return enter(r, thread, r->running, ts, cpu);
	return 0;
}

static int link_up(struct reduce *r, const struct link *link, int64_t ts, int64_t waker,
		   const struct thread *woken)
{
	const struct track *track = &r->tracks[link->track];
	const struct member *member = member_of(track, waker);
	struct table *table;

	if (!member || member->kind != link->during || woken->row < 0 || track->row < 0)
		return 0;
	table = row_of(r, LINKS);
	if (!table)
		return -1;
	put(table, 0, double, ts - r->origin);
	put(table, 1, int32_t, track->row);
	put(table, 2, int32_t, woken->row);
	put(table, 3, uint8_t, link->kind);
	put(table, 4, uint32_t, ++r->link_number);
	return 0;
}

int wakes(struct reduce *r, int64_t ts, int64_t waker, int64_t target)
{
	struct thread *thread = thread_of(r, target);
	int i;

	if (!thread || thread->state == GONE)
		return 0;
	/*
	 * The woken thread is still on its CPU, so the sleep that its next switch
	 * reports is already over. try_to_wake_up() of 6.1 emits this event before
	 * it waits for on_cpu.
	 */
	if (thread->state == r->running)
		thread->woken = 1;
	else if (thread->state != r->runnable && enter(r, thread, r->runnable, ts, -1))
		return -1;
	for (i = 0; i < r->nlinks; i++)
		if (link_up(r, &r->links[i], ts, waker, thread))
			return -1;
	return 0;
}

/* Start the time at `origin`, and let reduce_thread() return all threads known so far. */
void reduce_start(struct reduce *r, int64_t origin)
{
	long i;

	for (i = 0; i < r->nthreads; i++)
		if (!r->threads[i]->made) {
			r->threads[i]->made = 1;
			r->made[r->nmade++] = r->threads[i];
		}
	r->began = 1;
	r->origin = origin;
}

/* Return the n-th thread that had an event or was known at the start; 0 after the last. */
int reduce_thread(const struct reduce *r, long n, int64_t *tid, int *gone, int *row)
{
	if (n >= r->nmade)
		return 0;
	*tid = r->made[n]->tid;
	*gone = r->made[n]->state == GONE;
	*row = r->made[n]->row;
	return 1;
}

/* Assign the caller's rows to threads and tracks. */
void reduce_place(struct reduce *r, int64_t tid, int row)
{
	struct thread *thread = thread_find(r, tid);

	if (thread)
		thread->row = row;
}

void reduce_place_track(struct reduce *r, int track, int row)
{
	if (track >= 0 && track < r->ntracks)
		r->tracks[track].row = row;
}
