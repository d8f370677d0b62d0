// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * setup.c - carry out the steps of a plan before its run: commands, and writes to files.
 *
 * Commands run in the agent's mount namespace. The workload's namespace is a copy of it, so
 * the workload sees what they have mounted. Tracing is off meanwhile.
 */
#define _GNU_SOURCE
#include "setup.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "port.h"
#include "tracefs.h"

#define NSEC_PER_MSEC 1000000ull
#define REMEDY_SETUP  "Read its output in the detail; the lesson's `setup` names the command."

/* A running command, and the tail of its output. */
struct command {
	char *const *argv;
	pid_t pid;  /* also its process group */
	int pidfd;  /* readable once it has ended */
	int output; /* its standard output and standard error */
	size_t len;
	char tail[sizeof(((struct report *)0)->detail)];
};

/* Join the words to one line, for messages. */
static void join(char *const argv[], char *out, size_t cap)
{
	size_t len = 0;

	out[0] = '\0';
	for (int i = 0; argv[i] && len < cap; i++)
		len += snprintf(out + len, cap - len, "%s%s", i ? " " : "", argv[i]);
}

static void child_main(char *const argv[], int in, int out)
{
	sigset_t none;

	setpgid(0, 0);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_DFL);
	dup2(in, STDIN_FILENO);
	dup2(out, STDOUT_FILENO);
	dup2(out, STDERR_FILENO);
	if (chdir("/tmp"))
		errno = 0; /* harmless: programs use absolute paths */
	execvp(argv[0], argv);
	dprintf(STDERR_FILENO, "%s cannot be run: %s\n", argv[0], strerror(errno));
	_exit(127);
}

static int launch(struct command *command)
{
	int fds[2], null, err = 0;

	if (pipe2(fds, O_CLOEXEC) < 0)
		return -errno;
	null = open("/dev/null", O_RDONLY | O_CLOEXEC);
	command->pid = fork();
	if (!command->pid)
		child_main(command->argv, null, fds[1]);
	if (command->pid < 0)
		err = -errno;
	close(fds[1]);
	if (null >= 0)
		close(null);
	if (!err) {
		/* Parent and child both set the group, so that it exists before any kill. */
		setpgid(command->pid, command->pid);
		command->pidfd = syscall(SYS_pidfd_open, command->pid, 0);
		if (command->pidfd < 0) {
			err = -errno;
			kill(-command->pid, SIGKILL);
			waitpid(command->pid, NULL, 0);
		}
	}
	if (err) {
		close(fds[0]);
		return err;
	}
	fcntl(fds[0], F_SETFL, O_NONBLOCK);
	command->output = fds[0];
	return 0;
}

/* Read output and keep its newest bytes. Return false at its end. */
static bool read_output(struct command *command)
{
	char text[512];
	const size_t room = sizeof(command->tail) - 1;
	ssize_t n = read(command->output, text, sizeof(text));
	size_t drop;

	if (n <= 0)
		return n < 0 && (errno == EAGAIN || errno == EINTR);
	drop = command->len + n > room ? command->len + n - room : 0;
	memmove(command->tail, command->tail + drop, command->len - drop);
	command->len -= drop;
	memcpy(command->tail + command->len, text, n);
	command->len += n;
	command->tail[command->len] = '\0';
	return true;
}

/*
 * Wait for the end of the first process, then kill its process group. Return -ETIME if it was
 * killed at the timeout.
 */
static int await(struct command *command, unsigned int limit_ms, int *status)
{
	uint64_t end = mono_ns() + limit_ms * NSEC_PER_MSEC;
	bool open = true;
	int err = 0;

	for (;;) {
		struct pollfd wait[2] = {{.fd = command->pidfd, .events = POLLIN},
					 {.fd = open ? command->output : -1, .events = POLLIN}};
		uint64_t now = mono_ns();

		if (now >= end) {
			err = -ETIME;
			break;
		}
		if (poll(wait, 2, (end - now) / NSEC_PER_MSEC + 1) <= 0)
			continue;
		if (wait[1].revents)
			open = read_output(command);
		else if (wait[0].revents)
			break;
	}
	kill(-command->pid, SIGKILL);
	while (waitpid(command->pid, status, 0) < 0 && errno == EINTR)
		;
	return err;
}

/* Report the failure of a command, with its output as detail. */
static int failed(const struct command *command, const char *how, struct report *report)
{
	char line[256];

	join(command->argv, line, sizeof(line));
	report_set(report, -EIO, REMEDY_SETUP, "The command `%s`, which prepares the run, %s.",
		   line, how);
	memcpy(report->detail, command->tail, sizeof(report->detail));
	return -EIO;
}

static int run_command(char *const argv[], unsigned int limit_ms, struct report *report)
{
	static struct command command;
	char how[128] = "";
	int status = 0, err;

	memset(&command, 0, sizeof(command));
	command.argv = argv;
	err = launch(&command);
	if (err) {
		snprintf(how, sizeof(how), "could not be started: %s", strerror(-err));
		return failed(&command, how, report);
	}
	err = await(&command, limit_ms, &status);
	close(command.pidfd);
	close(command.output);
	if (err)
		snprintf(how, sizeof(how), "had not ended after %u ms of guest time", limit_ms);
	else if (WIFSIGNALED(status))
		snprintf(how, sizeof(how), "was killed by signal %d", WTERMSIG(status));
	else if (WEXITSTATUS(status))
		snprintf(how, sizeof(how), "ended with exit code %d", WEXITSTATUS(status));
	return *how ? failed(&command, how, report) : 0;
}

static int write_value(const struct plan_pair *write, struct report *report)
{
	int err = tracefs_write(write->name, write->rest, 0);

	if (!err)
		return 0;
	return report_set(report, err, "Check the path and the value.",
			  "`%s` cannot be written to %s: %s.", write->rest, write->name,
			  strerror(-err));
}

/**
 * setup_steps() - carry out the commands and writes of a plan in its order
 * @plan: the plan
 * @report: out, on failure
 *
 * Return: 0, or a negative errno with @report filled at the first step that fails.
 */
int setup_steps(const struct plan *plan, struct report *report)
{
	int err = 0;

	for (int i = 0; !err && i < plan->nsteps; i++) {
		const struct plan_step *step = &plan->steps[i];

		if (step->write.name)
			err = write_value(&step->write, report);
		else
			err = run_command(step->argv, plan->setup_ms, report);
	}
	return err;
}
