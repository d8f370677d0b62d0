// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * main.c - the guest agent of Kernel Duet: it sets up the host's plan, runs a workload, and
 * forwards the kernel's events. It knows nothing of lessons.
 *
 * In a sealed guest it is PID 1 (vm-images/root/init runs it); with --vng it is an ordinary
 * program that root starts in a guest with the host's files.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/reboot.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "run.h"
#include "tracefs.h"

#define BOOT_PLAN     "/sys/firmware/qemu_fw_cfg/by_name/opt/duet/plan/raw"
#define PATH_DEFAULT  "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
#define IDLE_MS	      200  /* poll timeout without a run */
#define HOST_GONE_MS  5000 /* after this without a host the guest powers off */
#define FLUSH_MS      5000 /* timeout of the last frames at the end */
#define NSEC_PER_MSEC 1000000ull

enum { WAIT_CTL, WAIT_CHILD, WAIT_OUT, WAIT_ERR, WAIT_N };

/* Static, because the agent allocates no memory after its start. */
static struct run run;
static struct frame_reader reader;
static bool is_init;

static _Noreturn void leave(void)
{
	uint64_t end = mono_ns() + FLUSH_MS * NSEC_PER_MSEC;

	while (outbox_flush(&run.outbox) > 0 && mono_ns() < end) {
		struct pollfd wait = {.fd = run.outbox.fd, .events = POLLOUT};

		if (poll(&wait, 1, 100) > 0 && (wait.revents & POLLHUP))
			break;
	}
	if (!is_init)
		exit(0);
	sync();
	reboot(RB_POWER_OFF);
	for (;;)
		pause();
}

/* Report on the console, because there is no port yet, and end. */
static _Noreturn void give_up(const struct report *report)
{
	fprintf(stderr, "duet-agent: %s %s\n", report->sentence, report->remedy);
	if (!is_init)
		exit(1);
	sync();
	reboot(RB_POWER_OFF);
	for (;;)
		pause();
}

static void obey(const struct frame_view *frame)
{
	switch (frame->type) {
	case FRAME_PLAN:
		run_plan(&run, frame->payload, frame->length);
		break;
	case FRAME_RESUME:
		run_resume(&run, frame->payload, frame->length);
		break;
	case FRAME_START:
		run_start(&run);
		break;
	case FRAME_STOP:
		run_stop(&run);
		break;
	case FRAME_SAY:
		run_say(&run, frame->payload, frame->length);
		break;
	case FRAME_PING:
		run_beat(&run);
		break;
	case FRAME_SHUTDOWN:
		leave();
	default:
		report_set(&run.report, -EPROTO, "Use host and agent of the same version.",
			   "The host sent a message of unknown type %u.", frame->type);
		run_error(&run);
	}
}

static void read_commands(void)
{
	struct frame_view frame;
	int more;
	char *at;
	size_t room = frame_reader_room(&reader, &at);
	ssize_t n = read(run.outbox.fd, at, room);

	if (n <= 0)
		return;
	frame_reader_added(&reader, n);
	while ((more = frame_reader_next(&reader, &frame)) > 0)
		obey(&frame);
	if (more < 0) {
		unsigned int head[3] = {0};

		memcpy(head, reader.buf + reader.used, sizeof(head));
		report_set(&run.report, more, "Use host and agent of the same version.",
			   "The host's stream is broken at byte %llu: magic 0x%08x, length %u.",
			   (unsigned long long)(reader.offset + reader.used), head[0], head[2]);
		run_error(&run);
		frame_reader_init(&reader);
	}
}

/* Reap all children, since PID 1 inherits orphans. The workload's first process ends the run. */
static void reap(int signal_fd)
{
	struct signalfd_siginfo info;
	bool ended = false;
	pid_t pid;
	int status;

	while (read(signal_fd, &info, sizeof(info)) == sizeof(info))
		;
	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		if (run.state != RUN_RUNNING || pid != run.workload.pid)
			continue;
		run.workload.wait_status = status;
		ended = true;
	}
	if (ended)
		run_reaped(&run);
}

static void read_boot_plan(void)
{
	static char text[PLAN_MAX_TEXT + 1];
	long len = tracefs_read(BOOT_PLAN, text, sizeof(text));

	if (len == -ENOENT)
		return;
	if (len > 0) {
		run_plan(&run, text, len);
		return;
	}
	report_set(&run.report, len, "Check the file that was given to QEMU's -fw_cfg.",
		   "The plan given at boot cannot be read: %s.", strerror(-len));
	run_error(&run);
}

