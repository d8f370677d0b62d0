// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * run.c - one run: from the plan to the last event. Main thread only.
 *
 *	IDLE -PLAN-> READY -START-> RUNNING -workload ends-> DRAINING -all sent-> IDLE
 */
#include "run.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "resume.h"
#include "setup.h"
#include "tracefs.h"

#define MARK_END      "duet: end"
#define CLOCKSOURCE   "/sys/devices/system/clocksource/clocksource0/current_clocksource"
#define NSEC_PER_MSEC 1000000ull

/* Buffer for one file of tracefs; static, because the agent allocates no memory. */
static char file_text[FRAME_MAX_PAYLOAD];

static void put(struct run *run, uint16_t type, const void *bytes, size_t len)
{
	struct frame_part part = {bytes, len};

	outbox_put(&run->outbox, type, &part, 1);
}

static void read_clocksource(char *out, size_t cap)
{
	long len = tracefs_read(CLOCKSOURCE, out, cap);

	out[len > 0 ? strcspn(out, "\n") : 0] = '\0';
}

/**
 * run_hello() - send HELLO, the first frame after boot
 * @run: its ports are open
 */
void run_hello(struct run *run)
{
	char text[1024], source[64], clock[64];
	struct utsname uts;
	int len;

	uname(&uts);
	read_clocksource(source, sizeof(source));
	tracefs_clock(clock, sizeof(clock));
	len = snprintf(text, sizeof(text),
		       "agent 1\nkernel %s\nclocksource %s\ncpus %d\npage_bytes %d\n"
		       "trace_clock %s\nmono_ns %llu\n",
		       uts.release, source, run->drain.ncpu, DRAIN_PAGE_BYTES, clock,
		       (unsigned long long)mono_ns());
	put(run, FRAME_HELLO, text, len);
}

/**
 * run_error() - send run->report as ERROR
 * @run: its report is filled
 */
void run_error(struct run *run)
{
	char text[sizeof(struct report) + 4];
	int len = snprintf(text, sizeof(text), "%s\n%s\n%s", run->report.sentence,
			   run->report.remedy, run->report.detail);

	put(run, FRAME_ERROR, text, len);
}

/* Refuse a clock source other than the TSC; tsc-early is the TSC before its calibration. */
static int check_clocksource(struct report *report)
{
	char source[64];

	read_clocksource(source, sizeof(source));
	if (!strcmp(source, "tsc") || !strcmp(source, "tsc-early") || !strcmp(source, "kvm-clock"))
		return 0;
	return report_set(report, -EINVAL, "Boot the guest with tsc=reliable.",
			  "The guest's clocksource is `%s`, so its times cannot be trusted.",
			  source);
}

static int send_file(struct run *run, const char *name, const char *path)
{
	struct frame_part parts[2] = {{name, strlen(name) + 1}, {file_text, 0}};
	long len = tracefs_read(path, file_text, sizeof(file_text));

	if (len >= 0) {
		parts[1].len = len;
		len = outbox_put(&run->outbox, FRAME_FILE, parts, 2);
	}
	if (len < 0)
		return report_set(&run->report, len, "Check that the guest kernel has this event.",
				  "The file %s cannot be sent: %s.", path, strerror(-len));
	return 0;
}

static int send_files(struct run *run)
{
	static const char *const files[] = {"header_page", "header_event"};
	char name[160], path[160];
	int err = send_file(run, "printk_formats", "printk_formats");

	for (int i = 0; !err && i < 2; i++) {
		snprintf(path, sizeof(path), "events/%s", files[i]);
		err = send_file(run, files[i], path);
	}
	for (int i = -1; !err && i < run->plan.nevents; i++) {
		const char *event = i < 0 ? "ftrace/print" : run->plan.events[i].name;

		if (snprintf(name, sizeof(name), "events/%s/format", event) >= (int)sizeof(name))
			return report_set(&run->report, -ENAMETOOLONG, "Use a shorter event name.",
					  "The event name `%s` is too long.", event);
		err = send_file(run, name, name);
	}
	return err;
}

static void take_down(struct run *run)
{
	if (!run->planned)
		return;
	drain_end(&run->drain);
	if (run->plan.trace)
		tracefs_teardown(&run->plan);
	run->planned = false;
}

static int set_up(struct run *run)
{
	int err = check_clocksource(&run->report);

	if (!err)
		err = setup_steps(&run->plan, &run->report);
	if (!err && run->plan.trace) {
		err = tracefs_setup(&run->plan, &run->report);
		if (!err)
			err = send_files(run);
		if (!err)
			err = drain_begin(&run->drain, &run->report);
	}
	return err;
}

/**
 * run_plan() - replace the former plan by a new one
 * @run: any state; refused while a run is under way
 * @text: the plan
 * @len: bytes of @text
 *
 * Sends READY or ERROR.
 */
