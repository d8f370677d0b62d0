// SPDX-License-Identifier: GPL-2.0-or-later
/* The loop over events, and the table of spans that are still open. */
#include <stdlib.h>

#include "reduce.h"

/* After a loss of events: end all open spans here, and make every state unknown. */
static int lose(struct reduce *r, int64_t t0)
{
	long i;

	for (i = 0; i < r->nmade; i++) {
		struct thread *thread = r->made[i];

		if (thread->state >= 0 && enter(r, thread, UNKNOWN, t0, -1))
			return -1;
		if (thread->state != GONE)
			thread->state = UNKNOWN;
		clear_calls(r, thread);
		thread->certain = 0;
		thread->woken = 0;
		thread->op_t0 = -1;
	}
	for (i = 0; i < r->ntracks; i++) {
		if (draw_track(r, &r->tracks[i], t0))
			return -1;
		r->tracks[i].kind = -1;
		r->tracks[i].nmembers = 0;
	}
	return 0;
}

/* Apply an act. Return 0 if it is done, else an enum why; START and PLACE repeat the act. */
static int carry_out(struct reduce *r, const struct act *act, const struct event *e,
		     struct thread *thread)
{
	switch (act->kind) {
	case SWITCH:
		return switches(r, e->when.ts, e->cpu, e->args);
	case WAKING:
		return wakes(r, e->when.ts, e->pid, e->args[0]);
	case OPEN:
		return thread ? opens(r, thread, act->operand, e->when.ts, e->args) : 0;
	case CLOSE:
		return thread ? closes(r, thread, act->operand, e->when.ts, e->cpu) : 0;
	case OP_OPEN:
		if (!thread)
			return 0;
		r->about = thread->tid;
		if (r->began && thread->row < 0 && (thread->role & ROLE_THREAD))
			return PLACE;
		op_opens(r, thread, e->when.ts);
		return 0;
	case OP_CLOSE:
		return thread ? op_closes(r, thread, e->when.ts) : 0;
	case PHASE:
		return phase(r, &r->tracks[act->operand], e->when.ts, e->cpu, e->pid, e->args[0]);
	case LOSS:
		return lose(r, e->when.ts);
	case NAME:
		return 0;
	default:
		r->about = e->when.ts;
		return e->args[0] && !r->began ? START : 0;
	}
}

/* Apply the acts of an event, starting at r->act. */
static int happens(struct reduce *r, const struct event *e)
{
	const struct code *code = &r->codes[e->code];
	struct thread *thread = thread_of(r, e->pid);
	int why;

	if (!r->act && thread && e->code != r->switch_code) {
		thread->woken = 0;
		if (thread->state != r->running && thread->state != GONE &&
		    enter(r, thread, r->running, e->when.ts,
			  e->cpu)) /* it emits, so it is running */
			return NO_MEMORY;
	}
	for (; r->act < code->nacts; r->act++) {
		const struct act *act = &code->acts[r->act];

		why = carry_out(r, act, e, thread);
		if (why)
			return why;
		if (act->kind == LOSS || act->kind == NAME) { /* the caller records these */
			r->act++;
			return act->kind == LOSS ? LOST : NAMED;
		}
	}
	r->act = 0;
	return ALL_DONE;
}

/* Fix which queued events reduce_run() takes: those up to a guest time. Return their number. */
long reduce_ripen(struct reduce *r, int64_t until)
{
	int cpu;

	r->ripe = 0;
	r->from = -1;
	for (cpu = 0; cpu < r->ncpus; cpu++) {
		struct queue *queue = &r->cpus[cpu].events;

		if (queue_sort(queue))
			return -1;
		queue_ripen(queue, until);
		r->ripe += queue->ripe - queue->first;
	}
	return r->ripe;
}

static const struct when *next_of(const struct reduce *r, int cpu)
{
	const struct queue *queue = &r->cpus[cpu].events;

	return &((struct event *)queue->cells)[queue->first].when;
}

/* Whether the CPU of the last event also has the next one. */
static int goes_on(const struct reduce *r)
{
	int64_t ts, other_ts;

	if (r->from < 0 || r->cpus[r->from].events.first >= r->cpus[r->from].events.ripe)
		return 0;
	if (r->other < 0)
		return 1;
	ts = next_of(r, r->from)->ts;
	other_ts = next_of(r, r->other)->ts;
	return ts < other_ts || (ts == other_ts && r->from < r->other);
}

