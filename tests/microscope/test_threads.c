/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * vCPUs that hammer the same lines while a collector reads, zeroes and watches: counts are each
 * thread's own, to the access, and the log is dense and in each vCPU's order.
 */
#include "check.h"
#include "frame.h"

#include <pthread.h>

enum { VCPUS = 4, ROUNDS = 60000, OBJECT = 0x7000 };

static Core core;
static pthread_barrier_t gate;
static atomic_bool stop;
static uint64_t own[VCPUS][4][ACCESS_CLASSES]; /* by address */
static uint64_t operations[VCPUS];

static void hammer(unsigned int cpu, unsigned int *seed, bool note)
{
	unsigned int where = (unsigned int)rand_r(seed) % 4;
	AccessClass class = (AccessClass)((unsigned int)rand_r(seed) % ACCESS_CLASSES);

	core_begin(&core, cpu);
	core_access(&core, cpu, OBJECT + 32 * where, 3, class, where, where);
	core_end(&core, cpu);
	if (note) {
		own[cpu][where][class]++;
		operations[cpu]++;
	}
}

static void *vcpu(void *opaque)
{
	unsigned int cpu = (unsigned int)(uintptr_t)opaque;
	unsigned int seed = cpu + 1;

	/* First beside a collector that changes its mind all the time, then beside one that reads.
	 */
	while (!atomic_load(&stop))
		hammer(cpu, &seed, false);
	pthread_barrier_wait(&gate);
	pthread_barrier_wait(&gate);
	for (int i = 0; i < ROUNDS; i++)
		hammer(cpu, &seed, true);
	return NULL;
}

/* Take all there is; numbers are dense, operations of each vCPU never go back. */
static uint64_t take(uint64_t next, uint32_t last[VCPUS])
{
	static Record records[1000];
	size_t count;

	while ((count = core_take(&core, records, 1000))) {
		for (size_t i = 0; i < count; i++) {
			const Record *record = &records[i];
			check(record->seq == next++ && record->cpu < VCPUS);
			check(record->operation == 0 || record->operation >= last[record->cpu]);
			check(record->at == 32 * record->function &&
			      record->class < ACCESS_CLASSES);
			if (record->operation)
				last[record->cpu] = record->operation;
		}
	}
	return next;
}

static void change_of_mind(void)
{
	Outbox outbox = {0};
	Table table = {0};
	unsigned int seed = 99;

	for (int i = 0; i < 300; i++) {
		uint32_t last[VCPUS] = {0};
		uint64_t next = 0;

		core_watch(&core, OBJECT, 128, (uint64_t)rand_r(&seed) % 5000);
		for (int k = rand_r(&seed) % 20; k >= 0; k--) {
			next = take(next, last);
			frame_cells(&outbox, &core, &table, k % 2 ? CELLS_FULL : 0, 20);
			for (uint32_t c = 0; c < table.cells.count; c++)
				check(table.cells.sums[c].address - OBJECT < 128);
			check(table.lines.count == 0);
			outbox_clear(&outbox);
			if (k % 5 == 0)
				core_zero(&core);
		}
		if (i % 7 == 0)
			core_forget(&core);
	}
	outbox_exit(&outbox);
	sums_exit(&table.cells);
	sums_exit(&table.lines);
}

static void compare(void)
{
	uint64_t sums[COUNTS], all = 0;

	core_counts(&core, sums);
	for (unsigned int cpu = 0; cpu < VCPUS; cpu++) {
		for (uint32_t i = 0; i < core_cells(&core, cpu); i++) {
			const Cell *cell = core_cell(&core, cpu, i);
			uint64_t where = (cell->address - OBJECT) / 32;

			for (int class = 0; class < ACCESS_CLASSES; class ++) {
				if (!cell_inside(cell->tag))
					check(cell->counts[class] == 0);
				else
					check(cell->counts[class] == own[cpu][where][class]);
			}
		}
		all += operations[cpu];
	}
	check(all == VCPUS * ROUNDS);
	check(sums[COUNT_ACCESSES] == all && sums[COUNT_UNTOLD] == 0);
	check(sums[COUNT_BEGUN] == all && sums[COUNT_ENDED] == all);
	check(sums[COUNT_TOUCHING] == all && sums[COUNT_AGAIN] == 0);
	check(core_logged(&core) + sums[COUNT_LOST] + sums[COUNT_OVER] == all);
}

int main(void)
{
	pthread_t threads[VCPUS];
	uint32_t last[VCPUS] = {0};
	uint64_t next = 0;

	check(core_init(&core, VCPUS));
	pthread_barrier_init(&gate, NULL, VCPUS + 1);
	for (uintptr_t i = 0; i < VCPUS; i++)
		check(!pthread_create(&threads[i], NULL, vcpu, (void *)i));
	change_of_mind();
	atomic_store(&stop, true);
	pthread_barrier_wait(&gate);
	core_watch(&core, OBJECT, 128, 200000); /* used up before the end */
	pthread_barrier_wait(&gate);
	for (uint64_t sums[COUNTS] = {0}; sums[COUNT_ENDED] < VCPUS * ROUNDS;) {
		next = take(next, last);
		core_counts(&core, sums);
	}
	for (int i = 0; i < VCPUS; i++)
		pthread_join(threads[i], NULL);
	check(take(next, last) == core_logged(&core));
	compare();
	core_exit(&core);
	return 0;
}
