/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The core, one thread: cells, lines, operations, zeros, the log and its losses. */
#include "check.h"
#include "frame.h"

static Core core;
static Record records[CORE_RING + 1];

static uint64_t count(Count what)
{
	uint64_t sums[COUNTS];

	core_counts(&core, sums);
	return sums[what];
}

/* Counts of the cell with this key over all vCPUs; -1: there is none. */
static long cell(uint64_t address, unsigned int function, bool inside, AccessClass class)
{
	long sum = -1;

	for (unsigned int cpu = 0; cpu < core.n_vcpus; cpu++) {
		for (uint32_t i = 0; i < core_cells(&core, cpu); i++) {
			const Cell *one = core_cell(&core, cpu, i);
			if (one->address == address && cell_function(one->tag) == function &&
			    cell_inside(one->tag) == inside)
				sum = (sum < 0 ? 0 : sum) + (long)one->counts[class];
		}
	}
	return sum;
}

static void begin(unsigned int n_vcpus)
{
	check(core_init(&core, n_vcpus));
}

static void cells(void)
{
	begin(2);
	for (int i = 0; i < 3; i++)
		core_access(&core, 0, 0x1000, 3, ACCESS_READ, 7, 7);
	core_access(&core, 1, 0x1000, 2, ACCESS_READ, 7, 7);
	core_access(&core, 1, 0x1000, 2, ACCESS_RMW, 8, 8);
	core_begin(&core, 0);
	core_access(&core, 0, 0x1000, 3, ACCESS_WRITE, 7, 7);
	check(cell(0x1000, 7, false, ACCESS_READ) == 4);
	check(cell(0x1000, 7, false, ACCESS_WRITE) == 0);
	check(cell(0x1000, 8, false, ACCESS_RMW) == 1);
	check(cell(0x1000, 7, true, ACCESS_WRITE) == 1);
	check(cell(0x1000, 8, true, ACCESS_RMW) == -1);
	check(core_cell(&core, 0, 0)->sizes == 1 << 3);
	check(core_cell(&core, 1, 0)->sizes == 1 << 2);
	check(count(COUNT_ACCESSES) == 6 && count(COUNT_UNTOLD) == 0);
	core_access(&core, 2, 0x1000, 3, ACCESS_WRITE, 7, 7); /* a vCPU nobody announced */
	check(count(COUNT_ACCESSES) == 7 && count(COUNT_UNTOLD) == 1);
	core_untold(&core, 1, 2);
	check(count(COUNT_ACCESSES) == 9 && count(COUNT_UNTOLD) == 3);
	core_exit(&core);
}

/* A site is a guess: what shares one, and what an older zero left there, is distinguished. */
static void sites(void)
{
	begin(1);
	for (int i = 0; i < 3; i++) {
		core_access(&core, 0, 0x1000, 3, ACCESS_READ, 7, 5);
		core_access(&core, 0, 0x1008, 3, ACCESS_READ, 7, 5);
		core_access(&core, 0, 0x1000, 3, ACCESS_READ, 8, 5 + CORE_SITES);
		core_access(&core, 0, 0x1000, 3, ACCESS_READ, 7, 6);
	}
	check(core_cells(&core, 0) == 3);
	check(cell(0x1000, 7, false, ACCESS_READ) == 6);
	check(cell(0x1008, 7, false, ACCESS_READ) == 3);
	check(cell(0x1000, 8, false, ACCESS_READ) == 3);
	core_begin(&core, 0);
	core_access(&core, 0, 0x1000, 3, ACCESS_READ, 7, 6);
	check(cell(0x1000, 7, true, ACCESS_READ) == 1);
	core_zero(&core);
	core_access(&core, 0, 0x1008, 2, ACCESS_WRITE, 7, 6);
	core_access(&core, 0, 0x1000, 3, ACCESS_READ, 7, 6);
	check(core_cells(&core, 0) == 2);
	check(cell(0x1008, 7, false, ACCESS_WRITE) == 1 &&
	      cell(0x1008, 7, false, ACCESS_READ) == 0);
	check(cell(0x1000, 7, false, ACCESS_READ) == 1 && count(COUNT_ACCESSES) == 2);
	core_exit(&core);
}

