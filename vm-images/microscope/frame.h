/* SPDX-License-Identifier: GPL-2.0-or-later */
/* frame.h - the send buffer of the client, and the frames that are appended to it. */
#ifndef MICROSCOPE_FRAME_H
#define MICROSCOPE_FRAME_H

#include "sums.h"

enum { FRAME_PROTOCOL = 2 };
enum { FRAME_HELLO = 1, FRAME_CELLS, FRAME_LOG, FRAME_REPLY };
enum { CELLS_FULL = 1, CELLS_ANSWER = 2 };

/* A send buffer. Bytes [begin, end) of @bytes are unsent. */
typedef struct {
    uint8_t *bytes;
    size_t begin, end, room;
    bool broken; /* out of memory: a frame is incomplete, so the connection must end */
} Outbox;

typedef struct {
    Sums cells, lines;
} Table;

static inline size_t outbox_pending(const Outbox *outbox)
{
    return outbox->end - outbox->begin;
}

void outbox_clear(Outbox *outbox);
void outbox_exit(Outbox *outbox);

void frame_hello(Outbox *outbox, const Core *core, unsigned int api, unsigned int functions);
void frame_reply(Outbox *outbox, const char *text);

/* Append a page of the log; return its number of records. */
size_t frame_log(Outbox *outbox, Core *core);

/* Append counts and cells: of watched lines, or with CELLS_FULL in @flags of all lines. */
void frame_cells(Outbox *outbox, const Core *core, Table *table, uint32_t flags,
                 uint32_t top_lines);

#endif
