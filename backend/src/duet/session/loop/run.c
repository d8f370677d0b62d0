// SPDX-License-Identifier: GPL-2.0-or-later
/* The loop over events, and the table of spans that are still open. */
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
		return switches(r, e->ts, e->cpu, e->args);
	case WAKING:
		return wakes(r, e->ts, e->pid, e->args[0]);
	case OPEN:
		return thread ? opens(r, thread, act->operand, e->ts, e->args) : 0;
	case CLOSE:
		return thread ? closes(r, thread, act->operand, e->ts, e->cpu) : 0;
	case OP_OPEN:
		if (!thread)
			return 0;
		r->about = thread->tid;
		if (r->began && thread->row < 0 && (thread->role & ROLE_THREAD))
			return PLACE;
		op_opens(r, thread, e->ts);
		return 0;
	case OP_CLOSE:
		return thread ? op_closes(r, thread, e->ts) : 0;
	case PHASE:
		return phase(r, &r->tracks[act->operand], e->ts, e->cpu, e->pid, e->args[0]);
	case LOSS:
		return lose(r, e->ts);
	case NAME:
		return 0;
	default:
		r->about = e->ts;
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
		    enter(r, thread, r->running, e->ts, e->cpu)) /* it emits, so it is running */
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

/*
 * Process n events in order of time. After ALL_DONE, call again with new events.
 * After any other result, handle reduce_about(), then call again with the same
 * columns.
 */
int reduce_run(struct reduce *r, long n, const int64_t *ts, const int64_t *cpu, const int64_t *code,
	       const int64_t *pid, const int64_t *a, const int64_t *b, const int64_t *c)
{
	int why;

	for (; r->at < n; r->at++) {
		const long i = r->at;
		const struct event e = {ts[i], pid[i], cpu[i], code[i], {a[i], b[i], c[i]}};

		why = happens(r, &e);
		if (why)
			return why;
	}
	r->at = 0;
	return ALL_DONE;
}

/* Return the marker's time (START), the thread without row (PLACE), or the event's index. */
int64_t reduce_about(const struct reduce *r, int why)
{
	return why == LOST || why == NAMED ? r->at : r->about;
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