static void over_the_end_of_a_line(void)
{
	begin(1);
	core_watch(&core, 0x1040, 64, 10);
	core_access(&core, 0, 0x103d, 3, ACCESS_WRITE, 0, 0); /* 3 bytes here, 5 there */
	core_access(&core, 0, 0x107f, 0, ACCESS_READ, 0, 0);
	core_access(&core, 0, UINT64_MAX - 3, 3, ACCESS_READ, 0, 0); /* around the end of all */
	check(cell(0x103d, 0, false, ACCESS_WRITE) == 1);
	check(cell(0x1040, 0, false, ACCESS_WRITE) == 1);
	check(cell(0, 0, false, ACCESS_READ) == 1);
	check(count(COUNT_ACCESSES) == 5);
	check(core_take(&core, records, 10) == 2);
	check(records[0].at == 0 && records[0].size == 5 && records[0].class == ACCESS_WRITE);
	check(records[1].at == 63 && records[1].size == 1 && records[1].seq == 1);
	core_exit(&core);
}

static void operations(void)
{
	begin(1);
	core_watch(&core, 0x2008, 8, 100);
	core_end(&core, 0); /* of an operation that began before we looked */
	core_begin(&core, 0);
	core_access(&core, 0, 0x2000, 3, ACCESS_READ, 0, 0); /* the line, not the object */
	core_end(&core, 0);
	core_begin(&core, 0);
	core_access(&core, 0, 0x200f, 0, ACCESS_READ, 0, 0);
	core_end(&core, 0);
	core_access(&core, 0, 0x2008, 3, ACCESS_WRITE, 0, 0);
	core_begin(&core, 0);
	core_switch(&core, 0); /* it sleeps */
	core_switch(&core, 0);
	core_end(&core, 0);
	core_begin(&core, 0);
	core_begin(&core, 0); /* entered again */
	core_end(&core, 0);
	for (int i = 0; i < 3; i++) {
		core_begin(&core, 0);
		core_leave(&core, 0); /* a tail call */
		core_leave(&core, 0);
		core_end(&core, 0);
	}
	check(count(COUNT_BEGUN) == 8 && count(COUNT_ENDED) == 3 && count(COUNT_TOUCHING) == 1);
	check(count(COUNT_SLEPT) == 1 && count(COUNT_AGAIN) == 1 && count(COUNT_LEFT) == 3);
	check(core_take(&core, records, 10) == 3);
	check(records[0].operation == 1 && records[0].at == -8);
	check(records[1].operation == 2 && records[1].at == 7);
	check(records[2].operation == 0);
	core_exit(&core);
}

static void zeros(void)
{
	begin(2);
	core_watch(&core, 0x3000, 64, 100);
	core_begin(&core, 0);
	core_access(&core, 0, 0x3000, 3, ACCESS_READ, 0, 0);
	core_access(&core, 1, 0x3000, 3, ACCESS_READ, 0, 0);
	core_zero(&core);
	check(count(COUNT_ACCESSES) == 0 && count(COUNT_BEGUN) == 0);
	check(core_cells(&core, 0) == 0 && core_cells(&core, 1) == 0);
	check(core_logged(&core) == 2); /* the log goes on */
	core_access(&core, 0, 0x3000, 3, ACCESS_READ, 0, 0);
	core_end(&core, 0);
	check(count(COUNT_ACCESSES) == 1 && count(COUNT_ENDED) == 0);
	check(cell(0x3000, 0, false, ACCESS_READ) == 1);
	check(core_take(&core, records, 10) == 3 && records[2].operation == 0);
	core_begin(&core, 0);
	core_access(&core, 0, 0x3000, 3, ACCESS_READ, 0, 0);
	check(core_take(&core, records, 10) == 1 && records[0].operation == 2);
	core_access(&core, 0, 0x3000, 3, ACCESS_READ, 0, 0); /* not taken before the new watch */
	core_watch(&core, 0x3010, 8, 1);
	check(core_take(&core, records, 10) == 0 && core_logged(&core) == 0);
	core_begin(&core, 0);
	core_access(&core, 0, 0x3010, 3, ACCESS_READ, 0, 0);
	core_access(&core, 0, 0x3010, 3, ACCESS_READ, 0, 0);
	check(core_take(&core, records, 10) == 1);
	check(records[0].seq == 0 && records[0].operation == 1 && records[0].watch == 0);
	check(count(COUNT_OVER) == 1 && count(COUNT_LOST) == 0);
	core_forget(&core);
	core_access(&core, 0, 0x3010, 3, ACCESS_READ, 0, 0);
	check(count(COUNT_OVER) == 0 && core_take(&core, records, 10) == 0);
	check(count(COUNT_ACCESSES) == 3); /* forgetting sets no zero */
	core_exit(&core);
}

