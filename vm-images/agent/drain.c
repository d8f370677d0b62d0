// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * drain.c - forward ring-buffer pages from the kernel to the host, one thread per CPU.
 *
 * Full pages are spliced. Splice does not return the page that is being written
 * (ring_buffer_read_page() with full set, kernel/trace/ring_buffer.c, 6.1), so at every
 * tick a read() returns the events of that page. In both cases the kernel returns a whole
 * page of 4096 bytes, with zeroes after the events.
 *
 * Each thread is bound to its CPU. The kernel reserves and commits an event with preemption
 * disabled. So while the thread runs, every earlier event of its CPU is committed. A time
 * taken before the buffer is read to its end is therefore an exact watermark.
 */
#define _GNU_SOURCE
#include "drain.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "port.h"
#include "tracefs.h"

#define TICK_NS	      8000000ull     /* longest wait of an event; PROTOCOL.md promises 20 ms */
#define PIPE_BYTES    (256u << 10)   /* most bytes of pages in one splice */
#define STALL_NS      10000000000ull /* at the end: timeout of a host that reads nothing */
#define STALL_POLL_MS 100

static enum drain_phase phase_now(struct drain *drain)
{
	enum drain_phase phase;

	pthread_mutex_lock(&drain->lock);
	phase = drain->phase;
	pthread_mutex_unlock(&drain->lock);
	return phase;
}

/* Sleep one tick, in DRAIN_WAIT without a timeout. A change of phase wakes earlier. */
static enum drain_phase phase_wait(struct drain *drain)
{
	struct timespec until;
	enum drain_phase phase;
	uint64_t end = mono_ns() + TICK_NS;
	int err = 0;

	until.tv_sec = end / 1000000000ull;
	until.tv_nsec = end % 1000000000ull;
	pthread_mutex_lock(&drain->lock);
	while (drain->phase == DRAIN_WAIT)
		pthread_cond_wait(&drain->moved, &drain->lock);
	while (drain->phase == DRAIN_LIVE && err != ETIMEDOUT)
		err = pthread_cond_timedwait(&drain->moved, &drain->lock, &until);
	phase = drain->phase;
	pthread_mutex_unlock(&drain->lock);
	return phase;
}

/* Wait until the port accepts bytes. Fail in DRAIN_STOP, and in DRAIN_FINISH after STALL_NS. */
static int wait_for_port(struct drain_cpu *cpu, uint64_t since)
{
	struct pollfd wait = {.fd = cpu->port_fd, .events = POLLOUT};
	enum drain_phase phase = phase_now(cpu->drain);

	if (phase == DRAIN_STOP)
		return -ECANCELED;
	if (phase == DRAIN_FINISH && mono_ns() - since > STALL_NS)
		return -ETIMEDOUT;
	if (poll(&wait, 1, STALL_POLL_MS) > 0 && !(wait.revents & POLLOUT))
		usleep(STALL_POLL_MS * 1000); /* poll() returns POLLHUP immediately, every time */
	return 0;
}

static int send_pipe(struct drain_cpu *cpu, size_t len)
{
	uint64_t since = mono_ns();

	while (len) {
		ssize_t n = splice(cpu->pipe_fd[0], NULL, cpu->port_fd, NULL, len,
				   SPLICE_F_MOVE | SPLICE_F_NONBLOCK);
		int err;

		if (n > 0) {
			len -= n;
			cpu->sent += n;
			since = mono_ns();
			continue;
		}
		if (n == 0 || (errno != EAGAIN && errno != EINTR))
			return n == 0 ? -EPIPE : -errno;
		err = wait_for_port(cpu, since);
		if (err)
			return err;
	}
	return 0;
}

