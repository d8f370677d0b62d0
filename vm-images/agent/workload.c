// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * workload.c - the workload: start it, read its lines, wait for its end.
 *
 * It gets a separate process group and mount namespace. So a killed run leaves no processes
 * and mounts for the next run.
 */
#define _GNU_SOURCE
#include "workload.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tracefs.h"

#define MARK_START "duet: start"

/* Arguments of the child; all descriptors are open before the fork. */
struct launch {
	char *const *argv;
	int in; /* /dev/null, or the pipe for lines of the host */
	int out;
	int err;
	int fail;	/* gets errno if exec fails */
	int tracing_on; /* -1 without tracing */
	int marker;
};

static void child_main(const struct launch *launch)
{
	sigset_t none;
	int err;

	setpgid(0, 0);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_DFL);
	if (!unshare(CLONE_NEWNS))
		mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL);
	dup2(launch->in, STDIN_FILENO);
	dup2(launch->out, STDOUT_FILENO);
	dup2(launch->err, STDERR_FILENO);
	if (chdir("/tmp"))
		err = errno; /* harmless: programs use absolute paths */
	if (launch->tracing_on >= 0) {
		if (write(launch->tracing_on, "1", 1) != 1 ||
		    write(launch->marker, MARK_START, strlen(MARK_START)) < 0)
			goto fail;
	}
	execvp(launch->argv[0], launch->argv);
fail:
	err = errno;
	if (write(launch->fail, &err, sizeof(err)) < 0)
		_exit(126);
	_exit(127);
}

static void close_all(const int *fds, int n)
{
	for (int i = 0; i < n; i++)
		if (fds[i] >= 0)
			close(fds[i]);
}

/* Read the result of exec: exec closes the pipe, a failure writes errno into it. */
static int exec_result(int fd)
{
	ssize_t n;
	int err = 0;

	do {
		n = read(fd, &err, sizeof(err));
	} while (n < 0 && errno == EINTR);
	return n == sizeof(err) ? -err : 0;
}

#define NFDS 10

/*
 * fds: read and write ends of the pipes out, err and fail; tracing_on; trace_marker; the
 * program's input, and its write end.
 */
static int open_all(int fds[NFDS], bool trace, bool input)
{
	for (int i = 0; i < NFDS; i++)
		fds[i] = -1;
	for (int i = 0; i < 3; i++)
		if (pipe2(fds + 2 * i, O_CLOEXEC) < 0)
			return -errno;
	fcntl(fds[0], F_SETFL, O_NONBLOCK);
	fcntl(fds[2], F_SETFL, O_NONBLOCK);
	if (input) {
		if (pipe2(fds + 8, O_CLOEXEC) < 0)
			return -errno;
		fcntl(fds[9], F_SETFL, O_NONBLOCK);
	} else {
		fds[8] = open("/dev/null", O_RDONLY | O_CLOEXEC);
		if (fds[8] < 0)
			return -errno;
	}
	if (!trace)
		return 0;
	fds[6] = open(TRACEFS_ROOT "/tracing_on", O_WRONLY | O_CLOEXEC);
	fds[7] = open(TRACEFS_ROOT "/trace_marker", O_WRONLY | O_CLOEXEC);
	return fds[6] < 0 || fds[7] < 0 ? -errno : 0;
}

static int launch_failed(char *const argv[], int err, struct report *report)
{
	return report_set(report, err, "Check the program's name and that the root image holds it.",
			  "The workload `%s` could not be started: %s.", argv[0], strerror(-err));
}

/**
 * workload_start() - start a program
 * @workload: out
 * @argv: its arguments, ended by NULL
 * @trace: enable tracing and write the start marker right before exec
 * @input: connect its standard input to workload_say()
 * @report: out, on failure
 *
 * Return: 0 once the program runs, or a negative errno with @report filled.
 */
int workload_start(struct workload *workload, char *const argv[], bool trace, bool input,
		   struct report *report)
{
	struct launch launch = {.argv = argv};
	int fds[NFDS];
	pid_t pid;
	int err = open_all(fds, trace, input);

