/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sums.c - a hash table of keys and their sums, rebuilt for each frame. */
#include "sums.h"

#include <stdlib.h>
#include <string.h>

bool sums_begin(Sums *sums, uint32_t room)
{
    uint32_t wanted = 1024;

    while (wanted < room) {
        wanted *= 2;
    }
    sums->count = 0;
    if (wanted > sums->room) {
        sums_exit(sums);
        sums->sums = malloc(wanted * sizeof(Sum));
        sums->slots = malloc(2 * (size_t)wanted * sizeof(*sums->slots));
        if (!sums->sums || !sums->slots) {
            sums_exit(sums);
            return false;
        }
        sums->room = wanted;
    }
    sums->mask = 2 * wanted - 1;
    memset(sums->slots, 0, 2 * (size_t)wanted * sizeof(*sums->slots));
    return true;
}

void sums_exit(Sums *sums)
{
    free(sums->sums);
    free(sums->slots);
    *sums = (Sums){0};
}

static Sum *find(Sums *sums, uint64_t address, uint16_t function, uint8_t inside)
{
    uint64_t key = address ^ (uint64_t)function << 40 ^ (uint64_t)inside << 56;

    for (uint32_t slot = (uint32_t)(key * 0x9e3779b97f4a7c15u >> 32);; slot++) {
        uint32_t *index = &sums->slots[slot & sums->mask];
        if (!*index) {
            Sum *sum = &sums->sums[sums->count++];
            *index = sums->count;
            *sum = (Sum){.address = address, .function = function, .inside = inside};
            return sum;
        }
        Sum *sum = &sums->sums[*index - 1];
        if (sum->address == address && sum->function == function && sum->inside == inside) {
            return sum;
        }
    }
}

void sums_add(Sums *sums, uint64_t address, uint16_t function, uint8_t inside, unsigned int cpu,
              const Cell *cell)
{
    Sum *sum = find(sums, address, function, inside);

    for (int i = 0; i < ACCESS_CLASSES; i++) {
        sum->counts[i] += atomic_load_explicit(&cell->counts[i], memory_order_relaxed);
    }
    sum->cpus |= 1u << cpu % 32;
    sum->sizes |= atomic_load_explicit(&cell->sizes, memory_order_relaxed);
}

static uint64_t total(const Sum *sum)
{
    return sum->counts[ACCESS_READ] + sum->counts[ACCESS_WRITE] + sum->counts[ACCESS_RMW];
}

/* Order by accesses, then by address, so that the order of equal sums is stable. */
static bool is_busier(const Sum *one, const Sum *two)
{
    uint64_t a = total(one);
    uint64_t b = total(two);

    return a > b || (a == b && one->address < two->address);
}

uint32_t sums_busiest(Sums *sums, uint32_t top)
{
    uint32_t found = 0;

    for (uint32_t i = 0; i < sums->count; i++) {
        Sum sum = sums->sums[i];
        uint32_t place = found;

        if (found == top && !is_busier(&sum, &sums->sums[top - 1])) {
            continue;
        }
        /* Swap: the sum that drops out of the top moves to this sum's place. */
        if (found == top) {
            sums->sums[i] = sums->sums[--place];
        } else {
            sums->sums[i] = sums->sums[found++];
        }
        while (place && is_busier(&sum, &sums->sums[place - 1])) {
            sums->sums[place] = sums->sums[place - 1];
            place--;
        }
        sums->sums[place] = sum;
    }
    return found;
}
