/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * wire.h - the collector: a thread that listens on a socket and tells one client at a time what
 * the core has counted. PROTOCOL.md says how. No QEMU.
 */
#ifndef MICROSCOPE_WIRE_H
#define MICROSCOPE_WIRE_H

#include "core.h"

#include <pthread.h>
#include <sys/types.h>
#include <sys/un.h>

enum {
    WIRE_PERIOD_NS = 33333333, /* 30 Hz */
    WIRE_TOP_LINES = 20,
};

typedef struct {
    Core *core;
    unsigned int api, functions;
    struct sockaddr_un name;
    int listener, wake;
    pid_t owner; /* who listens; a fork of it does not */
    pthread_t thread;
    bool runs;
} Wire;

/* Listen on @path; false with @sentence. Nobody is served before wire_start(). */
bool wire_open(Wire *wire, Core *core, const char *path, unsigned int api, unsigned int functions,
               char *sentence);

/* Start the thread; false when there is none to be had. */
bool wire_start(Wire *wire);

/* End the thread, close and remove the socket. In a fork of the owner: nothing. */
void wire_close(Wire *wire);

#endif
