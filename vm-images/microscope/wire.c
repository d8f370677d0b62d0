/* SPDX-License-Identifier: GPL-2.0-or-later */
/* wire.c - the collector's thread: accepts a client, reads lines, sends frames. Never blocks. */
#define _GNU_SOURCE /* accept4 */
#include "wire.h"

#include "frame.h"
#include "functions.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum {
    LINE_BYTES = 96,
    LOG_PENDING = 256 << 10,  /* unsent bytes beyond which no page of the log is appended */
    CELLS_PENDING = 64 << 10, /* beyond this no counts are appended: they are cumulative */
    INPUT_PENDING = 1 << 20,  /* beyond this no line is read */
    SOON_MS = 1,              /* wait for a vCPU to write the log's next record */
};

typedef struct {
    Wire *wire;
    int fd; /* the client, or -1 */
    Outbox outbox;
    Table table;
    uint64_t due_ns;   /* time of the next counts */
    bool asked;        /* a snapshot was requested */
    uint64_t asked_at; /* number of the log's record before which the snapshot is not sent */
    char line[LINE_BYTES];
    size_t line_bytes; /* LINE_BYTES: the line is too long, and skipped to its end */
} Client;

static uint64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

bool wire_open(Wire *wire, Core *core, const char *path, unsigned int api, unsigned int functions,
               char *sentence)
{
    *wire = (Wire){.core = core, .api = api, .functions = functions, .listener = -1, .wake = -1};
    wire->name.sun_family = AF_UNIX;
    snprintf(wire->name.sun_path, sizeof(wire->name.sun_path), "%s", path);
    wire->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    wire->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    bool bound = wire->listener >= 0 && wire->wake >= 0 &&
                 !bind(wire->listener, (struct sockaddr *)&wire->name, sizeof(wire->name));
    if (!bound || listen(wire->listener, 4)) {
        snprintf(sentence, SENTENCE_BYTES, "cannot listen on %s: %s.", path, strerror(errno));
        if (bound) {
            unlink(path);
        }
        close(wire->listener);
        close(wire->wake);
        return false;
    }
    wire->owner = getpid();
    return true;
}

static void forget(Client *client)
{
    if (client->fd >= 0) {
        close(client->fd);
        client->fd = -1;
        core_forget(client->wire->core);
    }
    client->asked = false;
    client->line_bytes = 0;
    outbox_clear(&client->outbox);
}

static void welcome(Client *client)
{
    Wire *wire = client->wire;

    client->fd = accept4(wire->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (client->fd >= 0) {
        client->due_ns = now_ns();
        frame_hello(&client->outbox, wire->core, wire->api, wire->functions);
    }
}

/* Execute a line. The arguments of `watch` are ADDRESS (hex), BYTES and LOG (decimal). */
static void obey(Client *client, const char *line)
{
    Core *core = client->wire->core;
    uint64_t address, bytes, limit;
    char rest;

    if (!strcmp(line, "reset")) {
        core_zero(core);
        frame_reply(&client->outbox, "ok reset");
    } else if (!strcmp(line, "snapshot")) {
        client->asked = true;
        client->asked_at = core_logged(core);
    } else if (sscanf(line, "watch %" SCNx64 " %" SCNu64 " %" SCNu64 "%c", &address, &bytes, &limit,
                      &rest) != 3 ||
               strchr(line, '-')) {
        frame_reply(&client->outbox, "error: wanted `watch ADDRESS BYTES LOG`, `reset` or "
                                     "`snapshot`.");
    } else if (!bytes || bytes > CORE_MAX_WATCH || limit > CORE_MAX_LOG ||
               address + bytes < address) {
        frame_reply(&client->outbox, "error: wanted 1 to 1024 bytes and a log of at most 16777216 "
                                     "accesses.");
    } else {
        client->asked = false;
        core_watch(core, address, bytes, limit);
        frame_reply(&client->outbox, "ok watch");
    }
}

static void take_bytes(Client *client, const char *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (bytes[i] != '\n') {
            if (client->line_bytes < LINE_BYTES) {
                client->line[client->line_bytes++] = bytes[i];
            }
            continue;
        }
        if (client->line_bytes == LINE_BYTES) {
            frame_reply(&client->outbox, "error: the line is too long.");
        } else {
            client->line[client->line_bytes] = '\0';
            obey(client, client->line);
        }
        client->line_bytes = 0;
    }
}

