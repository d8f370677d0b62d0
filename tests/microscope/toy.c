/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * toy - a guest without QEMU: `toy SOCKET VCPUS`, the plugin's core and collector behind it.
 *
 * Lines on standard input: `go N` has every vCPU do N operations of known accesses on the object
 * at 0x7000, and answers `done`; `fork` closes the wire in a child, which must do nothing; the end
 * of input closes the wire in order.
 */
#include "check.h"
#include "functions.h"
#include "wire.h"

#include <sys/wait.h>
#include <unistd.h>

static Core core;
static Wire wire;
static long rounds;

/* Per operation: a read by function 0, an atomic by 1, a write by 1 over the object's end. */
static void *vcpu(void *opaque)
{
	unsigned int cpu = (unsigned int)(uintptr_t)opaque;

	for (long i = 0; i < rounds; i++) {
		core_begin(&core, cpu);
		core_access(&core, cpu, 0x7000, 3, ACCESS_READ, 0, 0);
		core_access(&core, cpu, 0x7058, 3, ACCESS_RMW, 1, 1);
		core_access(&core, cpu, 0x70bc, 3, ACCESS_WRITE, 1, 1);
		core_end(&core, cpu);
		core_access(&core, cpu, 0x9000 + 0x40 * cpu, 0, ACCESS_READ, 2, 2);
	}
	return NULL;
}

static void go(void)
{
	pthread_t threads[CORE_MAX_VCPUS];

	for (uintptr_t i = 0; i < core.n_vcpus; i++)
		check(!pthread_create(&threads[i], NULL, vcpu, (void *)i));
	for (unsigned int i = 0; i < core.n_vcpus; i++)
		pthread_join(threads[i], NULL);
}

int main(int argc, char **argv)
{
	char sentence[SENTENCE_BYTES];
	char line[80];

	check(argc == 3);
	check(core_init(&core, (unsigned int)atoi(argv[2])));
	if (!wire_open(&wire, &core, argv[1], 1, 3, sentence)) {
		fprintf(stderr, "%s\n", sentence);
		return 3;
	}
	check(wire_start(&wire));
	puts("ready");
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin)) {
		if (sscanf(line, "go %ld", &rounds) == 1) {
			go();
		} else {
			pid_t child = fork();
			int status;

			if (!child) {
				wire_close(&wire);
				_exit(0);
			}
			check(waitpid(child, &status, 0) == child && status == 0);
		}
		puts("done");
		fflush(stdout);
	}
	wire_close(&wire);
	core_exit(&core);
	return 0;
}
