/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * golden.h - one frame of every kind, with the values that both sides' tests know.
 */
#ifndef DUET_GOLDEN_H
#define DUET_GOLDEN_H

#include "frame.h"

#define GOLDEN_MONO_NS 0x0102030405060708ull

struct golden {
	const char *name;
	uint16_t type;
	int nparts;
	struct frame_part parts[3];
};

#define TEXT(string)                       \
	{                                  \
		string, sizeof(string) - 1 \
	}
#define FIXED(value)                    \
	{                               \
		&(value), sizeof(value) \
	}

static const struct frame_line golden_line_out = {GOLDEN_MONO_NS, 1};
static const struct frame_line golden_line_err = {GOLDEN_MONO_NS, 2};
static const struct frame_started golden_started = {GOLDEN_MONO_NS, 42};
static const struct frame_ended golden_ended_ok = {GOLDEN_MONO_NS, 0};
static const struct frame_ended golden_ended_killed = {GOLDEN_MONO_NS, -9};
static const struct frame_beat golden_beat = {GOLDEN_MONO_NS, 2};
static const struct frame_beat_cpu golden_beat_cpus[2] = {{4096, 1000}, {8192, 2000}};
static const struct frame_stats golden_stats = {FRAME_STATS_FINAL, 2};
static const struct frame_stats_cpu golden_stats_cpus[2] = {{1, 2, 3, 4, 5}, {6, 7, 8, 9, 10}};
static const struct frame_stats_tail golden_stats_tail = {11};
static const struct frame_drained golden_drained = {GOLDEN_MONO_NS};

static const struct frame_resumed golden_resumed = {
	GOLDEN_MONO_NS, 1700000000000000000ull, {1, 2, 3, 4}};
static const struct frame_resume golden_resume = {1700000000000000000ull, {5, 6, 7, 8}};

static const struct golden goldens[] = {
	{"hello",
	 FRAME_HELLO,
	 1,
	 {TEXT("agent 1\nkernel 6.1.192\nclocksource tsc\ncpus 2\npage_bytes 4096\n"
	       "trace_clock [mono]\nmono_ns 1043876986\n")}},
	{"file", FRAME_FILE, 1, {TEXT("events/ftrace/print/format\0name: print\nID: 5\n")}},
	{"ready", FRAME_READY, 0, {{0}}},
	{"line_out",
	 FRAME_LINE,
	 2,
	 {FIXED(golden_line_out),
	  TEXT("storm: hogs=9 seconds=2.000 umounts=1234 per_s=617.0 errors=0")}},
	{"line_err", FRAME_LINE, 2, {FIXED(golden_line_err), TEXT("caf\xc3\xa9 \xff")}},
	{"line_empty", FRAME_LINE, 1, {FIXED(golden_line_out)}},
	{"started", FRAME_STARTED, 1, {FIXED(golden_started)}},
	{"ended_ok", FRAME_ENDED, 1, {FIXED(golden_ended_ok)}},
	{"ended_killed", FRAME_ENDED, 1, {FIXED(golden_ended_killed)}},
	{"beat", FRAME_BEAT, 2, {FIXED(golden_beat), FIXED(golden_beat_cpus)}},
	{"stats",
	 FRAME_STATS,
	 3,
	 {FIXED(golden_stats), FIXED(golden_stats_cpus), FIXED(golden_stats_tail)}},
	{"error",
	 FRAME_ERROR,
	 1,
	 {TEXT("The probe duet/x (`p:duet/x no_such`) does not resolve on kernel 6.1.192: "
	       "No such file or directory.\nCheck System.map.\nfirst\nsecond")}},
	{"drained", FRAME_DRAINED, 1, {FIXED(golden_drained)}},
	{"plan", FRAME_PLAN, 1, {TEXT("plan 1\nrun true\n")}},
	{"start", FRAME_START, 0, {{0}}},
	{"stop", FRAME_STOP, 0, {{0}}},
	{"shutdown", FRAME_SHUTDOWN, 0, {{0}}},
	{"ping", FRAME_PING, 0, {{0}}},
	{"say", FRAME_SAY, 1, {{"touch 17", 8}}},
	{"resumed", FRAME_RESUMED, 1, {FIXED(golden_resumed)}},
	{"resume", FRAME_RESUME, 2, {FIXED(golden_resume), TEXT("deadline_ms 5000\nrun true\n")}},
};

#define GOLDENS (sizeof(goldens) / sizeof(goldens[0]))

#endif
