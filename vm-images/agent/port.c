// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * port.c - virtio-serial ports, found by name, and the queue of frames to the host.
 *
 * Ports are opened O_NONBLOCK. The driver then returns EAGAIN if its queue is full, and also
 * if no host listens (drivers/char/virtio_console.c, will_write_block(), 6.1). So nothing
 * here waits for a host that is gone.
 */
#include "port.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define PORT_CLASS    "/sys/class/virtio-ports"
#define NSEC_PER_MSEC 1000000ull

/**
 * mono_ns() - read CLOCK_MONOTONIC, which is the trace clock `mono`
 *
 * Return: nanoseconds since boot, without suspend.
 */
uint64_t mono_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ull + now.tv_nsec;
}

/* Return whether /sys/class/virtio-ports/@entry has @name. */
static bool port_is(const char *entry, const char *name)
{
	char path[320], text[64] = "";
	FILE *file;

	snprintf(path, sizeof(path), PORT_CLASS "/%s/name", entry);
	file = fopen(path, "re");
	if (!file)
		return false;
	if (!fgets(text, sizeof(text), file))
		text[0] = '\0';
	fclose(file);
	text[strcspn(text, "\n")] = '\0';
	return !strcmp(text, name);
}

static int port_try(const char *name)
{
	char path[320];
	struct dirent *entry;
	int fd = -ENOENT;
	DIR *dir = opendir(PORT_CLASS);

	if (!dir)
		return -errno;
	while ((entry = readdir(dir))) {
		if (entry->d_name[0] == '.' || !port_is(entry->d_name, name))
			continue;
		snprintf(path, sizeof(path), "/dev/%s", entry->d_name);
		fd = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
		if (fd < 0)
			fd = -errno;
		break;
	}
	closedir(dir);
	return fd;
}

/**
 * port_open() - open the port that QEMU calls @name
 * @name: e.g. duet.ctl
 * @wait_ms: timeout
 * @report: out, on failure
 *
 * Context: sleeps up to @wait_ms.
 * Return: a file descriptor, or a negative errno with @report filled.
 */
int port_open(const char *name, int wait_ms, struct report *report)
{
	uint64_t end = mono_ns() + wait_ms * NSEC_PER_MSEC;
	int fd;

	while ((fd = port_try(name)) < 0 && mono_ns() < end)
		usleep(5000);
	if (fd < 0)
		report_set(report, fd, "Start QEMU with a virtserialport of this name.",
			   "The virtio-serial port %s cannot be opened: %s.", name, strerror(-fd));
	return fd;
}

/**
 * outbox_flush() - write as much as the port accepts now
 * @outbox: the queue
 *
 * Return: bytes that are still queued, or a negative errno of the port.
 */
int outbox_flush(struct outbox *outbox)
{
	while (outbox->len && !outbox->hold) {
		ssize_t n = write(outbox->fd, outbox->buf + outbox->start, outbox->len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return errno == EAGAIN ? (int)outbox->len : -errno;
		outbox->start += n;
		outbox->len -= n;
	}
	if (!outbox->len)
		outbox->start = 0;
	return outbox->len;
}

/* Wait until @need bytes fit, for OUTBOX_WAIT_MS at most. */
static bool outbox_make_room(struct outbox *outbox, size_t need)
{
	uint64_t end = mono_ns() + OUTBOX_WAIT_MS * NSEC_PER_MSEC;

	while (outbox->len + need > OUTBOX_BYTES) {
		struct pollfd wait = {.fd = outbox->fd, .events = POLLOUT};

		if (outbox->hold || mono_ns() > end)
			return false;
		if (poll(&wait, 1, 100) > 0 && (wait.revents & POLLHUP))
			return false;
		if (outbox_flush(outbox) < 0)
			return false;
	}
	if (outbox->start + outbox->len + need > OUTBOX_BYTES) {
		memmove(outbox->buf, outbox->buf + outbox->start, outbox->len);
		outbox->start = 0;
	}
	return true;
}

/**
 * outbox_put() - queue one frame, and send what the port accepts
 * @outbox: the queue
 * @type: an enum frame_type
 * @parts: parts of the payload
 * @nparts: number of @parts
 *
 * A frame is queued whole or dropped, so the stream stays valid after a stall.
 *
 * Context: main thread; waits at most OUTBOX_WAIT_MS, and only if the queue is full.
 * Return: 0, -EMSGSIZE for too long a payload, -EAGAIN if the frame was dropped (counted).
 */
int outbox_put(struct outbox *outbox, uint16_t type, const struct frame_part *parts, int nparts)
{
	size_t need = sizeof(struct frame_header);
	size_t at;
	long n;

	for (int i = 0; i < nparts; i++)
		need += parts[i].len;
	if (need > sizeof(struct frame_header) + FRAME_MAX_PAYLOAD)
		return -EMSGSIZE;
	if (!outbox_make_room(outbox, need)) {
		outbox->dropped++;
		return -EAGAIN;
	}
	at = outbox->start + outbox->len;
	n = frame_encode(outbox->buf + at, OUTBOX_BYTES - at, type, parts, nparts);
	if (n < 0)
		return n;
	outbox->len += n;
	outbox_flush(outbox);
	return 0;
}
