/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sums.h - cells of all vCPUs added up by their key, or by line. The collector's alone. */
#ifndef MICROSCOPE_SUMS_H
#define MICROSCOPE_SUMS_H

#include "core.h"

enum { SUMS_NO_FUNCTION = 0xffff };

/* As it goes over the wire. */
typedef struct {
    uint64_t address;
    uint16_t function;
    uint8_t inside;
    uint8_t sizes;
    uint32_t cpus; /* bit n: vCPU n */
    uint64_t counts[ACCESS_CLASSES];
} Sum;

typedef struct {
    Sum *sums; /* dense, in the order they came */
    uint32_t count;
    uint32_t room;
    uint32_t *slots; /* 1 + index of a sum, or 0; twice as many as room */
    uint32_t mask;   /* of the slots used this time */
} Sums;

/* Forget all; room for @room keys. False when memory is short. */
bool sums_begin(Sums *sums, uint32_t room);
void sums_exit(Sums *sums);

/* Add a cell of a vCPU under a key; there is room for as many keys as sums_begin() was told. */
void sums_add(Sums *sums, uint64_t address, uint16_t function, uint8_t inside, unsigned int cpu,
              const Cell *cell);

/* Bring the @top busiest to the front, busiest first; how many there are. */
uint32_t sums_busiest(Sums *sums, uint32_t top);

#endif
