/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * functions.h - the plugin's arguments, and the file of instrumented functions. No QEMU.
 *
 * Each refusal has one sentence.
 */
#ifndef MICROSCOPE_FUNCTIONS_H
#define MICROSCOPE_FUNCTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    FUNCTIONS_MAX = 256,
    FUNCTIONS_MAX_RANGES = 4096,
    FUNCTIONS_MAX_NAME = 128,
    FUNCTIONS_MAX_TEXT = 1 << 20,
    FUNCTIONS_WIDE = 1 << 20, /* bytes; a wider range is accepted with a remark */
    SENTENCE_BYTES = 320,
};

typedef struct {
    uint64_t low;
    uint64_t high; /* exclusive */
    unsigned int function;
} Range;

typedef struct {
    unsigned int count;
    char names[FUNCTIONS_MAX][FUNCTIONS_MAX_NAME];
    uint64_t entries[FUNCTIONS_MAX]; /* start of the first part */
    unsigned int n_ranges;
    Range ranges[FUNCTIONS_MAX_RANGES]; /* by address */
    int operation;                      /* function whose entry begins an operation, or -1 */
    int until;                          /* function whose return ends it; usually the same */
    uint64_t switch_at;                 /* address of the task switch, or 0 */
    char remark[SENTENCE_BYTES];        /* a warning to print, or "" */
} Functions;

typedef struct {
    const char *socket;
    const char *functions;
} Arguments;

/* Parse @text. False with @sentence, and @functions is then undefined. */
bool functions_parse(Functions *functions, const char *text, size_t length, char *sentence);

/* Parse a file, as functions_parse() does. */
bool functions_read(Functions *functions, const char *path, char *sentence);

/* Index of the function that contains @address, or -1. */
int functions_find(const Functions *functions, uint64_t address);

/* Parse "socket=PATH" and "functions=PATH"; false with @sentence. */
bool arguments_parse(Arguments *arguments, int argc, char **argv, char *sentence);

#endif