void run_plan(struct run *run, const char *text, size_t len)
{
	int err;

	if (run->state == RUN_RUNNING || run->state == RUN_DRAINING) {
		report_set(&run->report, -EBUSY, "Send STOP and wait for DRAINED first.",
			   "A plan came while a run is under way.");
		run_error(run);
		return;
	}
	take_down(run);
	run->state = RUN_IDLE;
	err = plan_parse(&run->plan, text, len, &run->report);
	if (!err) {
		run->planned = true;
		err = set_up(run);
	}
	if (err) {
		take_down(run);
		run_error(run);
		return;
	}
	run->state = RUN_READY;
	put(run, FRAME_READY, NULL, 0);
	if (run->plan.autostart)
		run_start(run);
}

/**
 * run_resume() - continue as a copy of a guest that was parked with its plan set up
 * @run: in RUN_READY
 * @payload: struct frame_resume, then lines for plan_amend()
 * @len: bytes of @payload
 *
 * Sends RESUMED or ERROR.
 */
void run_resume(struct run *run, const char *payload, size_t len)
{
	struct frame_resume resume;
	struct frame_resumed resumed;
	int err;

	if (run->state != RUN_READY || len < sizeof(resume)) {
		report_set(&run->report, -EPROTO, "Send a PLAN first, and wait for READY.",
			   "RESUME came without a plan that is ready, or too short.");
		run_error(run);
		return;
	}
	memcpy(&resume, payload, sizeof(resume));
	err = resume_guest(&resume, &resumed, &run->report);
	if (!err)
		err = plan_amend(&run->plan, payload + sizeof(resume), len - sizeof(resume),
				 &run->report);
	if (!err)
		err = setup_steps(&run->plan, &run->report);
	if (err) {
		take_down(run);
		run->state = RUN_IDLE;
		run_error(run);
		return;
	}
	put(run, FRAME_RESUMED, &resumed, sizeof(resumed));
}

/**
 * run_start() - start the workload of the plan
 * @run: in RUN_READY
 */
void run_start(struct run *run)
{
	struct frame_started started;
	int err;

	if (run->state != RUN_READY) {
		report_set(&run->report, -EPROTO, "Send a PLAN first, and wait for READY.",
			   "START came without a plan that is ready.");
		run_error(run);
		return;
	}
	run->outbox.hold = run->plan.quiet;
	if (run->plan.trace && !run->plan.drain_end)
		drain_move(&run->drain, DRAIN_LIVE);
	run->kill_ns = 0;
	run->stats_ns = mono_ns() + STATS_MS * NSEC_PER_MSEC;
	run->deadline_ns = mono_ns() + run->plan.deadline_ms * NSEC_PER_MSEC;
	err = workload_start(&run->workload, run->plan.argv, run->plan.trace, run->plan.input,
			     &run->report);
	if (err) {
		run->outbox.hold = false;
		take_down(run);
		run->state = RUN_IDLE;
		run_error(run);
		return;
	}
	started.mono_ns = mono_ns();
	started.pid = run->workload.pid;
	put(run, FRAME_STARTED, &started, sizeof(started));
	run->state = RUN_RUNNING;
}

/**
 * run_stop() - stop the workload: SIGTERM now, SIGKILL after STOP_WAIT_MS
 * @run: any state; no effect without a workload
 */
void run_stop(struct run *run)
{
	if (run->state != RUN_RUNNING || run->kill_ns)
		return;
	run->kill_ns = mono_ns() + STOP_WAIT_MS * NSEC_PER_MSEC;
	workload_signal(&run->workload, SIGTERM);
}

static void put_line(void *context, int stream, const char *text, size_t len)
{
	struct run *run = context;
	struct frame_line head = {.mono_ns = mono_ns(), .stream = stream};
	struct frame_part parts[2] = {{&head, sizeof(head)}, {text, len}};

	outbox_put(&run->outbox, FRAME_LINE, parts, 2);
}

/**
 * run_say() - write a line to the workload's standard input
 * @run: any state; without a workload that reads, a LINE reports the refusal
 * @text: the line
 * @len: bytes of @text
 */
void run_say(struct run *run, const char *text, size_t len)
{
	char refusal[FRAME_MAX_SAY];
	int err = -EPIPE, n;

	if (len > FRAME_MAX_SAY || memchr(text, '\n', len))
		err = -EINVAL;
	else if (run->state == RUN_RUNNING)
		err = workload_say(&run->workload, text, len);
	if (!err)
		return;
	n = snprintf(refusal, sizeof(refusal), "duet-agent: the workload cannot be told `%.*s`: %s",
		     (int)(len > 80 ? 80 : len), text, strerror(-err));
	put_line(run, 2, refusal, n);
}

/**
 * run_output() - send lines that the workload has written
 * @run: in RUN_RUNNING
 * @index: 0 standard output, 1 standard error
 */