/* Read and execute lines; false if the client has disconnected. */
static bool take_lines(Client *client)
{
    char bytes[4096];
    ssize_t count = read(client->fd, bytes, sizeof(bytes));

    if (count > 0) {
        take_bytes(client, bytes, (size_t)count);
    }
    return count > 0 || (count < 0 && (errno == EAGAIN || errno == EINTR));
}

static bool send_some(Client *client)
{
    Outbox *outbox = &client->outbox;

    while (outbox_pending(outbox)) {
        ssize_t count = send(client->fd, outbox->bytes + outbox->begin, outbox_pending(outbox),
                             MSG_NOSIGNAL | MSG_DONTWAIT);
        if (count < 0) {
            return errno == EAGAIN || errno == EINTR;
        }
        outbox->begin += (size_t)count;
    }
    return !outbox->broken;
}

/* Append due frames to the send buffer, if the client keeps up. */
static void fill(Client *client)
{
    const Core *core = client->wire->core;
    Outbox *outbox = &client->outbox;

    while (outbox_pending(outbox) < LOG_PENDING && frame_log(outbox, client->wire->core)) {
        continue;
    }
    if (client->asked && core->next >= client->asked_at) {
        client->asked = false;
        frame_cells(outbox, core, &client->table, CELLS_FULL | CELLS_ANSWER, WIRE_TOP_LINES);
    }
    uint64_t now = now_ns();
    if (now >= client->due_ns) {
        client->due_ns = now + WIRE_PERIOD_NS;
        if (outbox_pending(outbox) < CELLS_PENDING) {
            frame_cells(outbox, core, &client->table, 0, WIRE_TOP_LINES);
        }
    }
}

static int wait_ms(const Client *client)
{
    uint64_t now = now_ns();

    if (client->fd < 0) {
        return -1;
    }
    if (client->asked && outbox_pending(&client->outbox) < LOG_PENDING) {
        return SOON_MS;
    }
    return now >= client->due_ns ? 0 : (int)((client->due_ns - now + 999999) / 1000000);
}

static void serve(Client *client, struct pollfd *ready)
{
    bool there = true;

    if (client->fd < 0) {
        if (ready[1].revents) {
            welcome(client);
        }
        return;
    }
    if (ready[1].revents & POLLIN) {
        there = take_lines(client);
    } else if (ready[1].revents & (POLLHUP | POLLERR)) {
        there = false;
    }
    if (there) {
        fill(client);
        there = send_some(client);
    }
    if (!there) {
        forget(client);
    }
}

static void *collect(void *opaque)
{
    Client client = {.wire = opaque, .fd = -1};

    for (;;) {
        size_t pending = outbox_pending(&client.outbox);
        struct pollfd ready[2] = {
            {.fd = client.wire->wake, .events = POLLIN},
            {.fd = client.fd < 0 ? client.wire->listener : client.fd},
        };
        ready[1].events = (short)((pending < INPUT_PENDING ? POLLIN : 0) | (pending ? POLLOUT : 0));
        if (poll(ready, 2, wait_ms(&client)) < 0 && errno != EINTR) {
            break;
        }
        if (ready[0].revents) {
            break;
        }
        serve(&client, ready);
    }
    forget(&client);
    outbox_exit(&client.outbox);
    sums_exit(&client.table.cells);
    sums_exit(&client.table.lines);
    return NULL;
}

bool wire_start(Wire *wire)
{
    sigset_t all, before;

    /* The new thread blocks all signals: they are for QEMU's threads. */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    wire->runs = !pthread_create(&wire->thread, NULL, collect, wire);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return wire->runs;
}

void wire_close(Wire *wire)
{
    uint64_t one = 1;

    if (wire->owner != getpid()) {
        return;
    }
    if (wire->runs) {
        if (write(wire->wake, &one, sizeof(one)) == sizeof(one)) {
            pthread_join(wire->thread, NULL);
        }
        wire->runs = false;
    }
    unlink(wire->name.sun_path);
    close(wire->listener);
    close(wire->wake);
    wire->owner = 0;
}
