// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tracks: phases of a mechanism, from events of several threads. A track is in
 * one phase at a time. If several threads are in a phase, the phase ends when the
 * last of these threads leaves. After a later phase has begun, a thread remains a
 * member of the former phase until the thread's own end event, so that its wakes
 * still count. This end event does not end the later phase.
 */
#include <stddef.h>

#include "reduce.h"

struct member *member_of(const struct track *track, int64_t tid)
{
	long i;

	for (i = 0; i < track->nmembers; i++)
		if (track->members[i].tid == tid)
			return &track->members[i];
	return NULL;
}

/* Keep only the members whose flag `superseded` has this value. */
static void keep(struct track *track, int superseded)
{
	long i, kept = 0;

	for (i = 0; i < track->nmembers; i++)
		if (track->members[i].superseded == superseded)
			track->members[kept++] = track->members[i];
	track->nmembers = kept;
}

static int join(struct track *track, int64_t tid, int kind)
{
	struct member *member = member_of(track, tid);

	if (!member) {
		if (track->nmembers == MAX_MEMBERS)
			keep(track, 0);
		if (track->nmembers == MAX_MEMBERS)
			return 0;
		if (track->nmembers == track->room) {
			member = more(track->members, &track->room, sizeof(*member));
			if (!member)
				return -1;
			track->members = member;
		}
		member = &track->members[track->nmembers++];
		member->tid = tid;
	}
	member->kind = kind;
	member->superseded = 0;
	return 0;
}

/* End the thread's phase. Return 1 if this ends the track's phase too. */
static int leave(struct track *track, int64_t tid)
{
	struct member *mine = member_of(track, tid);
	int was_in = mine != NULL, superseded = mine && mine->superseded;
	long i, others = 0;

	if (mine) /* the order of members does not matter */
		*mine = track->members[--track->nmembers];
	if (superseded)
		return 0;
	for (i = 0; i < track->nmembers; i++)
		others += !track->members[i].superseded;
	if (was_in && others)
		return 0;
	keep(track, 1); /* another thread may have begun the phase */
	return track->kind >= 0;
}

static const struct step *step_of(const struct track *track, int64_t value)
{
	int i;

	for (i = 0; i < track->nsteps; i++) {
		const struct step *step = &track->steps[i];

		if (step->value == value && (step->after < 0 || step->after == track->kind))
			return step;
	}
	return NULL;
}

int draw_track(struct reduce *r, const struct track *track, int64_t until)
{
	if (track->kind < 0 || track->row < 0)
		return 0;
	return emit(r, track->since, until, track->row, track->kind, track->cpu, 0, track->span);
}

int phase(struct reduce *r, struct track *track, int64_t ts, int cpu, int64_t tid, int64_t value)
{
	const struct step *step = step_of(track, value);
	long i;

	if (!step)
		return 0;
	if (step->opens < 0) {
		if (!leave(track, tid))
			return 0;
		r->cycles += track->cycles && r->began;
	} else if (step->opens == track->kind) {
		return join(track, tid, step->opens);
	} else {
		for (i = 0; i < track->nmembers; i++)
			track->members[i].superseded = 1;
		if (join(track, tid, step->opens))
			return -1;
	}
	if (draw_track(r, track, ts))
		return -1;
	track->kind = step->opens < 0 ? -1 : step->opens;
	track->since = ts;
	track->cpu = cpu;
	if (track->kind >= 0)
		track->span = ++r->span_number;
	return 0;
}
