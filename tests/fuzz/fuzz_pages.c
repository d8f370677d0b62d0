// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * libFuzzer target: format files and ring-buffer pages through decode/_pages.c and libtraceevent.
 *
 * Input: u8 number of format files, each u16 length and text; the rest are pages of CPU 0 and 1,
 * alternately.
 */
#include "_pages.c"

#define PAGE	   4096
#define MOST_FILES 16

static const char header[] = "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
			     "\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n"
			     "\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n"
			     "\tfield: char data;\toffset:16;\tsize:4080;\tsigned:0;\n";

/* The name in the format; the real decoder uses the name of the file. */
static void name_of(const char *text, char *name, size_t room)
{
	const char *at = strstr(text, "name: ");
	size_t n = 0;

	for (at = at ? at + 6 : ""; *at && *at != '\n' && n + 1 < room; at++)
		name[n++] = *at;
	name[n] = 0;
}

static unsigned long touch(const void *cells, long bytes)
{
	const unsigned char *at = cells;
	unsigned long sum = 0;
	long i;

	for (i = 0; i < bytes; i++)
		sum += at[i];
	return sum;
}

static unsigned long read_all(struct duet *d)
{
	const struct loss *losses;
	unsigned long sum = 0;
	int t, f;

	for (t = 0; t < d->ntables; t++) {
		long rows = duet_rows(d, t);

		sum += touch(duet_column(d, t, -3), rows * 8) +
		       touch(duet_column(d, t, -1), rows * 4);
		for (f = 0; f < duet_nfields(d, t); f++)
			sum += touch(duet_column(d, t, f), rows * d->tables[t]->fields[f].width);
	}
	sum += duet_losses(d, &losses);
	duet_clear(d);
	return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static volatile unsigned long sink;
	struct duet *d;
	size_t files, cpu = 0;

	if (!size)
		return 0;
	d = duet_new(PAGE);
	if (!d || duet_header_page(d, (char *)header, sizeof(header) - 1))
		abort();
	files = *data++ % (MOST_FILES + 1);
	for (size--; files && size >= 2; files--) {
		size_t length = data[0] | data[1] << 8;
		char *text, name[64];

		data += 2, size -= 2;
		length = length < size ? length : size;
		text = malloc(length + 1); /* exact size: the sanitizer sees overreads */
		memcpy(text, data, length);
		text[length] = 0;
		name_of(text, name, sizeof(name));
		duet_add_event(d, "duet", name, text, length);
		free(text);
		data += length, size -= length;
	}
	for (; size >= PAGE; size -= PAGE, data += PAGE, cpu ^= 1) {
		unsigned char *page = malloc(PAGE);

		memcpy(page, data, PAGE);
		if (!duet_decode(d, cpu, page, 1))
			sink += read_all(d);
		else
			duet_clear(d);
		free(page);
	}
	duet_free(d);
	return 0;
}