void run_output(struct run *run, int index)
{
	workload_read(&run->workload, index, put_line, run);
}

/**
 * run_beat() - send BEAT: how far the data of each CPU are complete
 * @run: any state
 */
void run_beat(struct run *run)
{
	struct frame_beat_cpu cpus[FRAME_MAX_CPUS];
	struct frame_beat beat = {.ncpu = run->drain.ncpu};
	struct frame_part parts[2] = {{&beat, sizeof(beat)},
				      {cpus, sizeof(cpus[0]) * run->drain.ncpu}};

	drain_progress(&run->drain, cpus);
	/* Read after the progress, so that no empty_at_ns is later than mono_ns. */
	beat.mono_ns = mono_ns();
	outbox_put(&run->outbox, FRAME_BEAT, parts, 2);
}

static void put_stats(struct run *run, uint32_t flags)
{
	struct frame_stats head = {.flags = flags, .ncpu = run->drain.ncpu};
	struct frame_stats_cpu cpus[FRAME_MAX_CPUS] = {0};
	struct frame_stats_tail tail = {.kprobe_missed = tracefs_kprobe_missed()};
	struct frame_part parts[3] = {{&head, sizeof(head)},
				      {cpus, sizeof(cpus[0]) * run->drain.ncpu},
				      {&tail, sizeof(tail)}};

	for (int i = 0; i < run->drain.ncpu; i++)
		tracefs_stats(i, &cpus[i]);
	outbox_put(&run->outbox, FRAME_STATS, parts, 3);
}

static void put_drained(struct run *run)
{
	struct frame_drained drained = {.mono_ns = mono_ns()};

	put(run, FRAME_DRAINED, &drained, sizeof(drained));
	run->state = RUN_IDLE;
}

/**
 * run_reaped() - handle the end of the workload's first process
 * @run: in RUN_RUNNING; workload.wait_status is set
 */
void run_reaped(struct run *run)
{
	struct frame_ended ended = {.mono_ns = mono_ns()};

	if (run->plan.trace) {
		tracefs_write("trace_marker", MARK_END, 0);
		tracefs_write("tracing_on", "0", 0);
	}
	ended.status = workload_finish(&run->workload, put_line, run);
	run->outbox.hold = false;
	put(run, FRAME_ENDED, &ended, sizeof(ended));
	run->state = RUN_DRAINING;
	if (run->plan.trace)
		drain_move(&run->drain, DRAIN_FINISH);
	else
		put_drained(run);
}

static void tell_dropped(struct run *run)
{
	uint64_t lost = run->outbox.dropped - run->told_dropped;

	if (!lost)
		return;
	run->told_dropped = run->outbox.dropped;
	report_set(&run->report, -EAGAIN, "Read the port duet.ctl faster, or print fewer lines.",
		   "%llu messages of the agent were dropped, since the host did not read them.",
		   (unsigned long long)lost);
	run_error(run);
}

static void finish_draining(struct run *run)
{
	int err;

	if (!drain_done(&run->drain, &err))
		return;
	if (err) {
		report_set(&run->report, err, "Keep reading the ports duet.cpuN until DRAINED.",
			   "The last events could not be sent: %s.", strerror(-err));
		run_error(run);
	}
	tell_dropped(run);
	run_beat(run);
	put_stats(run, FRAME_STATS_FINAL);
	put_drained(run);
}

/**
 * run_ticks() - check whether run_tick() must be called every BEAT_MS
 * @run: any state
 *
 * Not during a workload on the count clock, where each tick would add instructions and
 * interrupts.
 */
bool run_ticks(const struct run *run)
{
	if (run->state == RUN_DRAINING)
		return true;
	return run->state == RUN_RUNNING && run->plan.trace && !run->plan.quiet;
}

/**
 * run_tick() - do what is due: deadlines, beats, statistics, the end of draining
 * @run: any state; call at least every BEAT_MS while run_ticks() is true
 */
void run_tick(struct run *run)
{
	uint64_t now = mono_ns();

	if (run->state == RUN_RUNNING && now > run->deadline_ns && !run->kill_ns) {
		static const char text[] = "duet-agent: the plan's deadline has passed, "
					   "the workload is ended";

		put_line(run, 2, text, sizeof(text) - 1);
		run_stop(run);
	}
	if (run->state == RUN_RUNNING && run->kill_ns && now > run->kill_ns)
		workload_signal(&run->workload, SIGKILL);
	if (run_ticks(run))
		run_beat(run);
	if (run->state == RUN_DRAINING)
		finish_draining(run);
	if (run_ticks(run) && now > run->stats_ns) {
		run->stats_ns = now + STATS_MS * NSEC_PER_MSEC;
		tell_dropped(run);
		put_stats(run, 0);
	}
}