/*
 * Remove the earliest ripe event. A CPU often has several events before those of
 * others, so the CPUs are compared only when its next event is not before theirs.
 */
static void take(struct reduce *r)
{
	struct queue *queue;

	if (!goes_on(r)) {
		r->from = earliest(r, 0, -1);
		r->other = earliest(r, 0, r->from);
	}
	queue = &r->cpus[r->from].events;
	r->now = ((struct event *)queue->cells)[queue->first++];
	r->has_now = 1;
	r->last_ts = r->now.when.ts;
	r->ripe--;
}

/*
 * Process ripe events in order of time, CPU and sequence, *limit at most. After
 * ALL_DONE, continue when more events are ripe. After any other result, handle
 * reduce_about(), then call again.
 */
int reduce_run(struct reduce *r, long *limit)
{
	int why;

	for (;;) {
		if (!r->has_now) {
			if (!*limit || !r->ripe)
				return ALL_DONE;
			take(r);
			--*limit;
		}
		why = happens(r, &r->now);
		if (why)
			return why;
		r->has_now = 0;
	}
}

/* Return the marker's time (START), or the thread without row (PLACE). */
int64_t reduce_about(const struct reduce *r)
{
	return r->about;
}

/* Return time and first two arguments of the current event (LOST, NAMED). */
const int64_t *reduce_event(struct reduce *r)
{
	r->said[0] = r->now.when.ts;
	r->said[1] = r->now.args[0];
	r->said[2] = r->now.args[1];
	return r->said;
}

/* Return the time of the last event that reduce_run() has taken. */
int64_t reduce_last(const struct reduce *r)
{
	return r->last_ts;
}

/* Return the number of queued events that are not ripe. */
long reduce_held(const struct reduce *r)
{
	long held = -r->ripe;
	int cpu;

	for (cpu = 0; cpu < r->ncpus; cpu++)
		held += r->cpus[cpu].events.n - r->cpus[cpu].events.first;
	return held;
}

/* Fill the table POINTS with the points from the start marker up to a guest time. */
int reduce_points(struct reduce *r, int64_t until)
{
	int cpu, column;

	for (cpu = 0; cpu < r->ncpus; cpu++) {
		if (queue_sort(&r->cpus[cpu].points))
			return -1;
		queue_ripen(&r->cpus[cpu].points, until);
	}
	while ((cpu = earliest(r, 1, -1)) >= 0) {
		struct queue *queue = &r->cpus[cpu].points;
		const struct point *point = (struct point *)queue->cells + queue->first++;
		struct table *table;

		if (point->when.ts < r->origin)
			continue;
		table = row_of(r, POINTS);
		if (!table)
			return -1;
		put(table, 0, double, point->when.ts - r->origin);
		put(table, 1, uint8_t, point->kind);
		put(table, 2, int16_t, cpu);
		put(table, 3, int32_t, point->tid);
		for (column = 0; column < MAX_CELLS; column++)
			put(table, 4 + column, double, point->cells[column]);
		put(table, 4 + MAX_CELLS, uint32_t, ++r->point_number);
	}
	return 0;
}

static int still(struct reduce *r, int64_t since, double mark, int row, int kind, int cpu,
		 double arg, uint32_t number)
{
	double begin = since > r->origin ? since - r->origin : 0;

	if (begin >= mark)
		return 0;
	return put_span(r, STILL_OPEN, begin, mark, row, kind, cpu, arg, number);
}

/* Fill the table STILL_OPEN with all open spans, up to a time since the start marker. */
int reduce_still_open(struct reduce *r, double mark)
{
	long i, k;

	for (i = 0; i < r->nmade; i++) {
		const struct thread *t = r->made[i];

		if (t->row < 0)
			continue;
		if (t->state >= 0 && still(r, t->since, mark, t->row, t->state, t->cpu, 0, t->span))
			return -1;
		for (k = 0; k < t->ncalls; k++) {
			const struct call *call = &t->calls[k];

			if (call->rule && call->rule->kind >= 0 &&
			    still(r, call->since, mark, t->row, call->rule->kind, -1, call->arg,
				  call->number))
				return -1;
		}
	}
	for (i = 0; i < r->ntracks; i++) {
		const struct track *t = &r->tracks[i];

		if (t->kind >= 0 && t->row >= 0 &&
		    still(r, t->since, mark, t->row, t->kind, t->cpu, 0, t->span))
			return -1;
	}
	return 0;
}
