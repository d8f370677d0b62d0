// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * frame.c - encode and decode frames. Pure: no I/O, no allocation.
 */
#include "frame.h"

#include <errno.h>
#include <string.h>

/**
 * frame_encode() - encode one whole frame
 * @out: out: the frame
 * @cap: bytes of room at @out
 * @type: an enum frame_type
 * @parts: parts of the payload, in order
 * @nparts: number of @parts
 *
 * Return: bytes written, -EMSGSIZE if the payload is above FRAME_MAX_PAYLOAD,
 * -ENOSPC if @cap is too small.
 */
long frame_encode(void *out, size_t cap, uint16_t type, const struct frame_part *parts, int nparts)
{
	struct frame_header header = {.magic = FRAME_MAGIC, .type = type};
	size_t length = 0;
	char *at = out;

	for (int i = 0; i < nparts; i++)
		length += parts[i].len;
	if (length > FRAME_MAX_PAYLOAD)
		return -EMSGSIZE;
	if (sizeof(header) + length > cap)
		return -ENOSPC;
	header.length = length;
	memcpy(at, &header, sizeof(header));
	at += sizeof(header);
	for (int i = 0; i < nparts; i++) {
		if (parts[i].len)
			memcpy(at, parts[i].bytes, parts[i].len);
		at += parts[i].len;
	}
	return at - (char *)out;
}

/**
 * frame_name() - return the name of a frame type, for messages
 * @type: the id on the wire
 *
 * Return: a static string, "unknown" for an id that is not in FRAME_LIST.
 */
const char *frame_name(uint16_t type)
{
	switch (type) {
#define X(name, id, part, bytes) \
	case id:                 \
		return #name;
		FRAME_LIST(X)
#undef X
	}
	return "unknown";
}

/**
 * frame_reader_init() - discard everything read so far
 * @reader: the stream
 */
void frame_reader_init(struct frame_reader *reader)
{
	reader->offset = 0;
	reader->used = 0;
	reader->len = 0;
}

/**
 * frame_reader_room() - get room for the next bytes
 * @reader: the stream
 * @at: out: address of the room; earlier views become invalid
 *
 * Return: bytes of room, at least one if frame_reader_next() has returned 0.
 */
size_t frame_reader_room(struct frame_reader *reader, char **at)
{
	if (reader->used) {
		reader->len -= reader->used;
		memmove(reader->buf, reader->buf + reader->used, reader->len);
		reader->offset += reader->used;
		reader->used = 0;
	}
	*at = reader->buf + reader->len;
	return sizeof(reader->buf) - reader->len;
}

/**
 * frame_reader_added() - count bytes that were written to frame_reader_room()
 * @reader: the stream
 * @len: number of bytes
 */
void frame_reader_added(struct frame_reader *reader, size_t len)
{
	reader->len += len;
}

/**
 * frame_reader_next() - take the next whole frame
 * @reader: the stream
 * @view: out: the frame, valid until the next frame_reader_room()
 *
 * Return: 1 with a frame, 0 if more bytes are needed, -EBADMSG for a wrong magic or a
 * length above the limit, at offset reader->offset + reader->used of the stream.
 */
int frame_reader_next(struct frame_reader *reader, struct frame_view *view)
{
	size_t have = reader->len - reader->used;
	struct frame_header header;

	if (have < sizeof(header))
		return 0;
	memcpy(&header, reader->buf + reader->used, sizeof(header));
	if (header.magic != FRAME_MAGIC || header.length > FRAME_MAX_PAYLOAD)
		return -EBADMSG;
	if (have < sizeof(header) + header.length)
		return 0;
	view->type = header.type;
	view->length = header.length;
	view->payload = reader->buf + reader->used + sizeof(header);
	reader->used += sizeof(header) + header.length;
	return 1;
}
