/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * core.h - counts, operations and the log of accesses. No QEMU, no sockets.
 *
 * Threads: core_access(), core_untold(), core_begin(), core_end(), core_leave() and core_switch()
 * of a vCPU run in its thread. They never wait and never allocate. All other functions belong to
 * the collector's thread. Data that a vCPU writes and the collector reads are atomic; nothing else
 * is shared.
 *
 * A reset increments a number, the `zero`. A vCPU that sees a new zero clears its counts. The
 * collector ignores vCPUs and cells of older zeros. So a reset takes no time, and no access is
 * counted both before and after it.
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

/* Counts of one vCPU, or their sum. LOST and OVER start at each watch, the others at each zero. */
typedef enum {
    COUNT_ACCESSES,
    COUNT_UNTOLD,
    COUNT_BEGUN,
    COUNT_ENDED,
    COUNT_TOUCHING,
    COUNT_SLEPT, /* incomplete operations, by reason: the task was switched, */
    COUNT_LEFT,  /* a jump left the function, */
    COUNT_AGAIN, /* the function was entered again before the end */
    COUNT_LOST,
    COUNT_OVER,
    COUNTS,
} Count;

/* Accesses of one function at one address (the first byte in a line). Fills one host cache line. */
typedef struct {
    _Alignas(64) _Atomic uint64_t address;
    _Atomic uint64_t tag; /* zero << 32 | function << 16 | inside << 8 | 1 */
    _Atomic uint64_t counts[ACCESS_CLASSES];
    _Atomic uint8_t sizes; /* bit k: an access of 2^k bytes */
    uint16_t slot;         /* index of the slot of this cell; used by the vCPU only */
} Cell;

/* One access to a watched line, in the format of the wire, where `watch` is 0. */
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
    /* Used by the vCPU only. */
    uint64_t orders;
    uint64_t address, bytes, limit; /* of the watch */
    uint64_t first_line, n_lines;
    uint32_t operation;
    bool open, touched;
    uint8_t cpu;
    /*
     * Hashed slots contain indices of cells. Cells are allocated in order, so that cells in use
     * stay on few pages: a TLB miss of the host costs more than the rest of an access.
     */
    uint16_t *slots;
    Cell *cells;
    uint16_t *sites; /* index of the cell that an instruction used last; a hint, to be checked */
    Record *ring;
    /* Written by the vCPU, read by the collector. */
    _Alignas(64) _Atomic uint64_t counts[COUNTS];
    _Atomic uint32_t zero, watch; /* zero and watch to which the counts belong */
    _Atomic uint32_t used;        /* cells */
    _Alignas(64) _Atomic uint32_t head;
    /* Written by the collector, read by the vCPU. */
    _Alignas(64) _Atomic uint32_t tail;
} Vcpu;

typedef struct {
    _Atomic uint64_t orders; /* zero << 32 | watch; written by the collector only */
    Watch watches[2];        /* index: lowest bit of the watch, so that a new one leaves the old */
    unsigned int n_vcpus;
    uint64_t next; /* number of the next record to take */
    Vcpu *vcpus;
    _Alignas(64) _Atomic uint64_t logged; /* watch << 32 | numbered records */
    _Atomic uint64_t strange;             /* accesses of vCPUs beyond n_vcpus */
} Core;

/* False if out of memory. */
bool core_init(Core *core, unsigned int n_vcpus);
void core_exit(Core *core);

/*
 * Count an access of 2^@shift bytes by vCPU @cpu. An access across lines counts in each line.
 * @site identifies the instruction, to find the cell of its last access; two may share a site.
 */
void core_access(Core *core, unsigned int cpu, uint64_t address, unsigned int shift,
                 AccessClass class, unsigned int function, unsigned int site);
/* Count @count accesses at unknown addresses. */
void core_untold(Core *core, unsigned int cpu, unsigned int count);
/* Entry of the operation, its end, a jump out of its function, and a switch of tasks. */
void core_begin(Core *core, unsigned int cpu);
void core_end(Core *core, unsigned int cpu);
void core_leave(Core *core, unsigned int cpu);
void core_switch(Core *core, unsigned int cpu);

/* Watch the lines of @bytes at @address (0: none) and log up to @limit accesses. Resets counts. */
void core_watch(Core *core, uint64_t address, uint64_t bytes, uint64_t limit);
/* Stop watching; counting continues. */
void core_forget(Core *core);
void core_zero(Core *core);

/* The current watch. */
const Watch *core_watched(const Core *core);
/* Sums over all vCPUs. */
void core_counts(const Core *core, uint64_t sums[COUNTS]);
/* Number of accesses with a number in the log. */
uint64_t core_logged(const Core *core);
/* Take up to @room records in order; fewer if a vCPU is still writing the next record. */
size_t core_take(Core *core, Record *records, size_t room);
/* Number of cells of vCPU @cpu, and one cell. */
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
