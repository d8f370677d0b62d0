// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test_frame.c - frames in every split, limits, and broken streams.
 */
#include <errno.h>

#include "check.h"
#include "golden.h"

static struct frame_reader reader;
static char stream[65536];

static size_t write_goldens(void)
{
	size_t len = 0;

	for (size_t i = 0; i < GOLDENS; i++) {
		long n = frame_encode(stream + len, sizeof(stream) - len, goldens[i].type,
				      goldens[i].parts, goldens[i].nparts);

		check(n >= 12);
		len += n;
	}
	return len;
}

static void feed(const char *bytes, size_t len)
{
	char *at;

	check(frame_reader_room(&reader, &at) >= len);
	memcpy(at, bytes, len);
	frame_reader_added(&reader, len);
}

/* Every frame comes out whole and in order, whatever the size of the pieces. */
static void test_every_split(void)
{
	size_t len = write_goldens();

	for (size_t piece = 1; piece <= len; piece++) {
		struct frame_view view;
		size_t seen = 0;

		frame_reader_init(&reader);
		for (size_t at = 0; at < len; at += piece) {
			feed(stream + at, len - at < piece ? len - at : piece);
			while (frame_reader_next(&reader, &view) > 0) {
				check(view.type == goldens[seen].type);
				seen++;
			}
		}
		check(seen == GOLDENS);
	}
}

static void test_payload_is_kept(void)
{
	struct frame_part parts[2] = {TEXT("plan 1\n"), TEXT("run true\n")};
	struct frame_view view;
	long n = frame_encode(stream, sizeof(stream), FRAME_PLAN, parts, 2);

	frame_reader_init(&reader);
	feed(stream, n);
	check(frame_reader_next(&reader, &view) == 1);
	check(view.length == 16);
	check(!memcmp(view.payload, "plan 1\nrun true\n", 16));
	check(frame_reader_next(&reader, &view) == 0);
}

static void test_bad_magic_names_its_place(void)
{
	struct frame_view view;
	long n = frame_encode(stream, sizeof(stream), FRAME_START, NULL, 0);

	memcpy(stream + n, "not a frame.", 12);
	frame_reader_init(&reader);
	feed(stream, n + 12);
	check(frame_reader_next(&reader, &view) == 1);
	check(frame_reader_next(&reader, &view) == -EBADMSG);
	check(reader.offset + reader.used == 12);
}

static void test_length_has_a_limit(void)
{
	struct frame_header header = {FRAME_MAGIC, FRAME_PLAN, 0, FRAME_MAX_PAYLOAD + 1};
	struct frame_part huge = {stream, FRAME_MAX_PAYLOAD + 1};
	struct frame_view view;
	char small[16];

	frame_reader_init(&reader);
	feed((char *)&header, sizeof(header));
	check(frame_reader_next(&reader, &view) == -EBADMSG);
	check(frame_encode(small, sizeof(small), FRAME_PLAN, &huge, 1) == -EMSGSIZE);
	huge.len = 100;
	check(frame_encode(small, sizeof(small), FRAME_PLAN, &huge, 1) == -ENOSPC);
}

/* The longest allowed frame fits, byte by byte at the end. */
static void test_longest_frame_fits(void)
{
	static char body[FRAME_MAX_PAYLOAD];
	struct frame_header header = {FRAME_MAGIC, FRAME_PLAN, 0, FRAME_MAX_PAYLOAD};
	struct frame_view view;

	frame_reader_init(&reader);
	feed((char *)&header, sizeof(header));
	feed(body, sizeof(body) - 1);
	check(frame_reader_next(&reader, &view) == 0);
	feed(body, 1);
	check(frame_reader_next(&reader, &view) == 1);
	check(view.length == FRAME_MAX_PAYLOAD);
}

static void test_names(void)
{
	check_text(frame_name(FRAME_BEAT), "BEAT");
	check_text(frame_name(99), "unknown");
}

int main(void)
{
	test_every_split();
	test_payload_is_kept();
	test_bad_magic_names_its_place();
	test_length_has_a_limit();
	test_longest_frame_fits();
	test_names();
	return 0;
}
