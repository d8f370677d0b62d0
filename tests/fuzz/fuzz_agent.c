// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * libFuzzer target: the agent's frame reader, fed in pieces, and its parser of plans.
 *
 * Input: u8 size of the pieces, then the host's bytes.
 */
#include <stdlib.h>
#include <string.h>

#include "frame.h"
#include "plan.h"

static struct frame_reader reader;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct plan plan;
	struct report report = {0};
	size_t piece;
	int got = 0;

	if (!size)
		return 0;
	piece = *data++ + 1, size--;
	frame_reader_init(&reader);
	while (size && got >= 0) {
		struct frame_view view;
		char *at;
		size_t room = frame_reader_room(&reader, &at);
		size_t take = piece < size ? piece : size;

		if (!room)
			abort(); /* there must be room while a frame is incomplete */
		take = take < room ? take : room;
		memcpy(at, data, take);
		data += take, size -= take;
		frame_reader_added(&reader, take);
		while ((got = frame_reader_next(&reader, &view)) > 0) {
			char *text = malloc(view.length + 1);

			memcpy(text, view.payload, view.length);
			frame_name(view.type);
			if (view.length <= PLAN_MAX_TEXT &&
			    !plan_parse(&plan, text, view.length, &report)) {
				for (int i = 0; i < plan.argc; i++)
					if (strlen(plan.argv[i]) > PLAN_MAX_TEXT)
						abort();
			}
			free(text);
		}
	}
	return 0;
}
