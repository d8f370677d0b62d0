/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * frame.h - messages between the agent and the host, on the port duet.ctl.
 *
 * Little endian, fixed width. A frame is a header of 12 bytes and a payload: the
 * fixed part listed here, then for some messages a tail (text, or one part per CPU).
 * The golden files in tests/fixtures/frames are read by this code and by the host's.
 */
#ifndef DUET_FRAME_H
#define DUET_FRAME_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#define FRAME_MAGIC	  0x54455544u /* "DUET" in memory */
#define FRAME_MAX_PAYLOAD (1u << 20)
#define FRAME_MAX_LINE	  4096
#define FRAME_MAX_CPUS	  64
#define FRAME_MAX_SAY	  256

#define __packed __attribute__((packed))

struct frame_header {
	uint32_t magic;
	uint16_t type;
	uint16_t flags;
	uint32_t length;
} __packed;

struct frame_none {
} __packed;

struct frame_line {
	uint64_t mono_ns;
	uint8_t stream; /* 1 standard output, 2 standard error */
} __packed;

struct frame_started {
	uint64_t mono_ns;
	uint32_t pid;
} __packed;

struct frame_ended {
	uint64_t mono_ns;
	int32_t status; /* exit code, or minus the signal */
} __packed;

struct frame_beat {
	uint64_t mono_ns;
	uint32_t ncpu;
} __packed;

struct frame_beat_cpu {
	uint64_t bytes_sent;
	uint64_t empty_at_ns;
} __packed;

struct frame_stats {
	uint32_t flags;
	uint32_t ncpu;
} __packed;

#define FRAME_STATS_FINAL 1u

struct frame_stats_cpu {
	uint64_t entries; /* events still in the ring buffer */
	uint64_t overrun;
	uint64_t commit_overrun;
	uint64_t dropped;
	uint64_t read;
} __packed;

struct frame_stats_tail {
	uint64_t kprobe_missed;
} __packed;

struct frame_drained {
	uint64_t mono_ns;
} __packed;

struct frame_resumed {
	uint64_t mono_ns;
	uint64_t realtime_ns;
	uint8_t random[16]; /* drawn after the entropy was added */
} __packed;

struct frame_resume {
	uint64_t realtime_ns;
	uint8_t entropy[32];
} __packed;

/* name, id, fixed part of the payload, its bytes */
#define FRAME_LIST(X)                            \
	X(HELLO, 1, struct frame_none, 0)        \
	X(FILE, 2, struct frame_none, 0)         \
	X(READY, 3, struct frame_none, 0)        \
	X(LINE, 4, struct frame_line, 9)         \
	X(STARTED, 5, struct frame_started, 12)  \
	X(ENDED, 6, struct frame_ended, 12)      \
	X(BEAT, 7, struct frame_beat, 12)        \
	X(STATS, 8, struct frame_stats, 8)       \
	X(ERROR, 9, struct frame_none, 0)        \
	X(DRAINED, 10, struct frame_drained, 8)  \
	X(RESUMED, 11, struct frame_resumed, 32) \
	X(PLAN, 64, struct frame_none, 0)        \
	X(START, 65, struct frame_none, 0)       \
	X(STOP, 66, struct frame_none, 0)        \
	X(SHUTDOWN, 67, struct frame_none, 0)    \
	X(PING, 68, struct frame_none, 0)        \
	X(SAY, 69, struct frame_none, 0)         \
	X(RESUME, 70, struct frame_resume, 40)

enum frame_type {
#define X(name, id, part, bytes) FRAME_##name = id,
	FRAME_LIST(X)
#undef X
};

#define X(name, id, part, bytes) static_assert(sizeof(part) == (bytes), #name " changed its size");
FRAME_LIST(X)
#undef X
static_assert(sizeof(struct frame_header) == 12, "header changed its size");
static_assert(sizeof(struct frame_beat_cpu) == 16, "BEAT part changed its size");
static_assert(sizeof(struct frame_stats_cpu) == 40, "STATS part changed its size");
static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the wire is little endian");

/* One part of a payload; a frame is written from a short list of them. */
struct frame_part {
	const void *bytes;
	size_t len;
};

/* A frame from frame_reader_next(); the payload points into the reader's buffer. */
struct frame_view {
	uint16_t type;
	const char *payload;
	uint32_t length;
};

/* Collects bytes, split anywhere, into whole frames. */
struct frame_reader {
	uint64_t offset; /* of buf[0] in the whole stream */
	size_t used;	 /* bytes of buf that were returned as frames */
	size_t len;
	char buf[sizeof(struct frame_header) + FRAME_MAX_PAYLOAD];
};

long frame_encode(void *out, size_t cap, uint16_t type, const struct frame_part *parts, int nparts);
const char *frame_name(uint16_t type);
void frame_reader_init(struct frame_reader *reader);
size_t frame_reader_room(struct frame_reader *reader, char **at);
void frame_reader_added(struct frame_reader *reader, size_t len);
int frame_reader_next(struct frame_reader *reader, struct frame_view *view);

#endif
