// SPDX-License-Identifier: GPL-2.0-or-later
/* Create a struct reduce from the words of program_words() in session/reduce.py; free it. */
#include <stdlib.h>

#include "reduce.h"

static const int widths[NTABLES][MAX_COLUMNS] = {
	[SPANS] = {8, 8, 4, 1, 2, 8, 4},
	[OPS] = {8, 8, 4, 1, 4},
	[LINKS] = {8, 4, 4, 1, 4},
	[STILL_OPEN] = {8, 8, 4, 1, 2, 8, 4},
	[TIMES] = {8, 8}, /* of operations: waited, lasted */
	[POINTS] = {8, 1, 2, 4, 8, 8, 8, 8, 8, 8, 4},
	[PRINTS] = {8, 8, 8, TEXT_BYTES}, /* time, CPU, sequence, text */
};
static const int of_metrics[MAX_COLUMNS] = {8, 8, 8, 8, 8}; /* time, CPU, sequence, tid, value */

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

static void read_text(struct words *w, char *text)
{
	int64_t i, n = word(w);

	if (n < 0 || n >= TEXT_BYTES)
		w->fault = 1;
	for (i = 0; i < n && !w->fault; i++)
		text[i] = word(w);
}

static void read_read(struct words *w, struct read *read)
{
	read->kind = word(w);
	read->offset = word(w);
	read->size = word(w);
	read->is_signed = word(w);
}

static void read_pick(struct words *w, struct pick *pick)
{
	int i;

	pick->kind = word(w);
	pick->rows = word(w);
	pick->nwhen = word(w);
	pick->fields = some(w, pick->nwhen, sizeof(*pick->fields));
	pick->values = some(w, pick->nwhen, sizeof(*pick->values));
	for (i = 0; i < pick->nwhen && !w->fault; i++) {
		read_read(w, &pick->fields[i]);
		pick->values[i] = word(w);
	}
	pick->ncells = word(w);
	if (pick->ncells < 0 || pick->ncells > MAX_CELLS)
		w->fault = 1;
	for (i = 0; i < pick->ncells && !w->fault; i++)
		read_read(w, &pick->cells[i]);
}

static void read_format(struct words *w, struct format *format)
{
	int i;

	format->code = word(w);
	format->pid_offset = word(w);
	format->need = word(w);
	format->text = word(w);
	for (i = 0; i < MAX_ARGS; i++)
		read_read(w, &format->args[i]);
	format->nnamed = word(w);
	if (format->nnamed < 0 || format->nnamed > MAX_NAMED)
		w->fault = 1;
	for (i = 0; i < format->nnamed && !w->fault; i++) {
		format->named[i].tid = word(w);
		format->named[i].name = word(w);
		format->named[i].bytes = word(w);
	}
	format->npicks = word(w);
	format->picks = some(w, format->npicks, sizeof(*format->picks));
	for (i = 0; i < format->npicks && !w->fault; i++)
		read_pick(w, &format->picks[i]);
}

static void read_formats(struct words *w, struct reduce *r)
{
	int64_t id;
	int f;

	memset(r->by_id, 0xff, sizeof(r->by_id));
	read_text(w, r->marker);
	read_text(w, r->comm);
	r->nrows = word(w);
	r->rows = some(w, r->nrows, sizeof(*r->rows));
	r->nformats = word(w);
	r->formats = some(w, r->nformats, sizeof(*r->formats));
	for (f = 0; f < r->nformats && !w->fault; f++) {
		id = word(w);
		if (id < 0 || id >= MAX_IDS)
			w->fault = 1;
		else
			r->by_id[id] = f;
		read_format(w, &r->formats[f]);
	}
}

static void set_widths(struct table *table, const int *width)
{
	for (; table->ncolumns < MAX_COLUMNS && width[table->ncolumns]; table->ncolumns++)
		table->width[table->ncolumns] = width[table->ncolumns];
}

/* Make a struct reduce of the words of program_words(); NULL if they are wrong. */
struct reduce *reduce_new(const int64_t *program, long n)
{
	struct words w = {program, program + n, 0};
	struct reduce *r = calloc(1, sizeof(*r));
	int t, cpu;

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
	read_formats(&w, r);
	r->loss_code = r->ncodes - 2; /* OWN_ACTS in session/reduce.py */
	r->name_code = r->ncodes - 1;
	for (t = 0; t < NTABLES; t++)
		set_widths(&r->tables[t], widths[t]);
	for (t = 0; t < r->nrows && r->rows; t++)
		set_widths(&r->rows[t], of_metrics);
	for (cpu = 0; cpu < MAX_CPUS; cpu++) {
		r->cpus[cpu].events.width = sizeof(struct event);
		r->cpus[cpu].points.width = sizeof(struct point);
	}
	if (w.fault || w.at != w.end || !r->counts) {
		reduce_free(r);
		return NULL;
	}
	return r;
}

static void table_free(struct table *table)
{
	int c;

	for (c = 0; c < MAX_COLUMNS; c++)
		free(table->cells[c]);
}

static void set_free(struct set *set)
{
	free(set->keys);
	free(set->slots);
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
	set_free(&r->tids);
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
	for (g = 0; r->formats && g < r->nformats; g++) {
		for (c = 0; r->formats[g].picks && c < r->formats[g].npicks; c++) {
			free(r->formats[g].picks[c].fields);
			free(r->formats[g].picks[c].values);
		}
		free(r->formats[g].picks);
	}
	free(r->formats);
	free(r->addresses);
	free(r->string_ids);
	free(r->names);
	set_free(&r->known);
	for (c = 0; c < MAX_CPUS; c++) {
		free(r->cpus[c].events.cells);
		free(r->cpus[c].points.cells);
		set_free(&r->cpus[c].named);
	}
	for (i = 0; i < NTABLES; i++)
		table_free(&r->tables[i]);
	for (i = 0; r->rows && i < r->nrows; i++)
		table_free(&r->rows[i]);
	free(r->rows);
	free(r->copy);
	free(r);
}
