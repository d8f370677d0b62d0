// SPDX-License-Identifier: GPL-2.0-or-later
/* Open function calls of a thread, and its operations. */
#include <string.h>

#include "reduce.h"

void clear_calls(const struct reduce *r, struct thread *thread)
{
	thread->ncalls = 0;
	thread->counting = 0;
	memset(thread->inside, 0, r->ngroups * sizeof(*thread->inside));
}

static const struct rule *rule_that_holds(const struct group *group, const int64_t *args)
{
	int i, k;

	for (i = 0; i < group->nrules; i++) {
		const struct rule *rule = &group->rules[i];

		for (k = 0; k < rule->nwhen; k++)
			if (args[rule->when[k].arg] != rule->when[k].value)
				break;
		if (k == rule->nwhen)
			return rule;
	}
	return NULL;
}

int opens(struct reduce *r, struct thread *thread, int group, int64_t ts, const int64_t *args)
{
	const struct rule *rule = rule_that_holds(&r->groups[group], args);
	struct call *call;

	if (thread->ncalls == thread->room) {
		call = more(thread->calls, &thread->room, sizeof(*call));
		if (!call)
			return -1;
		thread->calls = call;
	}
	call = &thread->calls[thread->ncalls];
	call->rule = rule;
	call->group = group;
	call->since = ts;
	call->arg = rule && rule->arg >= 0 ? args[rule->arg] : 0;
	call->number = ++r->span_number;
	call->wait = rule && rule->wait >= 0 ? rule->wait : thread->ncalls ? call[-1].wait : -1;
	thread->ncalls++;
	thread->counting += rule && rule->counts;
	thread->inside[group]++;
	return 0;
}

int closes(struct reduce *r, struct thread *thread, int group, int64_t ts, int cpu)
{
	struct call call;

	if (!thread->inside[group])
		return 0; /* its entry was not traced */
	do {		  /* the returns of inner calls are lost */
		call = thread->calls[--thread->ncalls];
		thread->inside[call.group]--;
		thread->counting -= call.rule && call.rule->counts;
	} while (call.group != group);
	if (!call.rule)
		return 0;
	if (call.rule->counts && !thread->counting && thread->op_t0 >= 0 &&
	    thread->op_t0 <= call.since)
		thread->waited += ts - call.since;
	if (call.rule->kind < 0 || thread->row < 0)
		return 0;
	return emit(r, call.since, ts, thread->row, call.rule->kind, cpu, call.arg, call.number);
}

void op_opens(const struct reduce *r, struct thread *thread, int64_t ts)
{
	thread->op_t0 = ts;
	thread->waited = 0;
	thread->certain = 1;
	clear_calls(r, thread); /* an operation is outermost, so open calls lost their returns */
}

int op_closes(struct reduce *r, struct thread *thread, int64_t ts)
{
	int64_t since = thread->op_t0;
	struct table *table;

	thread->op_t0 = -1;
	if (!r->began || since < r->origin || since < 0 || thread->row < 0)
		return 0;
	table = row_of(r, OPS);
	if (!table)
		return -1;
	put(table, 0, double, since - r->origin);
	put(table, 1, double, ts - r->origin);
	put(table, 2, int32_t, thread->row);
	put(table, 3, uint8_t, 1);
	put(table, 4, uint32_t, ++r->op_number);
	table = row_of(r, TIMES);
	if (!table)
		return -1;
	put(table, 0, double, thread->waited);
	put(table, 1, double, ts - since);
	return 0;
}