static int timeout_ms(void)
{
	if (run_ticks(&run))
		return BEAT_MS;
	if (run.state != RUN_RUNNING)
		return IDLE_MS;
	if (run.kill_ns)
		return BEAT_MS;
	/* Nothing to do before the deadline, but a wall-clock run must notice a lost host. */
	return run.plan.quiet ? (int)run.plan.deadline_ms + 1 : IDLE_MS;
}

/* Power off after HOST_GONE_MS without a host, so that no guest outlives its owner. */
static void watch_host(bool gone)
{
	static uint64_t since;

	if (!gone)
		since = 0;
	else if (!since)
		since = mono_ns();
	else if (mono_ns() - since > HOST_GONE_MS * NSEC_PER_MSEC)
		leave();
	if (gone)
		usleep(BEAT_MS * 1000); /* poll() returns POLLHUP immediately, every time */
}

static _Noreturn void serve(int signal_fd)
{
	struct pollfd wait[WAIT_N] = {{.fd = run.outbox.fd}, {.fd = signal_fd, .events = POLLIN}};
	uint64_t tick = 0;

	for (;;) {
		bool running = run.state == RUN_RUNNING;

		wait[WAIT_CTL].events = POLLIN;
		if (run.outbox.len && !run.outbox.hold)
			wait[WAIT_CTL].events |= POLLOUT;
		wait[WAIT_OUT].fd = running ? run.workload.output[0].fd : -1;
		wait[WAIT_ERR].fd = running ? run.workload.output[1].fd : -1;
		wait[WAIT_OUT].events = POLLIN;
		wait[WAIT_ERR].events = POLLIN;
		if (poll(wait, WAIT_N, timeout_ms()) < 0)
			continue;
		if (wait[WAIT_CTL].revents & POLLIN)
			read_commands();
		if (wait[WAIT_OUT].revents && run.state == RUN_RUNNING)
			run_output(&run, 0);
		if (wait[WAIT_ERR].revents && run.state == RUN_RUNNING)
			run_output(&run, 1);
		if (wait[WAIT_CHILD].revents)
			reap(signal_fd);
		if (mono_ns() >= tick || !run_ticks(&run)) {
			tick = mono_ns() + BEAT_MS * NSEC_PER_MSEC;
			run_tick(&run);
		}
		outbox_flush(&run.outbox);
		watch_host(wait[WAIT_CTL].revents & POLLHUP);
	}
}

static void parse_options(int argc, char **argv)
{
	static const struct option options[] = {
		{"vng", no_argument, NULL, 'v'},
		{"path", required_argument, NULL, 'p'},
		{0},
	};
	char path[4096] = PATH_DEFAULT;
	int option;

	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (option == 'v') {
			is_init = false;
		} else if (option == 'p') {
			snprintf(path, sizeof(path), "%s:" PATH_DEFAULT, optarg);
		} else {
			fprintf(stderr, "usage: duet-agent [--vng] [--path DIRECTORY]\n");
			exit(2);
		}
	}
	setenv("PATH", path, 1);
	setenv("TMPDIR", "/tmp", 1);
	setenv("LC_ALL", "C", 1);
}

/* Receive signals through a file descriptor. Children get a clean mask. */
static int open_signals(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigprocmask(SIG_BLOCK, &set, NULL);
	signal(SIGPIPE, SIG_IGN);
	return signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
}

int main(int argc, char **argv)
{
	struct sched_param urgent = {.sched_priority = 1};
	int signal_fd, err;

	is_init = getpid() == 1;
	parse_options(argc, argv);
	signal_fd = open_signals();
	/* Before the workload, which would delay beats; children get the default policy. */
	sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &urgent);
	mlockall(MCL_CURRENT);
	run.outbox.fd = port_open("duet.ctl", PORT_FIND_MS, &run.report);
	if (run.outbox.fd < 0)
		give_up(&run.report);
	err = tracefs_mount(&run.report);
	if (!err)
		err = drain_init(&run.drain, sysconf(_SC_NPROCESSORS_ONLN), &run.report);
	if (err) {
		run_error(&run);
		leave();
	}
	run_hello(&run);
	read_boot_plan();
	serve(signal_fd);
}
