// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Stages 5 and 6 in one pass: from the ring-buffer pages of all CPUs to tables.
 *
 * program.py has compiled each event of a lesson to acts. reduce_feed() walks over
 * the pages of one CPU and queues the events that have acts. reduce_run() takes
 * the queued events of all CPUs in order of time, applies their acts to threads
 * and tracks, and writes spans, operations and links as columns. Points, the
 * events of metrics, and printed texts are copied into tables of their own.
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

#include "../../decode/pages.h"

#define MAX_ARGS     3
#define MAX_CELLS    6	/* fields of a point */
#define MAX_NAMED    2	/* threads that one event names */
#define NAME_BYTES   16 /* TASK_COMM_LEN of the kernel */
#define TEXT_BYTES   256
#define PAGE_BYTES   4096
#define LAST_SEQ     (1LL << 62) /* sorts a loss after the events of its CPU and time */
#define MAX_MEMBERS  1024	 /* limit of threads in phases of one track; usual: a few workers */
#define EXIT_STATES  0x30
#define SLEEP_STATES 0xff

enum act_kind { SWITCH, WAKING, OPEN, CLOSE, OP_OPEN, OP_CLOSE, PHASE, MARKER, LOSS, NAME };
enum state { UNKNOWN = -1, GONE = -2 };
enum role { ROLE_THREAD = 1, ROLE_OTHER = 2 }; /* bits */
enum why { NO_MEMORY = -1, ALL_DONE, START, PLACE, LOST, NAMED };
enum table_name { SPANS, OPS, LINKS, STILL_OPEN, TIMES, POINTS, PRINTS, NTABLES };
enum read_kind { READ_NOTHING, READ_INT, READ_STRING };

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
#define MAX_COLUMNS 11
struct table {
	int ncolumns;
	int width[MAX_COLUMNS];
	char *cells[MAX_COLUMNS];
	long rows, room;
};

/* Entries in order of time; the entries of a queue have a struct when as first member. */
struct when {
	int64_t ts, seq;
};

struct queue {
	char *cells;
	long width, first, n, room;
	long sorted; /* the entries before this index are in order, and before the others */
	long ripe;   /* index of the first entry that must wait */
};

struct event {
	struct when when;
	int64_t pid, args[MAX_ARGS];
	int cpu, code;
};

struct point {
	struct when when;
	double cells[MAX_CELLS];
	int32_t tid;
	uint8_t kind;
};

/* How to read a number from a record. */
struct read {
	int kind, offset, size, is_signed;
};

/* A thread and its name in a record. */
struct named {
	int tid, name, bytes; /* offsets, and the width of the name */
};

/* Records that are copied with some fields: points, and the events of metrics. */
struct pick {
	int kind;  /* of the point, or -1 */
	int rows;  /* table of a metric's rows, if it is no point */
	int nwhen; /* conditions: a field and its value */
	struct read *fields;
	int64_t *values;
	int ncells;
	struct read cells[MAX_CELLS];
};

/* An event type of the guest. */
struct format {
	int code; /* or -1 */
	int pid_offset, need;
	int text; /* offset of a printed text, or -1 */
	struct read args[MAX_ARGS];
	int nnamed;
	struct named named[MAX_NAMED];
	int npicks;
	struct pick *picks;
};

struct name {
	char text[NAME_BYTES + 1];
	int ours; /* the workload's threads have such names */
};

/* Numbers in the order in which they were added, found by hash. */
struct set {
	long n, room;
	uint64_t (*keys)[2];
	int32_t *slots;
	long nslots;
};

struct cpu {
	struct queue events, points;
	int64_t seq;
	uint64_t last_ts;
	struct set named; /* pairs of thread and name that an event of this CPU has said */
};

struct reduce {
	int running, runnable, wait_other, nkinds, switch_code, loss_code, name_code;
	int ncodes, ngroups, ntracks, nlinks;
	struct code *codes;
	struct group *groups;
	struct track *tracks;
	struct link *links;

