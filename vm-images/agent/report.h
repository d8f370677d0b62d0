/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * report.h - an expected failure, sent to the host as sentence, remedy and detail.
 */
#ifndef DUET_REPORT_H
#define DUET_REPORT_H

struct report {
	char sentence[512];
	char remedy[256];
	char detail[2048];
};

int report_set(struct report *report, int err, const char *remedy, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

#endif
