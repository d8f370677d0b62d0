/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * wire.h - the collector: a thread that listens on a socket and sends the core's counts to one
 * client at a time, as PROTOCOL.md describes. No QEMU.
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
    pid_t owner; /* process that listens, but not its forks */
    pthread_t thread;
    bool runs;
} Wire;

/* Listen on @path; false with @sentence. Clients are served after wire_start(). */
bool wire_open(Wire *wire, Core *core, const char *path, unsigned int api, unsigned int functions,
               char *sentence);

/* Start the thread; false if that fails. */
bool wire_start(Wire *wire);

/* End the thread, close and remove the socket. No effect in a fork of the owner. */
void wire_close(Wire *wire);

#endif