static int send_page(struct drain_cpu *cpu)
{
	uint64_t since = mono_ns();
	size_t at = 0;

	while (at < DRAIN_PAGE_BYTES) {
		ssize_t n = write(cpu->port_fd, cpu->page + at, DRAIN_PAGE_BYTES - at);
		int err;

		if (n >= 0) {
			at += n;
			cpu->sent += n;
			continue;
		}
		if (errno != EAGAIN && errno != EINTR)
			return -errno;
		err = wait_for_port(cpu, since);
		if (err)
			return err;
	}
	return 0;
}

static void publish(struct drain_cpu *cpu, uint64_t empty_at_ns)
{
	pthread_mutex_lock(&cpu->lock);
	cpu->progress.bytes_sent = cpu->sent;
	cpu->progress.empty_at_ns = empty_at_ns;
	pthread_mutex_unlock(&cpu->lock);
}

/* Forward all full pages, then the partial page, and publish the start of the last read. */
static int drain_pass(struct drain_cpu *cpu)
{
	uint64_t before;
	ssize_t n;
	int err;

	for (;;) {
		before = mono_ns();
		n = splice(cpu->raw_fd, NULL, cpu->pipe_fd[1], NULL, PIPE_BYTES,
			   SPLICE_F_MOVE | SPLICE_F_NONBLOCK);
		if (n <= 0)
			break;
		err = send_pipe(cpu, n);
		if (err)
			return err;
	}
	if (n < 0 && errno != EAGAIN && errno != EINTR)
		return -errno;
	n = read(cpu->raw_fd, cpu->page, DRAIN_PAGE_BYTES);
	if (n < 0 && errno != EAGAIN && errno != EINTR)
		return -errno;
	if (n > 0 && n != DRAIN_PAGE_BYTES)
		return -EPROTO;
	err = n > 0 ? send_page(cpu) : 0;
	if (!err)
		publish(cpu, before);
	return err;
}

/* Bind the thread to its CPU, with a higher priority than the workload's processes. */
static void bind_self(int cpu)
{
	struct sched_param urgent = {.sched_priority = 1};
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	pthread_setaffinity_np(pthread_self(), sizeof(set), &set);
	pthread_setschedparam(pthread_self(), SCHED_FIFO, &urgent);
}

static void *drain_main(void *arg)
{
	struct drain_cpu *cpu = arg;
	enum drain_phase phase;
	int err = 0;

	bind_self(cpu->cpu);
	do {
		phase = phase_wait(cpu->drain);
		if (phase != DRAIN_STOP)
			err = drain_pass(cpu);
	} while (!err && phase == DRAIN_LIVE);
	atomic_store(&cpu->error, err == -ECANCELED ? 0 : err);
	atomic_store(&cpu->done, true);
	return NULL;
}

/**
 * drain_init() - open the ports of all CPUs; called once
 * @drain: out
 * @ncpu: CPUs of the guest
 * @report: out, on failure
 *
 * Return: 0 or a negative errno.
 */
int drain_init(struct drain *drain, int ncpu, struct report *report)
{
	pthread_condattr_t attr;
	char name[32];

	if (ncpu > FRAME_MAX_CPUS)
		return report_set(report, -E2BIG, "Give the guest fewer CPUs.",
				  "The guest has %d CPUs, and there are ports for %d.", ncpu,
				  FRAME_MAX_CPUS);
	drain->ncpu = ncpu;
	pthread_mutex_init(&drain->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&drain->moved, &attr);
	for (int i = 0; i < ncpu; i++) {
		struct drain_cpu *cpu = &drain->cpu[i];

		cpu->drain = drain;
		cpu->cpu = i;
		cpu->raw_fd = -1;
		pthread_mutex_init(&cpu->lock, NULL);
		snprintf(name, sizeof(name), "duet.cpu%d", i);
		cpu->port_fd = port_open(name, PORT_FIND_MS, report);
		if (cpu->port_fd < 0)
			return cpu->port_fd;
		if (pipe2(cpu->pipe_fd, O_CLOEXEC | O_NONBLOCK) < 0)
			return report_set(report, -errno, "Give the guest more memory.",
					  "No pipe for CPU %d: %s.", i, strerror(errno));
		fcntl(cpu->pipe_fd[1], F_SETPIPE_SZ, PIPE_BYTES);
	}
	return 0;
}

