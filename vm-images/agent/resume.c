// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * resume.c - prepare a copy of a parked guest: set its time of day, and reseed its random
 * numbers so that copies differ. CLOCK_MONOTONIC did not advance while the guest was parked.
 */
#include "resume.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/random.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "port.h"

#define NSEC_PER_SEC 1000000000ull
#define REMEDY	     "The host boots a guest instead; the console of this one may say more."

/* Add the host's bytes to the kernel's pool, and make it draw new keys for all CPUs from it. */
static int reseed(const uint8_t *entropy, size_t len)
{
	struct {
		struct rand_pool_info head;
		uint8_t bytes[sizeof(((struct frame_resume *)0)->entropy)];
	} pool = {.head = {.entropy_count = len * 8, .buf_size = len}};
	int fd = open("/dev/urandom", O_RDWR | O_CLOEXEC);
	int err = 0;

	if (fd < 0)
		return -errno;
	memcpy(pool.head.buf, entropy, len);
	if (ioctl(fd, RNDADDENTROPY, &pool) < 0 || ioctl(fd, RNDRESEEDCRNG) < 0)
		err = -errno;
	close(fd);
	return err;
}

/**
 * resume_guest() - set the time of day and reseed random numbers
 * @resume: the host's time and entropy
 * @answer: out: the guest's times afterwards, and random bytes
 * @report: out, on failure
 *
 * Return: 0, or a negative errno with @report filled.
 */
int resume_guest(const struct frame_resume *resume, struct frame_resumed *answer,
		 struct report *report)
{
	struct timespec now = {.tv_sec = resume->realtime_ns / NSEC_PER_SEC,
			       .tv_nsec = resume->realtime_ns % NSEC_PER_SEC};
	int err;

	if (clock_settime(CLOCK_REALTIME, &now) < 0)
		return report_set(report, -errno, REMEDY, "The clock cannot be set: %s.",
				  strerror(errno));
	err = reseed(resume->entropy, sizeof(resume->entropy));
	if (err)
		return report_set(report, err, REMEDY, "Random numbers cannot be reseeded: %s.",
				  strerror(-err));
	if (getrandom(answer->random, sizeof(answer->random), 0) != sizeof(answer->random))
		return report_set(report, -EIO, REMEDY, "No random numbers can be drawn.");
	clock_gettime(CLOCK_REALTIME, &now);
	answer->realtime_ns = now.tv_sec * NSEC_PER_SEC + now.tv_nsec;
	answer->mono_ns = mono_ns();
	return 0;
}
