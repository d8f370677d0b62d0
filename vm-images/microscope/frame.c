/* SPDX-License-Identifier: GPL-2.0-or-later */
/* frame.c - frames: u32 length, u8 type, payload. Little endian, as the hosts of this plugin. */
#include "frame.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "frames are little endian");
static_assert(sizeof(Sum) == 40, "a cell has 40 bytes");
static_assert(sizeof(Record) == 32, "a record has 32 bytes");

enum { LOG_PAGE = 1024 }; /* records */

typedef struct __attribute__((packed)) {
    uint64_t host_ns, logged, lost, over, accesses, untold;
    uint64_t begun, ended, touching, slept, left, again;
    uint32_t flags, cells, lines;
} CellsHead;

static_assert(sizeof(CellsHead) == 108, "twelve counts and three numbers");

/* Append @count bytes and return their address, or NULL if out of memory. */
static uint8_t *extend(Outbox *outbox, size_t count)
{
    if (outbox->begin == outbox->end) {
        outbox->begin = outbox->end = 0;
    }
    if (outbox->end + count > outbox->room && outbox->begin) {
        memmove(outbox->bytes, outbox->bytes + outbox->begin, outbox_pending(outbox));
        outbox->end -= outbox->begin;
        outbox->begin = 0;
    }
    if (outbox->end + count > outbox->room) {
        size_t room = (outbox->end + count) * 3 / 2;
        uint8_t *bytes = realloc(outbox->bytes, room);
        if (!bytes) {
            outbox->broken = true;
            return NULL;
        }
        outbox->bytes = bytes;
        outbox->room = room;
    }
    outbox->end += count;
    return outbox->bytes + outbox->end - count;
}

static void put(Outbox *outbox, const void *from, size_t count)
{
    uint8_t *to = extend(outbox, count);

    if (to && count) {
        memcpy(to, from, count);
    }
}

static void put_head(Outbox *outbox, uint8_t type, size_t payload)
{
    uint32_t length = (uint32_t)payload + 1;

    put(outbox, &length, sizeof(length));
    put(outbox, &type, sizeof(type));
}

void outbox_clear(Outbox *outbox)
{
    outbox->begin = outbox->end = 0;
    outbox->broken = false;
}

void outbox_exit(Outbox *outbox)
{
    free(outbox->bytes);
    *outbox = (Outbox){0};
}

void frame_hello(Outbox *outbox, const Core *core, unsigned int api, unsigned int functions)
{
    uint32_t hello[4] = {FRAME_PROTOCOL, api, core->n_vcpus, functions};

    put_head(outbox, FRAME_HELLO, sizeof(hello));
    put(outbox, hello, sizeof(hello));
}

void frame_reply(Outbox *outbox, const char *text)
{
    put_head(outbox, FRAME_REPLY, strlen(text));
    put(outbox, text, strlen(text));
}

size_t frame_log(Outbox *outbox, Core *core)
{
    Record page[LOG_PAGE];
    size_t count = core_take(core, page, LOG_PAGE);

    if (count) {
        put_head(outbox, FRAME_LOG, count * sizeof(Record));
        put(outbox, page, count * sizeof(Record));
    }
    return count;
}

/* Sum watched cells (or all) by key, and other cells by line. False if out of memory. */
static bool add_up(const Core *core, Table *table, bool full)
{
    const Watch *watch = core_watched(core);
    uint64_t first = watch->address >> CORE_LINE_SHIFT;
    uint64_t bytes = watch->bytes;
    uint64_t n_lines = bytes ? ((watch->address + bytes - 1) >> CORE_LINE_SHIFT) - first + 1 : 0;
    uint32_t counts[CORE_MAX_VCPUS];
    uint32_t total = 0;

    for (unsigned int cpu = 0; cpu < core->n_vcpus; cpu++) {
        total += counts[cpu] = core_cells(core, cpu);
    }
    if (!sums_begin(&table->cells, total) || !sums_begin(&table->lines, total)) {
        return false;
    }
    for (unsigned int cpu = 0; cpu < core->n_vcpus; cpu++) {
        for (uint32_t i = 0; i < counts[cpu]; i++) {
            const Cell *cell = core_cell(core, cpu, i);
            uint64_t address = atomic_load_explicit(&cell->address, memory_order_relaxed);
            uint64_t tag = atomic_load_explicit(&cell->tag, memory_order_relaxed);
            uint64_t line = address >> CORE_LINE_SHIFT;
            bool watched = line - first < n_lines;
            if (watched || full) {
                sums_add(&table->cells, address, cell_function(tag), cell_inside(tag), cpu, cell);
            }
            if (!watched) {
                sums_add(&table->lines, line << CORE_LINE_SHIFT, SUMS_NO_FUNCTION, 0, cpu, cell);
            }
        }
    }
    return true;
}

void frame_cells(Outbox *outbox, const Core *core, Table *table, uint32_t flags, uint32_t top_lines)
{
    uint64_t sums[COUNTS];
    struct timespec now;

    if (!add_up(core, table, flags & CELLS_FULL)) {
        outbox->broken = true;
        return;
    }
    uint32_t lines = sums_busiest(&table->lines, top_lines);
    core_counts(core, sums);
    clock_gettime(CLOCK_MONOTONIC, &now);
    CellsHead head = {
        .host_ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec,
        .logged = core_logged(core),
        .lost = sums[COUNT_LOST],
        .over = sums[COUNT_OVER],
        .accesses = sums[COUNT_ACCESSES],
        .untold = sums[COUNT_UNTOLD],
        .begun = sums[COUNT_BEGUN],
        .ended = sums[COUNT_ENDED],
        .touching = sums[COUNT_TOUCHING],
        .slept = sums[COUNT_SLEPT],
        .left = sums[COUNT_LEFT],
        .again = sums[COUNT_AGAIN],
        .flags = flags,
        .cells = table->cells.count,
        .lines = lines,
    };
    put_head(outbox, FRAME_CELLS, sizeof(head) + (head.cells + (size_t)lines) * sizeof(Sum));
    put(outbox, &head, sizeof(head));
    put(outbox, table->cells.sums, head.cells * sizeof(Sum));
    put(outbox, table->lines.sums, lines * sizeof(Sum));
}
