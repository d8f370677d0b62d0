/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sums.h - sums of the cells of all vCPUs, by key or by line. For the collector's thread only. */
#ifndef MICROSCOPE_SUMS_H
#define MICROSCOPE_SUMS_H

#include "core.h"

enum { SUMS_NO_FUNCTION = 0xffff };

/* In the format of the wire. */
typedef struct {
    uint64_t address;
    uint16_t function;
    uint8_t inside;
    uint8_t sizes;
    uint32_t cpus; /* bit n: vCPU n */
    uint64_t counts[ACCESS_CLASSES];
} Sum;

typedef struct {
    Sum *sums; /* dense, in order of insertion */
    uint32_t count;
    uint32_t room;
    uint32_t *slots; /* 1 + index of a sum, or 0; twice as many as room */
    uint32_t mask;   /* mask of the slots in use */
} Sums;

/* Clear the sums and make room for @room keys. False if out of memory. */
bool sums_begin(Sums *sums, uint32_t room);
void sums_exit(Sums *sums);

/* Add a vCPU's cell to the sum of a key. At most @room keys of sums_begin() may be used. */
void sums_add(Sums *sums, uint64_t address, uint16_t function, uint8_t inside, unsigned int cpu,
              const Cell *cell);

/* Move the @top busiest sums to the front, busiest first; return their number. */
uint32_t sums_busiest(Sums *sums, uint32_t top);

#endif