static void full_ring(void)
{
	begin(2);
	core_watch(&core, 0x4000, 64, CORE_MAX_LOG);
	for (int i = 0; i < CORE_RING + 5; i++)
		core_access(&core, 0, 0x4000, 3, ACCESS_READ, 0, 0);
	core_access(&core, 1, 0x4000, 3, ACCESS_READ, 0, 0);
	check(count(COUNT_LOST) == 5 && core_logged(&core) == CORE_RING + 1);
	check(core_take(&core, records, CORE_RING + 1) == CORE_RING + 1);
	for (uint64_t i = 0; i <= CORE_RING; i++)
		check(records[i].seq == i && records[i].cpu == (i == CORE_RING));
	core_access(&core, 0, 0x4000, 3, ACCESS_READ, 0, 0); /* there is room again */
	check(core_take(&core, records, 1) == 1 && records[0].seq == CORE_RING + 1);
	check(cell(0x4000, 0, false, ACCESS_READ) == CORE_RING + 7);
	core_exit(&core);
}

static void full_table(void)
{
	uint64_t seen = 0;

	begin(1);
	for (int i = 0; i < CORE_MAX_CELLS + 1000; i++)
		core_access(&core, 0, 0x10000 + 8 * (uint64_t)i, 3, ACCESS_WRITE, 1, 1);
	for (uint32_t i = 0; i < core_cells(&core, 0); i++)
		seen += core_cell(&core, 0, i)->counts[ACCESS_WRITE];
	check(count(COUNT_UNTOLD) >= 1000);
	check(seen + count(COUNT_UNTOLD) == count(COUNT_ACCESSES));
	core_zero(&core);
	core_access(&core, 0, 0x999000, 3, ACCESS_WRITE, 1, 1);
	check(core_cells(&core, 0) == 1 && count(COUNT_UNTOLD) == 0);
	core_exit(&core);
}

/* The busiest, against a slow way, on many tables. */
static void busiest(void)
{
	Cell one = {.sizes = 1};
	Sums sums = {0};

	srand(1);
	for (int round = 0; round < 500; round++) {
		uint64_t totals[64] = {0};
		uint32_t lines = (uint32_t)(rand() % 64);
		uint32_t top = 1 + (uint32_t)(rand() % 20);

		check(sums_begin(&sums, 64));
		for (uint32_t i = 0; i < lines; i++) {
			for (int times = rand() % 3; times >= 0; times--) {
				one.counts[ACCESS_READ] = (uint64_t)(rand() % 8);
				totals[i] += one.counts[ACCESS_READ];
				sums_add(&sums, 64 * i, SUMS_NO_FUNCTION, 0, 1, &one);
			}
		}
		check(sums.count == lines);
		check(sums_busiest(&sums, top) == (lines < top ? lines : top));
		for (uint32_t place = 0; place < top && place < lines; place++) {
			uint32_t best = 0;

			for (uint32_t i = 1; i < lines; i++)
				best = totals[i] + 1 > totals[best] + 1 ? i : best;
			check(sums.sums[place].address == 64 * best);
			check(sums.sums[place].counts[ACCESS_READ] == totals[best]);
			totals[best] = UINT64_MAX; /* + 1 is 0: taken */
		}
	}
	sums_exit(&sums);
}

static void other_lines_are_summed(void)
{
	Outbox outbox = {0};
	Table table = {0};
	Sum *line;

	begin(2);
	core_watch(&core, 0x5010, 64, 0); /* two lines */
	core_access(&core, 0, 0x5000, 3, ACCESS_READ, 0, 0);
	core_access(&core, 1, 0x5078, 3, ACCESS_READ, 0, 0);
	core_access(&core, 0, 0x6000, 3, ACCESS_READ, 0, 0);
	core_access(&core, 1, 0x6038, 3, ACCESS_RMW, 1, 1);
	frame_cells(&outbox, &core, &table, 0, 20);
	check(outbox_pending(&outbox) == 4 + 1 + 108 + 3 * 40);
	check(table.cells.count == 2 && table.lines.count == 1);
	line = &table.lines.sums[0];
	check(line->address == 0x6000 && line->function == SUMS_NO_FUNCTION);
	check(line->counts[ACCESS_READ] == 1 && line->counts[ACCESS_RMW] == 1);
	frame_cells(&outbox, &core, &table, CELLS_FULL, 20);
	check(table.cells.count == 4 && table.lines.count == 1);
	check(count(COUNT_OVER) == 2);
	outbox_exit(&outbox);
	sums_exit(&table.cells);
	sums_exit(&table.lines);
	core_exit(&core);
}

int main(void)
{
	cells();
	sites();
	over_the_end_of_a_line();
	operations();
	zeros();
	full_ring();
	full_table();
	busiest();
	other_lines_are_summed();
	return 0;
}
