/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * setup.h - the steps of a plan before its run: commands, and values to write to files.
 */
#ifndef DUET_SETUP_H
#define DUET_SETUP_H

#include "plan.h"
#include "report.h"

int setup_steps(const struct plan *plan, struct report *report);

#endif
