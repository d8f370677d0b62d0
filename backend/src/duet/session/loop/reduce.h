// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Stage 6: the loop over events. program.py has compiled each event of a lesson
 * to acts. The loop applies the acts to threads and tracks, and writes spans,
 * operations and links as columns.
 *
 * The caller handles names, rows and losses. When an act needs the caller,
 * reduce_run() returns, and the next call continues with this act. ctypes
 * releases the GIL during a call.
 *
 * Recordings are untrusted, so the time per event is bounded for any events in
 * any order. The program is trusted, because it comes from compile_program().
 *
 * Only one thread at a time may use a struct reduce. Functions that return int
 * return -1 when out of memory, unless documented otherwise.
 */
#ifndef DUET_REDUCE_H
#define DUET_REDUCE_H

#include <stdint.h>

#define MAX_ARGS     3
#define MAX_MEMBERS  1024 /* limit of threads in phases of one track; usual: a few workers */
#define EXIT_STATES  0x30
#define SLEEP_STATES 0xff

enum act_kind { SWITCH, WAKING, OPEN, CLOSE, OP_OPEN, OP_CLOSE, PHASE, MARKER, LOSS, NAME };
enum state { UNKNOWN = -1, GONE = -2 };
enum role { ROLE_THREAD = 1, ROLE_OTHER = 2 }; /* bits */
enum why { NO_MEMORY = -1, ALL_DONE, START, PLACE, LOST, NAMED };
enum table_name { SPANS, OPS, LINKS, STILL_OPEN, TIMES, NTABLES };

struct act {
	int kind;
	int operand;
};

struct condition {
	int arg;
	int64_t value;
};

struct rule {
	int kind;   /* kind of the span to draw, or -1 */
	int wait;   /* state of a sleep in the call, or -1 */
	int arg;    /* argument that the span stores, or -1 */
	int counts; /* time in the call counts as the operation's waiting */
	int nwhen;
	struct condition *when;
};

struct code {
	int nacts;
	struct act *acts;
};

struct group {
	int nrules;
	struct rule *rules;
};

struct step {
	int64_t value;
	int after;
	int opens;
};

struct link {
	int during;
	int track;
	int kind;
};

/* A thread that is in a phase of a track. */
struct member {
	int64_t tid;
	int kind;
	int superseded; /* a later phase has begun, so the end of this phase has no effect */
};

struct track {
	int cycles;
	int nsteps;
	struct step *steps;
	int row, kind, cpu;
	int64_t since;
	uint32_t span;
	long nmembers, room;
	struct member *members;
};

/* A function that was entered and has not returned. */
struct call {
	const struct rule *rule; /* NULL if no rule of the group matched */
	int group;
	int wait; /* state of a sleep now, from the rule or the calling function */
	int64_t since;
	double arg;
	uint32_t number;
};

struct thread {
	int64_t tid;
	int role, made;
	int row, state, cpu;
	int woken;   /* woken before it left its CPU to sleep */
	int certain; /* 0 from a loss until the next operation opens */
	int64_t since, op_t0, waited;
	uint32_t span;
	long ncalls, room;
	struct call *calls;
	int counting; /* number of open calls whose rule counts */
	int *inside;  /* number of open calls by group */
};

/* Columns of one table; widths are those of TABLES in tables.py. */
#define MAX_COLUMNS 7
struct table {
	int ncolumns;
	int width[MAX_COLUMNS];
	char *cells[MAX_COLUMNS];
	long rows, room;
};

struct reduce {
	int running, runnable, wait_other, nkinds, switch_code;
	int ncodes, ngroups, ntracks, nlinks;
	struct code *codes;
	struct group *groups;
	struct track *tracks;
	struct link *links;

	struct thread **threads; /* in the order of their first appearance */
	long nthreads, room;
	struct thread **made; /* in the order of their first event */
	long nmade;
	int32_t *slots; /* hash of tids: index into threads, or -1 */
	long nslots;

	int began;
	int64_t origin;
	uint32_t span_number, op_number, link_number;
	int64_t cycles;
	int64_t *counts;
	struct table tables[NTABLES];

	long at;       /* index of the event to continue with, */
	int act;       /* and of its act */
	int64_t about; /* thread or time that the caller must handle */
};

struct event {
	int64_t ts, pid;
	int cpu, code;
	int64_t args[MAX_ARGS];
};

/* tables.c */
void *more(void *held, long *room, unsigned long size);
struct table *row_of(struct reduce *r, int name);
int put_span(struct reduce *r, int name, double t0, double t1, int row, int kind, int cpu,
	     double arg, uint32_t number);
int emit(struct reduce *r, int64_t t0, int64_t t1, int row, int kind, int cpu, double arg,
	 uint32_t number);

#define put(table, column, type, value) \
	(((type *)(table)->cells[column])[(table)->rows - 1] = (type)(value))

/* threads.c */
struct thread *thread_find(const struct reduce *r, int64_t tid);
struct thread *thread_of(struct reduce *r, int64_t tid);
int enter(struct reduce *r, struct thread *thread, int state, int64_t ts, int cpu);
int switches(struct reduce *r, int64_t ts, int cpu, const int64_t *args);
int wakes(struct reduce *r, int64_t ts, int64_t waker, int64_t target);

/* functions.c */
void clear_calls(const struct reduce *r, struct thread *thread);
int opens(struct reduce *r, struct thread *thread, int group, int64_t ts, const int64_t *args);
int closes(struct reduce *r, struct thread *thread, int group, int64_t ts, int cpu);
void op_opens(const struct reduce *r, struct thread *thread, int64_t ts);
int op_closes(struct reduce *r, struct thread *thread, int64_t ts);

/* tracks.c */
struct member *member_of(const struct track *track, int64_t tid);
int draw_track(struct reduce *r, const struct track *track, int64_t until);
int phase(struct reduce *r, struct track *track, int64_t ts, int cpu, int64_t tid, int64_t value);

/* Interface for session/reduce.py. */
#pragma GCC visibility push(default)
struct reduce *reduce_new(const int64_t *program, long n);
void reduce_free(struct reduce *r);
int reduce_know(struct reduce *r, int64_t tid, int role);
int reduce_run(struct reduce *r, long n, const int64_t *ts, const int64_t *cpu, const int64_t *code,
	       const int64_t *pid, const int64_t *a, const int64_t *b, const int64_t *c);
int64_t reduce_about(const struct reduce *r, int why);
void reduce_start(struct reduce *r, int64_t origin);
int reduce_thread(const struct reduce *r, long n, int64_t *tid, int *gone, int *row);
void reduce_place(struct reduce *r, int64_t tid, int row);
void reduce_place_track(struct reduce *r, int track, int row);
int reduce_still_open(struct reduce *r, double mark);
long reduce_table(const struct reduce *r, int table);
const void *reduce_column(const struct reduce *r, int table, int column);
void reduce_clear(struct reduce *r, int table);
const int64_t *reduce_counts(const struct reduce *r);
int64_t reduce_cycles(const struct reduce *r);
#pragma GCC visibility pop

#endif
