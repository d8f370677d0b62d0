/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * core.h - counts, operations and the log of accesses. No QEMU, no sockets.
 *
 * Threads: core_access(), core_begin(), core_end() and core_switch() of one vCPU run in one thread
 * at a time, that of the vCPU. They never wait and never allocate. All other functions belong to
 * the one collector. What a vCPU writes and the collector reads is atomic; nothing else is shared.
 *
 * The zero of all counts is a number. A vCPU that meets a new one begins anew, and the collector
 * believes only vCPUs and cells that carry the present one: so a zero takes no time, and no access
 * is counted on both sides of it.
 */
#ifndef MICROSCOPE_CORE_H
#define MICROSCOPE_CORE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    CORE_MAX_VCPUS = 16,
    CORE_LINE_SHIFT = 6,
    CORE_LINE = 1 << CORE_LINE_SHIFT,
    CORE_SLOT_BITS = 16,
    CORE_SLOTS = 1 << CORE_SLOT_BITS,
    CORE_MAX_CELLS = CORE_SLOTS / 4 * 3,
    CORE_MAX_PROBES = 64,
    CORE_SITES = 1 << 12,
    CORE_RING = 1 << 16, /* records */
    CORE_MAX_WATCH = 1024,
    CORE_MAX_LOG = 1 << 24,
};

typedef enum { ACCESS_READ, ACCESS_WRITE, ACCESS_RMW, ACCESS_CLASSES } AccessClass;

/* Counts of one vCPU, or their sum. The log's own begin at `watch`, the others at each zero. */
typedef enum {
    COUNT_ACCESSES,
    COUNT_UNTOLD,
    COUNT_BEGUN,
    COUNT_ENDED,
    COUNT_TOUCHING,
    COUNT_SLEPT, /* broken operations, by reason: a change of task, */
    COUNT_LEFT,  /* a jump to another function, */
    COUNT_AGAIN, /* the entry again before an end */
    COUNT_LOST,
    COUNT_OVER,
    COUNTS,
} Count;

/* Accesses at one address (its first byte in a line) by one function. One host line long. */
typedef struct {
    _Alignas(64) _Atomic uint64_t address;
    _Atomic uint64_t tag; /* zero << 32 | function << 16 | inside << 8 | 1 */
    _Atomic uint64_t counts[ACCESS_CLASSES];
    _Atomic uint8_t sizes; /* bit k: an access of 2^k bytes */
    uint16_t slot;         /* the vCPU's own: which slot leads here */
} Cell;

/* One access to a watched line, as it goes over the wire; `watch` is 0 there. */
typedef struct {
    uint64_t seq;
    uint64_t host_ns;
    uint32_t operation;
    int16_t at;
    uint16_t function;
    uint8_t cpu;
    uint8_t class;
    uint8_t size;
    uint8_t pad;
    uint32_t watch;
} Record;

typedef struct {
    _Atomic uint64_t address;
    _Atomic uint64_t bytes; /* 0: nothing is watched */
    _Atomic uint64_t limit; /* records */
} Watch;

typedef struct {
    /* The vCPU's own. */
    uint64_t orders;
    uint64_t address, bytes, limit; /* of the watch */
    uint64_t first_line, n_lines;
    uint32_t operation;
    bool open, touched;
    uint8_t cpu;
    /*
     * Slots are hashed and lead to cells, which lie in the order they came: cells in use stay on
     * few pages, since a miss of the host's TLB costs more than all the rest of an access.
     */
    uint16_t *slots;
    Cell *cells;
    uint16_t *sites; /* the cell that an instruction used last; a guess, which the cell proves */
    Record *ring;
    /* Written by the vCPU, read by the collector. */
    _Alignas(64) _Atomic uint64_t counts[COUNTS];
    _Atomic uint32_t zero, watch; /* what the counts belong to */
    _Atomic uint32_t used;        /* cells */
    _Alignas(64) _Atomic uint32_t head;
    /* Written by the collector, read by the vCPU. */
    _Alignas(64) _Atomic uint32_t tail;
} Vcpu;

typedef struct {
    _Atomic uint64_t orders; /* zero << 32 | watch; bumped by the collector alone */
    Watch watches[2];        /* by the watch's lowest bit, so that a new one spares the present */
    unsigned int n_vcpus;
    uint64_t next; /* the log's first record that was not yet taken */
    Vcpu *vcpus;
    _Alignas(64) _Atomic uint64_t logged; /* watch << 32 | records that have their number */
    _Atomic uint64_t strange;             /* accesses of vCPUs that nobody announced */
} Core;

/* False when memory is short. */
bool core_init(Core *core, unsigned int n_vcpus);
void core_exit(Core *core);

/*
 * An access of 2^@shift bytes by vCPU @cpu; one over a line's end counts in each line. @site tells
 * instructions apart, so that each finds the cell of its last access again; two may share one.
 */
void core_access(Core *core, unsigned int cpu, uint64_t address, unsigned int shift,
                 AccessClass class, unsigned int function, unsigned int site);
/* @count accesses that happen now, nobody knows where. */
void core_untold(Core *core, unsigned int cpu, unsigned int count);
/* The operation's entry, its end, a jump out of its function, and a change of task. */
void core_begin(Core *core, unsigned int cpu);
void core_end(Core *core, unsigned int cpu);
void core_leave(Core *core, unsigned int cpu);
void core_switch(Core *core, unsigned int cpu);

/* Watch the lines of @bytes at @address (0: none), log up to @limit accesses; sets the zero. */
void core_watch(Core *core, uint64_t address, uint64_t bytes, uint64_t limit);
/* Stop watching; counts go on. */
void core_forget(Core *core);
void core_zero(Core *core);

/* The watch as it is now. */
const Watch *core_watched(const Core *core);
/* Sums over all vCPUs. */
void core_counts(const Core *core, uint64_t sums[COUNTS]);
/* Accesses that have their number in the log. */
uint64_t core_logged(const Core *core);
/* Up to @room records of the log, in order; fewer when a vCPU still writes the next. */
size_t core_take(Core *core, Record *records, size_t room);
/* How many cells vCPU @cpu has, and one of them. */
uint32_t core_cells(const Core *core, unsigned int cpu);
const Cell *core_cell(const Core *core, unsigned int cpu, uint32_t index);

static inline uint16_t cell_function(uint64_t tag)
{
    return (uint16_t)(tag >> 16);
}

static inline uint8_t cell_inside(uint64_t tag)
{
    return (uint8_t)(tag >> 8);
}

#endif
