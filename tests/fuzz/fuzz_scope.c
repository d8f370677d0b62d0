// SPDX-License-Identifier: GPL-2.0-or-later
/* libFuzzer target: the parser of the microscope's functions file, and look-ups in its result. */
#include <stdlib.h>
#include <string.h>

#include "functions.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static Functions functions;
	char sentence[SENTENCE_BYTES] = "";
	char *text = malloc(size ? size : 1);

	memcpy(text, data, size);
	if (functions_parse(&functions, text, size, sentence)) {
		for (unsigned int n = 0; n < functions.n_ranges; n++) {
			const Range *range = &functions.ranges[n];
			int found = functions_find(&functions, range->low);

			if (range->low >= range->high || found != (int)range->function)
				abort();
		}
	} else if (!sentence[0] || strchr(sentence, '\n')) {
		abort(); /* refused without exactly one sentence */
	}
	free(text);
	return 0;
}
