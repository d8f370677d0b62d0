/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * setup.h - what a plan wants done before its run: commands and values of files.
 */
#ifndef DUET_SETUP_H
#define DUET_SETUP_H

#include "plan.h"
#include "report.h"

int setup_steps(const struct plan *plan, struct report *report);

#endif