/* Discard pages that a stopped run has left in the pipe. */
static void discard_pipe(struct drain_cpu *cpu)
{
	while (read(cpu->pipe_fd[0], cpu->page, sizeof(cpu->page)) > 0)
		;
}

/**
 * drain_begin() - open the ring buffers and start the threads in DRAIN_WAIT
 * @drain: from drain_init()
 * @report: out, on failure
 *
 * Return: 0 or a negative errno. In both cases the caller must call drain_end().
 */
int drain_begin(struct drain *drain, struct report *report)
{
	char path[96];
	int err;

	drain->phase = DRAIN_WAIT;
	drain->active = true;
	for (int i = 0; i < drain->ncpu; i++) {
		struct drain_cpu *cpu = &drain->cpu[i];

		discard_pipe(cpu);
		cpu->sent = 0;
		memset(&cpu->progress, 0, sizeof(cpu->progress));
		atomic_store(&cpu->done, false);
		atomic_store(&cpu->error, 0);
		snprintf(path, sizeof(path), TRACEFS_ROOT "/per_cpu/cpu%d/trace_pipe_raw", i);
		cpu->raw_fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
		if (cpu->raw_fd < 0)
			return report_set(report, -errno,
					  "Build the guest kernel with CONFIG_FTRACE.",
					  "%s cannot be opened: %s.", path, strerror(errno));
		err = pthread_create(&cpu->thread, NULL, drain_main, cpu);
		if (err)
			return report_set(report, -err, "Give the guest more memory.",
					  "No thread for CPU %d: %s.", i, strerror(err));
		cpu->running = true;
	}
	return 0;
}

/**
 * drain_move() - change the phase
 * @drain: started by drain_begin()
 * @phase: the new phase, later than the present one
 */
void drain_move(struct drain *drain, enum drain_phase phase)
{
	pthread_mutex_lock(&drain->lock);
	drain->phase = phase;
	pthread_cond_broadcast(&drain->moved);
	pthread_mutex_unlock(&drain->lock);
}

/**
 * drain_progress() - read how far each CPU's data are complete
 * @drain: started by drain_begin()
 * @out: out: one part per CPU
 */
void drain_progress(struct drain *drain, struct frame_beat_cpu *out)
{
	for (int i = 0; i < drain->ncpu; i++) {
		pthread_mutex_lock(&drain->cpu[i].lock);
		out[i] = drain->cpu[i].progress;
		pthread_mutex_unlock(&drain->cpu[i].lock);
	}
}

/**
 * drain_done() - check whether every thread has ended
 * @drain: in DRAIN_FINISH
 * @err: out: the first error of a thread, or 0
 *
 * Return: true if all threads have ended.
 */
bool drain_done(struct drain *drain, int *err)
{
	*err = 0;
	for (int i = 0; i < drain->ncpu; i++) {
		if (!atomic_load(&drain->cpu[i].done))
			return false;
		if (!*err)
			*err = atomic_load(&drain->cpu[i].error);
	}
	return true;
}

/**
 * drain_end() - end the threads and close the ring buffers
 * @drain: started by drain_begin(), which may have failed
 *
 * Context: waits for the threads, at most STALL_POLL_MS twice.
 */
void drain_end(struct drain *drain)
{
	if (!drain->active)
		return;
	drain_move(drain, DRAIN_STOP);
	for (int i = 0; i < drain->ncpu; i++) {
		struct drain_cpu *cpu = &drain->cpu[i];

		if (cpu->running)
			pthread_join(cpu->thread, NULL);
		cpu->running = false;
		if (cpu->raw_fd >= 0)
			close(cpu->raw_fd);
		cpu->raw_fd = -1;
	}
	drain->active = false;
}
