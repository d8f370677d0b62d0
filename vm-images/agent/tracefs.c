// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * tracefs.c - the kernel's tracing files: set up a plan, read counters, tear it down.
 *
 * Events are enabled before the workload, and tracing_on starts them. Under QEMU TCG enabling
 * an event patches code and takes milliseconds; tracing_on takes 0.2 ms.
 */
#include "tracefs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/utsname.h>
#include <unistd.h>

#define PATH_BYTES 256

/**
 * tracefs_mount() - mount tracefs unless it is mounted
 * @report: out, on failure
 *
 * Return: 0 or a negative errno.
 */
int tracefs_mount(struct report *report)
{
	if (!access(TRACEFS_ROOT "/tracing_on", W_OK))
		return 0;
	if (!mount("tracefs", TRACEFS_ROOT, "tracefs", 0, NULL))
		return 0;
	return report_set(report, -errno,
			  "Build the guest kernel with CONFIG_FTRACE and run as root.",
			  "tracefs cannot be mounted on %s: %s.", TRACEFS_ROOT, strerror(errno));
}

/**
 * tracefs_write() - write @text to a file in a single write
 * @file: path below TRACEFS_ROOT, or absolute
 * @text: the text
 * @extra_flags: O_APPEND or O_TRUNC
 *
 * Return: 0 or a negative errno.
 */
int tracefs_write(const char *file, const char *text, int extra_flags)
{
	char path[PATH_BYTES];
	size_t len = strlen(text);
	int fd, err = 0;

	if (snprintf(path, sizeof(path), "%s%s%s", *file == '/' ? "" : TRACEFS_ROOT,
		     *file == '/' ? "" : "/", file) >= (int)sizeof(path))
		return -ENAMETOOLONG;
	fd = open(path, O_WRONLY | O_CLOEXEC | extra_flags);
	if (fd < 0)
		return -errno;
	if (len && write(fd, text, len) < 0)
		err = -errno;
	close(fd);
	return err;
}

