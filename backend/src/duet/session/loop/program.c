// SPDX-License-Identifier: GPL-2.0-or-later
/* Create a struct reduce from the words of program_words() in session/reduce.py; free it. */
#include <stdlib.h>

#include "reduce.h"

static const int widths[NTABLES][MAX_COLUMNS] = {
	[SPANS] = {8, 8, 4, 1, 2, 8, 4},      [OPS] = {8, 8, 4, 1, 4}, [LINKS] = {8, 4, 4, 1, 4},
	[STILL_OPEN] = {8, 8, 4, 1, 2, 8, 4}, [TIMES] = {8, 8}, /* of operations: waited, lasted */
};

/* The program's words. Reading beyond the end returns 0 and sets the fault. */
struct words {
	const int64_t *at, *end;
	int fault;
};

static int64_t word(struct words *w)
{
	if (w->at < w->end)
		return *w->at++;
	w->fault = 1;
	return 0;
}

/* Allocate n items. n is from the program; more than its remaining words is an error. */
static void *some(struct words *w, int64_t n, size_t size)
{
	void *made;

	if (n < 0 || n > w->end - w->at) {
		w->fault = 1;
		n = 0;
	}
	made = calloc(n + 1, size);
	if (!made)
		w->fault = 1;
	return made;
}

static void read_rule(struct words *w, struct rule *rule)
{
	int i;

	rule->kind = word(w);
	rule->wait = word(w);
	rule->arg = word(w);
	rule->counts = word(w);
	rule->nwhen = word(w);
	rule->when = some(w, rule->nwhen, sizeof(*rule->when));
	for (i = 0; i < rule->nwhen && !w->fault; i++) {
		rule->when[i].arg = word(w);
		rule->when[i].value = word(w);
	}
}

static void read_codes(struct words *w, struct reduce *r)
{
	int c, i;

	r->ncodes = word(w);
	r->codes = some(w, r->ncodes, sizeof(*r->codes));
	for (c = 0; c < r->ncodes && !w->fault; c++) {
		struct code *code = &r->codes[c];

		code->nacts = word(w);
		code->acts = some(w, code->nacts, sizeof(*code->acts));
		for (i = 0; i < code->nacts && !w->fault; i++) {
			code->acts[i].kind = word(w);
			code->acts[i].operand = word(w);
		}
	}
}

static void read_groups(struct words *w, struct reduce *r)
{
	int g, i;

	r->ngroups = word(w);
	r->groups = some(w, r->ngroups, sizeof(*r->groups));
	for (g = 0; g < r->ngroups && !w->fault; g++) {
		struct group *group = &r->groups[g];

		group->nrules = word(w);
		group->rules = some(w, group->nrules, sizeof(*group->rules));
		for (i = 0; i < group->nrules && !w->fault; i++)
			read_rule(w, &group->rules[i]);
	}
}

static void read_tracks(struct words *w, struct reduce *r)
{
	int t, i;

	r->ntracks = word(w);
	r->tracks = some(w, r->ntracks, sizeof(*r->tracks));
	for (t = 0; t < r->ntracks && !w->fault; t++) {
		struct track *track = &r->tracks[t];

		track->row = track->kind = track->cpu = -1;
		track->cycles = word(w);
		track->nsteps = word(w);
		track->steps = some(w, track->nsteps, sizeof(*track->steps));
		for (i = 0; i < track->nsteps && !w->fault; i++) {
			track->steps[i].value = word(w);
			track->steps[i].after = word(w);
			track->steps[i].opens = word(w);
		}
	}
	r->nlinks = word(w);
	r->links = some(w, r->nlinks, sizeof(*r->links));
	for (i = 0; i < r->nlinks && !w->fault; i++) {
		r->links[i].during = word(w);
		r->links[i].track = word(w);
		r->links[i].kind = word(w);
	}
}

struct reduce *reduce_new(const int64_t *program, long n)
{
	struct words w = {program, program + n, 0};
	struct reduce *r = calloc(1, sizeof(*r));
	int t, c;

	if (!r)
		return NULL;
	r->running = word(&w);
	r->runnable = word(&w);
	r->wait_other = word(&w);
	r->switch_code = word(&w);
	r->nkinds = word(&w);
	r->counts = calloc(r->nkinds + 1, sizeof(*r->counts));
	read_codes(&w, r);
	read_groups(&w, r);
	read_tracks(&w, r);
	for (t = 0; t < NTABLES; t++)
		for (c = 0; c < MAX_COLUMNS && widths[t][c]; c++) {
			r->tables[t].width[c] = widths[t][c];
			r->tables[t].ncolumns++;
		}
	if (w.fault || w.at != w.end || !r->counts) {
		reduce_free(r);
		return NULL;
	}
	return r;
}

void reduce_free(struct reduce *r)
{
	long i;
	int g, c;

	for (i = 0; i < r->nthreads; i++) {
		free(r->threads[i]->calls);
		free(r->threads[i]->inside);
		free(r->threads[i]);
	}
	free(r->threads);
	free(r->made);
	free(r->slots);
	for (c = 0; r->codes && c < r->ncodes; c++)
		free(r->codes[c].acts);
	free(r->codes);
	for (g = 0; r->groups && g < r->ngroups; g++) {
		for (i = 0; r->groups[g].rules && i < r->groups[g].nrules; i++)
			free(r->groups[g].rules[i].when);
		free(r->groups[g].rules);
	}
	free(r->groups);
	for (i = 0; r->tracks && i < r->ntracks; i++) {
		free(r->tracks[i].steps);
		free(r->tracks[i].members);
	}
	free(r->tracks);
	free(r->links);
	free(r->counts);
	for (i = 0; i < NTABLES; i++)
		for (c = 0; c < MAX_COLUMNS; c++)
			free(r->tables[i].cells[c]);
	free(r);
}
