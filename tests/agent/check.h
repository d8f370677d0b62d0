/* SPDX-License-Identifier: GPL-2.0-or-later */
/* check.h - the two lines a C unit test needs. */
#ifndef DUET_CHECK_H
#define DUET_CHECK_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define check(truth)                                                                \
	do {                                                                        \
		if (!(truth)) {                                                     \
			fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #truth); \
			exit(1);                                                    \
		}                                                                   \
	} while (0)

#define check_text(have, want)                                                                     \
	do {                                                                                       \
		if (strcmp(have, want)) {                                                          \
			fprintf(stderr, "%s:%d: have `%s`, want `%s`\n", __FILE__, __LINE__, have, \
				want);                                                             \
			exit(1);                                                                   \
		}                                                                                  \
	} while (0)

#endif