	if (err)
		goto fail;
	launch.in = fds[8];
	launch.out = fds[1];
	launch.err = fds[3];
	launch.fail = fds[5];
	launch.tracing_on = fds[6];
	launch.marker = fds[7];
	pid = fork();
	if (pid < 0) {
		err = -errno;
		goto fail;
	}
	if (!pid)
		child_main(&launch);
	close(fds[5]);
	fds[5] = -1;
	err = exec_result(fds[4]);
	if (err) {
		waitpid(pid, NULL, 0);
		goto fail;
	}
	memset(workload, 0, sizeof(*workload));
	workload->pid = pid;
	workload->output[0].fd = fds[0];
	workload->output[1].fd = fds[2];
	workload->input = fds[9];
	fds[0] = -1;
	fds[2] = -1;
	fds[9] = -1;
	close_all(fds, NFDS);
	return 0;
fail:
	close_all(fds, NFDS);
	return launch_failed(argv, err, report);
}

static void close_input(struct workload *workload)
{
	if (workload->pid && workload->input >= 0)
		close(workload->input);
	workload->input = -1;
}

/**
 * workload_say() - write a line to the program's standard input
 * @workload: from workload_start()
 * @text: the line, without its newline
 * @len: bytes of @text, less than PIPE_BUF
 *
 * Return: 0, -EPIPE if it has no input, -EAGAIN if its pipe is full.
 */
int workload_say(struct workload *workload, const char *text, size_t len)
{
	char line[FRAME_MAX_SAY + 1];

	if (!workload->pid || workload->input < 0)
		return -EPIPE;
	memcpy(line, text, len);
	line[len] = '\n';
	/* A write of less than PIPE_BUF is atomic. */
	return write(workload->input, line, len + 1) < 0 ? -errno : 0;
}

/* Pass on all whole lines; a line longer than the buffer is split. */
static void cut_lines(struct workload_output *output, int stream, bool last, workload_line_fn line,
		      void *context)
{
	char *at = output->text;
	char *end = at + output->len;
	char *newline;

	while ((newline = memchr(at, '\n', end - at))) {
		line(context, stream, at, newline - at);
		at = newline + 1;
	}
	if (end > at && (last || (size_t)(end - at) == sizeof(output->text))) {
		line(context, stream, at, end - at);
		at = end;
	}
	output->len = end - at;
	memmove(output->text, at, output->len);
}

/* Read once and pass on whole lines. Return bytes read, 0 at the end, or a negative errno. */
static long read_some(struct workload_output *output, int stream, workload_line_fn line,
		      void *context)
{
	ssize_t n;

	if (output->fd < 0)
		return 0;
	n = read(output->fd, output->text + output->len, sizeof(output->text) - output->len);
	if (n < 0)
		return -errno;
	output->len += n;
	cut_lines(output, stream, false, line, context);
	return n;
}

/**
 * workload_read() - read what the program has written
 * @workload: from workload_start()
 * @index: 0 standard output, 1 standard error
 * @line: called with each line
 * @context: for @line
 */
void workload_read(struct workload *workload, int index, workload_line_fn line, void *context)
{
	struct workload_output *output = &workload->output[index];
	long n = read_some(output, index + 1, line, context);

	if (output->fd < 0 || n > 0 || n == -EAGAIN || n == -EINTR)
		return;
	cut_lines(output, index + 1, true, line, context);
	close(output->fd);
	output->fd = -1;
}

/**
 * workload_signal() - send a signal to the whole process group
 * @workload: from workload_start(); may have ended
 * @signal: number of the signal
 */
void workload_signal(struct workload *workload, int signal)
{
	if (workload->pid)
		kill(-workload->pid, signal);
}

/**
 * workload_finish() - kill the process group of a reaped program, and read its last lines
 * @workload: its wait_status is set
 * @line: called with each line
 * @context: for @line
 *
 * Return: exit code, or the negative number of the signal that ended it.
 */
int workload_finish(struct workload *workload, workload_line_fn line, void *context)
{
	int status = workload->wait_status;

	workload_signal(workload, SIGKILL);
	close_input(workload);
	for (int i = 0; i < 2; i++) {
		struct workload_output *output = &workload->output[i];

		while (read_some(output, i + 1, line, context) > 0)
			;
		cut_lines(output, i + 1, true, line, context);
		if (output->fd >= 0)
			close(output->fd);
		output->fd = -1;
	}
	workload->pid = 0;
	return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}