static int open_to_read(const char *file)
{
	char path[PATH_BYTES];
	int fd;

	snprintf(path, sizeof(path), "%s%s%s", *file == '/' ? "" : TRACEFS_ROOT,
		 *file == '/' ? "" : "/", file);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

static long read_whole(int fd, char *out, size_t cap)
{
	size_t len = 0;
	ssize_t n = 1;

	while (n > 0 && len < cap - 1) {
		n = pread(fd, out + len, cap - 1 - len, len);
		if (n < 0) {
			n = -errno;
			break;
		}
		len += n;
	}
	out[len] = '\0';
	if (n < 0)
		return n;
	return n > 0 ? -EFBIG : (long)len;
}

/**
 * tracefs_read() - read a whole small file
 * @path: path below TRACEFS_ROOT, or absolute
 * @out: text, ended with NUL
 * @cap: room at @out
 *
 * Return: bytes without the NUL, -EFBIG if the file does not fit, or another errno.
 */
long tracefs_read(const char *file, char *out, size_t cap)
{
	int fd = open_to_read(file);
	long len;

	if (fd < 0)
		return fd;
	len = read_whole(fd, out, cap);
	close(fd);
	return len;
}

/*
 * Read a whole file that is read repeatedly while a workload runs, and keep it open in @fd (0 at
 * first). Each open would walk a path and change reference counts of dentries, which lesson 05
 * counts.
 */
static long read_again(int *fd, const char *file, char *out, size_t cap)
{
	if (!*fd) {
		int opened = open_to_read(file);

		if (opened < 0)
			return opened;
		*fd = opened;
	}
	return read_whole(*fd, out, cap);
}

/**
 * tracefs_clock() - return the trace clock in use
 * @out: "[mono]", or "unknown"
 * @cap: room at @out
 */
void tracefs_clock(char *out, size_t cap)
{
	char text[512];
	char *open, *close;

	snprintf(out, cap, "unknown");
	if (tracefs_read("trace_clock", text, sizeof(text)) < 0)
		return;
	open = strchr(text, '[');
	close = open ? strchr(open, ']') : NULL;
	if (close)
		snprintf(out, cap, "%.*s", (int)(close - open + 1), open);
}

/* Add the kernel's error log to the detail. */
static void add_error_log(struct report *report)
{
	char text[8192];
	long len = tracefs_read("error_log", text, sizeof(text));
	const size_t room = sizeof(report->detail) - 1;

	if (len <= 0)
		return;
	if ((size_t)len > room)
		memmove(text, text + len - room, room + 1);
	memcpy(report->detail, text, room);
	report->detail[room] = '\0';
}

static int setup_probe(const char *line, struct report *report)
{
	const char *name = strchr(line, ':') + 1;
	struct utsname uts;
	int err = tracefs_write("kprobe_events", line, O_APPEND);

	if (!err)
		return 0;
	uname(&uts);
	report_set(report, err,
		   "Check that the function stands in this arm's System.map; if the "
		   "compiler inlined it, mark it noinline in kernel-patches/both.",
		   "The probe %.*s (`%s`) does not resolve on kernel %s: %s.",
		   (int)strcspn(name, " "), name, line, uts.release, strerror(-err));
	add_error_log(report);
	return err;
}

static int setup_event(const struct plan_pair *event, struct report *report)
{
	char path[PATH_BYTES];
	int err;

	snprintf(path, sizeof(path), "events/%s/filter", event->name);
	err = tracefs_write(path, *event->rest ? event->rest : "0", 0);
	if (err && err != -ENOENT) {
		report_set(report, err, "Check the field names against the event's format file.",
			   "The filter `%s` of event %s is refused: %s.", event->rest, event->name,
			   strerror(-err));
		add_error_log(report);
		return err;
	}
	snprintf(path, sizeof(path), "events/%s/enable", event->name);
	err = tracefs_write(path, "1", 0);
	if (err)
		return report_set(report, err,
				  "Check that this kernel has the event, or define it as a probe.",
				  "The event %s cannot be switched on: %s.", event->name,
				  strerror(-err));
	return 0;
}

/*
 * Live, a full buffer overwrites its oldest events (overrun), because viewers look at the newest.
 * With `drain end` it drops the newest events (dropped), so that the start of the run is kept.
 */
static int setup_buffer(const struct plan *plan, struct report *report)
{
	char text[32], clock[64];
	int err;

	err = tracefs_write("options/overwrite", plan->drain_end ? "0" : "1", 0);
	if (err)
		return report_set(report, err, "Build the guest kernel with CONFIG_FTRACE.",
				  "The ring buffer's overwrite mode cannot be set: %s.",
				  strerror(-err));
	snprintf(text, sizeof(text), "%u", plan->buffer_kb);
	err = tracefs_write("buffer_size_kb", text, 0);
	if (err)
		return report_set(report, err,
				  "Give the guest more memory or use a smaller buffer.",
				  "A ring buffer of %u KiB per CPU cannot be made: %s.",
				  plan->buffer_kb, strerror(-err));
	tracefs_clock(clock, sizeof(clock));
	if (strcmp(clock, "[mono]"))
		tracefs_write("trace_clock", "mono", 0);
	tracefs_clock(clock, sizeof(clock));
	if (strcmp(clock, "[mono]"))
		return report_set(report, -EINVAL, "Boot the guest with trace_clock=mono.",
				  "The trace clock is %s, not [mono].", clock);
	/* Opening the file with O_TRUNC clears the buffers and their counters. */
	return tracefs_write("trace", "", O_TRUNC);
}

/**
 * tracefs_setup() - set up probes, filters and events of a plan; tracing stays off
 * @plan: the plan
 * @report: out, on failure
 *
 * Return: 0, or a negative errno with @report filled. In both cases the caller must call
 * tracefs_teardown().
 */
int tracefs_setup(const struct plan *plan, struct report *report)
{
	int err = tracefs_write("tracing_on", "0", 0);

	if (!err)
		err = tracefs_write("kprobe_events", "", O_TRUNC);
	if (err)
		return report_set(report, err, "Build the guest kernel with CONFIG_KPROBE_EVENTS.",
				  "Tracing cannot be reset: %s.", strerror(-err));
	err = setup_buffer(plan, report);
	for (int i = 0; !err && i < plan->nprobes; i++)
		err = setup_probe(plan->probes[i], report);
	for (int i = 0; !err && i < plan->nevents; i++)
		err = setup_event(&plan->events[i], report);
	return err;
}

/**
 * tracefs_teardown() - disable the events and remove the probes of a plan
 * @plan: the plan of tracefs_setup(), which may have failed
 */
void tracefs_teardown(const struct plan *plan)
{
	char path[PATH_BYTES];

	tracefs_write("tracing_on", "0", 0);
	for (int i = 0; i < plan->nevents; i++) {
		snprintf(path, sizeof(path), "events/%s/enable", plan->events[i].name);
		tracefs_write(path, "0", 0);
		snprintf(path, sizeof(path), "events/%s/filter", plan->events[i].name);
		tracefs_write(path, "0", 0);
	}
	tracefs_write("kprobe_events", "", O_TRUNC);
}

static uint64_t number_after(const char *text, const char *key)
{
	const char *at = strstr(text, key);

	return at ? strtoull(at + strlen(key), NULL, 10) : 0;
}

/**
 * tracefs_stats() - read the loss counters of one CPU
 * @cpu: number of the CPU
 * @out: counters since the plan was set up
 *
 * Source: tracing_stats_read() in kernel/trace/trace.c, 6.1.
 * Return: 0 or a negative errno.
 */
int tracefs_stats(int cpu, struct frame_stats_cpu *out)
{
	static int fds[FRAME_MAX_CPUS];
	char path[64], text[1024] = "\n";
	long len;

	snprintf(path, sizeof(path), "per_cpu/cpu%d/stats", cpu);
	len = read_again(&fds[cpu], path, text + 1, sizeof(text) - 1);
	if (len < 0)
		return len;
	out->entries = number_after(text, "\nentries:");
	out->overrun = number_after(text, "\noverrun:");
	out->commit_overrun = number_after(text, "\ncommit overrun:");
	out->dropped = number_after(text, "\ndropped events:");
	out->read = number_after(text, "\nread events:");
	return 0;
}

/**
 * tracefs_kprobe_missed() - count the hits of all probes that were not recorded
 *
 * Return: sum of the last column of kprobe_profile (kretprobes above MAXACTIVE, re-entry).
 */
uint64_t tracefs_kprobe_missed(void)
{
	static char text[16384];
	static int fd;
	uint64_t sum = 0;
	char *next = text, *line;

	if (read_again(&fd, "kprobe_profile", text, sizeof(text)) < 0)
		return 0;
	while ((line = strsep(&next, "\n"))) {
		char *last = strrchr(line, ' ');

		if (last)
			sum += strtoull(last, NULL, 10);
	}
	return sum;
}
