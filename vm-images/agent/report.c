// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * report.c - fill a struct report. Pure.
 */
#include "report.h"

#include <stdarg.h>
#include <stdio.h>

/**
 * report_set() - fill a report
 * @report: out; its detail is cleared
 * @err: a negative errno, returned for the caller's return statement
 * @remedy: one sentence on what to do
 * @format: printf format of the sentence
 *
 * Return: @err.
 */
int report_set(struct report *report, int err, const char *remedy, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(report->sentence, sizeof(report->sentence), format, args);
	va_end(args);
	snprintf(report->remedy, sizeof(report->remedy), "%s", remedy);
	report->detail[0] = '\0';
	return err;
}
