// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * golden.c - write the golden frames: golden DIRECTORY
 */
#include "golden.h"

#include "check.h"

int main(int argc, char **argv)
{
	static char frame[4096];
	char path[512];

	check(argc == 2);
	for (size_t i = 0; i < GOLDENS; i++) {
		long n = frame_encode(frame, sizeof(frame), goldens[i].type, goldens[i].parts,
				      goldens[i].nparts);
		FILE *file;

		check(n > 0);
		snprintf(path, sizeof(path), "%s/%s.bin", argv[1], goldens[i].name);
		file = fopen(path, "wb");
		check(file);
		check(fwrite(frame, 1, n, file) == (size_t)n);
		check(!fclose(file));
	}
	return 0;
}
