/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * resume.h - set time and entropy of a copy of a parked guest.
 */
#ifndef DUET_RESUME_H
#define DUET_RESUME_H

#include "frame.h"
#include "report.h"

int resume_guest(const struct frame_resume *resume, struct frame_resumed *answer,
		 struct report *report);

#endif