	int nformats;
	struct format *formats;
	short by_id[MAX_IDS];
	char marker[TEXT_BYTES], comm[TEXT_BYTES];
	long nstrings;
	uint64_t *addresses; /* of strings, ascending */
	int64_t *string_ids;

	struct name *names;
	long nnames, names_room;
	struct set known; /* texts of names */
	int ncpus;	  /* the highest CPU that was fed, plus 1 */
	struct cpu cpus[MAX_CPUS];
	int64_t decoded[2]; /* records with a format, and without */
	int64_t fed[3];	    /* records of the last reduce_feed(), first and last time */
	int64_t said[3];    /* time and arguments of the current event */
	char error[ERROR_BYTES];

	struct thread **threads; /* in the order of their first appearance */
	long nthreads, room;
	struct thread **made; /* in the order of their first event */
	long nmade;
	struct set tids; /* of `threads`, by index */

	int began;
	int64_t origin;
	uint32_t span_number, op_number, link_number, point_number;
	int64_t cycles;
	int64_t *counts;
	struct table tables[NTABLES];
	int nrows; /* tables of metrics */
	struct table *rows;
	char *copy; /* of a table's columns, for the caller */
	long copy_room;

	struct event now; /* the event to continue with, */
	int has_now;
	int act;       /* and its act */
	int64_t about; /* thread or time that the caller must handle */
	int64_t last_ts;
	int from;  /* the CPU of the last event, or -1 */
	int other; /* the CPU with the earliest event of the others, or -1 */
	long ripe; /* queued events up to the time that was asked for */
};

/* tables.c */
void *more(void *held, long *room, unsigned long size);
struct table *append(struct table *table);
struct table *row_of(struct reduce *r, int name);
int put_span(struct reduce *r, int name, double t0, double t1, int row, int kind, int cpu,
	     double arg, uint32_t number);
int emit(struct reduce *r, int64_t t0, int64_t t1, int row, int kind, int cpu, double arg,
	 uint32_t number);

/* queue.c */
void *queue_add(struct queue *queue, int64_t ts, int64_t seq);
int queue_sort(struct queue *queue);
void queue_ripen(struct queue *queue, int64_t until);
int earliest(const struct reduce *r, int points, int but);
long set_find(const struct set *set, uint64_t a, uint64_t b);
long set_add(struct set *set, uint64_t a, uint64_t b);

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
int reduce_strings(struct reduce *r, long n, const uint64_t *addresses, const int64_t *ids);
int reduce_feed(struct reduce *r, int cpu, const unsigned char *pages, long count, long nmarks,
		const int64_t *marks);
const char *reduce_error(const struct reduce *r);
const int64_t *reduce_fed(const struct reduce *r);
const int64_t *reduce_decoded(const struct reduce *r);
const char *reduce_name(const struct reduce *r, long number);
long reduce_ripen(struct reduce *r, int64_t until);
int reduce_run(struct reduce *r, long *limit);
int64_t reduce_last(const struct reduce *r);
long reduce_held(const struct reduce *r);
int reduce_points(struct reduce *r, int64_t until);
const int64_t *reduce_event(struct reduce *r);
int64_t reduce_about(const struct reduce *r);
void reduce_start(struct reduce *r, int64_t origin);
int reduce_thread(const struct reduce *r, long n, int64_t *tid, int *gone, int *row);
void reduce_place(struct reduce *r, int64_t tid, int row);
void reduce_place_track(struct reduce *r, int track, int row);
int reduce_still_open(struct reduce *r, double mark);
long reduce_table(const struct reduce *r, int number);
const void *reduce_copy(struct reduce *r, int number);
void reduce_clear(struct reduce *r, int table);
const int64_t *reduce_counts(const struct reduce *r);
int64_t reduce_cycles(const struct reduce *r);
#pragma GCC visibility pop

#endif
