# SPDX-License-Identifier: GPL-2.0-or-later
"""What one request, socket, recording, guest or child process may use, with its usual value.

One place for every bound that keeps one viewer, file or guest from spoiling another's lesson.
Waits, and sizes that concern one package alone, stand in its `limits.py`. Each entry says what
happens beyond it.
"""

from __future__ import annotations

from typing import Final, NamedTuple

# The event loop

LOOP_HOLD_S: Final = 0.05
"""The longest the event loop may work on one thing. Usual: 1-5 ms. A watchdog counts what
exceeds it; /api/health shows the longest."""

LOCK_SWITCH_S: Final = 0.0005
"""A thread that wants the interpreter gets it after this. Python's usual 5 ms add up to 150 ms for
a page while recordings are decoded."""
LOOP_HOLD_LOG_S: Final = 10.0
"""A place that holds the event loop is logged at most once in this time."""

SENDS_A_TURN: Final = 4
COMMANDS_A_TURN: Final = 1
"""Packets that are sent, and messages of browsers that are handled, in one turn of the event
loop, whoever they are of: the rest stand in line (stream/viewer.py)."""

RUN_PACKETS: Final = 30_000
"""Packets of a run that are sent to those who come late; beyond it the oldest go, as a gap. Usual:
200 of a recording, 18,000 of a minute of three live lanes. Each is looked at by every `open` and
by every garbage collection."""

# Segments of runs (see stream/segments.py)

SEGMENT_S: Final = 0.25
SEGMENT_RAW_BYTES: Final = 512 << 10
"""A segment is closed after this time, or with so many bytes of messages, which pack to 6-130 KB.
Usual: 2-70 KB."""
RUN_SEGMENT_BYTES: Final = 16 << 20
"""Packed segments of one run; beyond it the oldest go, as gaps for who comes then. Usual: 6-270 KB
of a recording, a minute of a live run 2 MB."""
SEGMENT_STORE_BYTES: Final = 256 << 20
"""Of all runs, those that were closed included; beyond it the ones asked for longest ago go, and a
page that still wants one asks for the run anew. Usual: under 10 MB."""
DIRECT_VIEWERS: Final = 32
"""Viewers of one live run that are sent its messages as they come; those beyond get segments, if a
cache stands before the server. Usual: 1-5."""
CACHE_PROBES: Final = 16
"""Viewers of one run that get segments before it is known whether a cache answers for them."""
REACH_ENOUGH: Final = 64
"""Segments that viewers were led to until that is known: one second of all probes."""

# Connections and sockets (see stream/http.py)

CONNECTIONS: Final = 2048
"""TCP connections in total, less where the limit of open files is small. Usual: 7 a page. Beyond
it the longest silent one is closed for the newcomer; without a silent one the newcomer gets 503."""
CONNECTIONS_PER_ADDRESS: Final = 512
"""A quarter of all: pages behind one proxy share an address, yet no address may take everything."""
SOCKETS: Final = 1200
"""WebSockets in total. Usual: one a page, 40 in a class, 300 in a lecture, 1,000 of one run by
segments (docs/SEGMENTS.md). Beyond it as with
connections; the newcomer is closed with code 1013 and a reason, and its page tries again after a
while."""
SOCKETS_PER_ADDRESS: Final = 350
FILES_RESERVED: Final = 256
"""File descriptors left for guests, recordings and kernels: at most the rest are connections."""
RETRY_AFTER_S: Final = 15
"""When a client that was turned away may come back."""
HEADER_S: Final = 10.0
"""A connection that has not sent a whole request head by then is closed."""
KEEP_ALIVE_S: Final = 5
"""An idle connection after a response is closed."""
RESPONSE_STALL_S: Final = 30.0
"""A client that takes no byte of its response for so long is cut off."""

# What one socket may ask

COMMANDS_PER_S: Final = 10.0
COMMANDS_BURST: Final = 30
"""Commands of one socket. Usual: under 2/s. Beyond it they are refused."""
REFUSAL_EVERY_S: Final = 5.0
"""Least time between two notices to a page that its commands are refused."""
REFUSALS: Final = 300
"""Refused commands until the socket is closed."""
PLACES_PER_S: Final = 30.0
PLACES_BURST: Final = 60
"""Places that the driver of a class sends. Usual: 10/s. Beyond it they count as commands."""
OPENS_PER_S: Final = 4.0
OPENS_BURST: Final = 12
"""Of these, `open`, which is answered with a whole lesson and a recording. Usual: under 1/s."""
FRAME_BYTES: Final = 1 << 20
"""Of one frame. A larger one ends the connection (1009); above 64 KiB a sentence is sent."""
MESSAGES_PER_S: Final = 500.0
MESSAGES_BURST: Final = 1000
"""All messages of one socket, acknowledgements included. Usual: 60/s while a recording arrives.
Beyond it the socket is read more slowly."""

# Classes (duet.store, plugins/classroom)

CLASS_MEMBERS: Final = 400
"""Usual: 40, 300 in a lecture. Beyond it nobody joins."""
CLASSES_OPEN: Final = 20
"""Classes that go on at once. Beyond it none is started."""
CLASS_QUESTIONS: Final = 200
"""Questions asked in one class. Usual: 10. Beyond it none is asked or answered."""
CLASS_RAISED: Final = 300
"""Questions that the members of one class ask. Usual: 20. Beyond it none is taken."""
CLASS_RAISED_EACH: Final = 20
"""Of these, by one member. Usual: 1. Beyond it the member is refused."""
CLASS_RAISE_EVERY_S: Final = 5.0
"""Between two questions of one member. Beyond it the member is refused, and tries again."""
CLASS_TRIES: Final = 300
"""Runs that one class tries. Usual: 40. Beyond it none is taken."""
CLASS_TRIES_WAITING: Final = 5
"""Runs of one member that wait. Beyond it the member waits until one begins."""
CLASS_WAITING: Final = 2000
"""Calls that wait for the thread of the store. Beyond it an answer is refused, not acknowledged."""

# A busy host

CONTENDED_SHARE: Final = 0.5
"""Part of the CPU time that a run's vCPUs wanted and did not get (they waited, or it was stolen),
over all lanes of the run on the wall clock. Beyond it the page says that shapes are distorted and
judges no prediction. A guest with more vCPUs than the host has CPUs waits for itself as well, so
there the bound is higher (session.events.contention_bound). Usual, lesson 02 on two host CPUs:
one lane 0.09-0.12, two lanes 0.45, three lanes 0.66-0.71; beside one CPU hog two lanes
0.57-0.73."""
CONTENTION_SAMPLE_S: Final = 0.5
"""Between two readings of one guest's threads; a reading takes 0.2 ms, in a thread."""

# Tokens and sessions (duet.api.tokens, sessions, class_codes)

SESSION_S: Final = 30 * 86400
"""From the visit of a link until it must be opened again: a course of four weeks. Usual: the
same. Beyond it the page says that a link is needed."""

CLASS_SESSION_S: Final = 12 * 3600
"""Of a browser that came by the code of a class, which ends earlier: a day of a workshop."""

PERSON_SESSION_S: Final = 86400
"""From a learning platform's launch until the activity must be opened there again. Usual: a
lesson of 2 hours. Beyond it the page says that a link is needed."""

SESSION_CHECK_S: Final = 1.0
"""Sockets whose token was rotated or revoked, or whose session expired, are closed this late."""

HUB_ANSWER_S: Final = 10.0
"""JupyterHub has this to answer a request about a user. Usual: 10 ms."""

HUB_CHECK_S: Final = 30.0
"""What the hub said about a token counts for this time; so late is a log-out there noticed."""

HUB_GRACE_S: Final = 600.0
"""And for this time while the hub does not answer: a hub that restarts sends nobody out."""

HUB_LOGIN_S: Final = 600.0
"""From going to the hub until coming back with a code; a person may type a password there."""

HUB_TOKENS: Final = 4096
"""Whose answers are stored. Usual: one for each browser of a course. The oldest go first."""


class CodePace(NamedTuple):
    """How many codes of classes are looked at: so many at once, then one in each `every_s`."""

    free: int
    every_s: float


CODES_OF_BROWSER: Final = CodePace(5, 4.0)
"""Wrong codes of one browser. Usual: 0-2, from an old link or a word that was misheard."""

CODES_OF_ADDRESS: Final = CodePace(100, 0.5)
"""Wrong codes of one address. Usual: 0; a class behind one address may open an old link."""

CODES_OF_ALL: Final = CodePace(400, 0.1)
"""Wrong codes of all addresses. In a class of two hours 72,000 of 36 million codes."""

CODE_WAIT_S: Final = 30.0
"""A code waits so long for its turn. Usual: 0. Beyond it the answer is 429, and a page that tries
again by itself."""

# Confined processes (duet.sandbox): QEMU, the lens worker, Chromium, ffmpeg

QEMU_BEYOND_GUEST_BYTES: Final = 4 << 30
"""Address space of a QEMU beyond the guest's memory: 1 GiB of translated code, stacks, the
microscope's tables. Beyond it QEMU's allocation fails and it ends. Usual: 1.5 GiB."""

LANE_BEYOND_GUEST_BYTES: Final = 2 << 30
"""Memory of a lane beyond its guest's, in its control group: QEMU's own, and pages of its disks.
Beyond it the kernel ends the QEMU. Usual: 250 MB."""

LANE_CPU_WEIGHT: Final = 30
"""Of a lane's processes together, of 100 for any other group or program, where CPU time is
short: guests run below server and browser."""

QEMU_FILES: Final = 512
"""Open descriptors of a QEMU. Usual: 40; with 64 vCPUs, and a port for each, 300."""

QEMU_FILE_BYTES: Final = 16 << 20
"""The longest file that a QEMU writes; a larger scratch disk counts instead. Usual: 70 KB, the
notes of the guest's kernel, into a file in memory that the x-ray hands it."""

QEMU_THREADS: Final = 256
"""Threads of a QEMU's user, its lens worker's included. Usual: 10 and those of disk I/O (64)."""

CHROMIUM_FILES: Final = 4096
CHROMIUM_THREADS: Final = 1024
CHROMIUM_CPU_S: Final = 3600
CHROMIUM_FILE_BYTES: Final = 1 << 30
"""Open descriptors, threads of all its processes, CPU time of each and longest file of a Chromium
that takes pictures. Usual: 200, 100, 10 s, 10 MB. Beyond it the picture fails with a sentence."""

CHROMIUM_ANSWER_BYTES: Final = 256 << 20
"""What a Chromium may say that nobody has taken yet. Usual: a picture, 1 MB."""

FFMPEG_MEMORY_BYTES: Final = 4 << 30
FFMPEG_CPU_S: Final = 1800
FFMPEG_FILE_BYTES: Final = 1 << 30
"""Address space, CPU time and output of ffmpeg. Usual: 1 GiB, 60 s, 5 MB. Beyond it the film fails
with a sentence."""

LENS_MEMORY_BYTES: Final = 3 << 29
"""Address space of a lens worker, in which the DWARF is mapped. Beyond it a sample fails, or
the worker ends and its lane says so."""

LENS_CPU_S: Final = 4 * 3600
"""CPU time of a lens worker, as long as its guest lives. Usual: 5-30 % of one core."""

LENS_FILES: Final = 64
"""Open descriptors of a lens worker. Usual: 10."""

LENS_SAMPLE_BYTES: Final = 4 << 20
"""Of one structure in one sample; its message would not fit the queue. Beyond it the sample
fails, and after five in a row the probe's fault is reported. Usual: 80 KB."""

# Requests that cost much (see api/stills.py); beyond these they get 503 with Retry-After

COSTLY_THREADS: Final = 4
"""Threads that do them; those that serve the page are others."""
COSTLY_WAIT_S: Final = 30.0
"""For one's turn."""
COSTLY: Final[dict[str, tuple[int, int, int]]] = {
    "compare": (1, 16, 8),
    "bundle": (1, 16, 8),
    "listing": (1, 64, 32),
    "events": (2, 64, 32),
    "still": (1, 32, 16),
    "source": (1, 64, 32),
}
"""Of each kind: at once, in line, and in line from one address. Usual: 0 or 1 in all."""
COMPARISONS_SAVED: Final = 64
"""Results of comparing, by the content of both files, so that a class costs as much as one."""

# Parsing of what guests and files contain (duet.confined, session, bundle)

CHILD_MEMORY_BYTES: Final = 2 << 30
"""Address space of a child that parses one lane or file. Usual: 0.3 GiB, of which 10-100 MiB are
its own. Beyond it the lane or file is refused in one sentence."""
RECORDING_CPU_S: Final = 120
"""CPU time of a child for one lane of a recording, or one file. Usual: 0.1-2 s."""
LIVE_CPU_S: Final = 3600
"""Of a live lane, which lasts as long as its run. Usual: 5-20 % of the run."""
REQUEST_CPU_S: Final = 20.0
"""CPU time of one request to a child. Usual: 5-100 ms; a whole recording unpacked: 0.1-2 s."""
REQUEST_WAIT_S: Final = 90.0
"""From a request to its reply, on a host that is busy with other things. Usual: 5-100 ms."""
REPLY_BYTES: Final = 256 << 20
"""Of one reply. Usual: under 3 MiB (25,000 events); an export's column parts: 50 MiB."""
EVENTS_WAIT_S: Final = 5.0
"""So long a look at raw events waits for its lane's child; then it is refused. Usual: 10 ms."""
IDLE_CHILDREN: Final = 32
"""Children of lanes that are over, which stay for a look at raw events, of all runs. Usual: 2-20.
Beyond it the oldest ends, and its raw events are gone."""
HELD_EVENTS: Final = 4_000_000
"""Events of a lane that wait for a BEAT that covers them, 64 bytes each. Usual: a few thousand; on
the count clock all of a run, up to 2 million. Beyond it the lane ends."""
ROWS: Final = 16_384
"""Rows of a lane's picture. Usual: 2-30. Beyond it the lane ends."""
FRAMES: Final = 500_000
"""Frames of the control port in one run. Usual: 50 a second, and one per line and file."""
GUEST_FILES: Final = 1024
GUEST_FILE_BYTES: Final = 16 << 20
"""FILE frames of one run: how many, and bytes of all. Usual: 30 files, 150 KiB."""
LINE_CHARACTERS: Final = 4096
"""Of one line of a workload; the rest is left out, and the line says so. Usual: under 200."""
LINES: Final = 100_000
LINE_BYTES: Final = 32 << 20
"""Lines of a workload in one run: how many, and bytes of all. Usual: 1-500. Beyond it the lane
ends."""
LENS_RECORDS: Final = 100_000
LENS_BYTES: Final = 64 << 20
"""Records of the lenses in a recorded lane: how many, and bytes of all. Usual: 300, 2 MiB. Beyond
it the lens ends, not the lane."""
LENS_RECORD_BYTES: Final = 4 << 20
"""Of one of them; a longer one is left out, and the lens says so. Usual: 100 bytes to 80 KB."""
LENS_RECORDS_PENDING: Final = 4096
"""Records of the microscope that wait for their lane's events. Usual: under 100."""
PENDING_LENS_BYTES: Final = 16 << 20
"""Samples that wait until it is known when the workload started. Usual: under 1 MiB. Beyond it the
oldest are dropped, and counted."""
VMLINUX_BYTES: Final = 2 << 30
"""The longest vmlinux that is read; its child may map it beyond CHILD_MEMORY_BYTES. Usual: 140 MB,
and 0.4-1 GB of a distribution. Beyond it the kernel's structures and symbols are refused."""
VMLINUX_READERS: Final = 4
"""Children that have a vmlinux open. Usual: 0-3, 130 MB each, most of it the file's. Beyond it the
one that was asked longest ago ends, and the next question starts another."""
VMLINUX_IDLE_S: Final = 5.0
"""One that nobody has asked for so long ends."""
BREATH_S: Final = 0.01
"""After so long a lane lets others use the event loop. Usual: it needs less for a chunk."""

# Live runs

LIVE_RUNS_MOST: Final = 8
"""Live runs at once on any host, whatever its size. Usual: 1 or 2, see host/guests.py."""
POOLED_RUNS: Final = 4
"""Live runs at once on a pool, where $DUET_LIVE_RUNS names no number: each has a lease."""
LEASE_WITHIN_S: Final = 10.0
"""A viewer who waits gets a lease in this time, or is offered the recording meanwhile."""
LEASE_TTL_S: Final = 4 * 3600.0
"""Of a lease for live runs, which are many, one after another. Idle ones are given back sooner."""
SAVED_S: Final = 120.0
"""A run's file is written in this time, where its guests' host is given back. Usual: 1 s."""
ENDS_S: Final = 180.0
"""From the request that a run ends until it has. Usual: 1 s; a guest's own limits are shorter."""
RUN_CPUS: Final = 2
"""Host CPUs that one live run is counted with: two lanes, each with a busy vCPU at least."""
RUN_BYTES: Final = 3 << 30
"""Memory that one live run is counted with: four guests of 512 MiB, their emulators, and the
server's transcripts. Usual: 1.3 GB for two lanes."""
LANE_BYTES: Final = 3 << 29
"""Memory of a lane that has a host of its own. Usual: 0.7 GB, its host process included."""
SLOT_GUESTS: Final = 4
"""Guests that stay up for one slot of live runs; a run of five arms has five. Usual: 2. Those that
the next run does not use are ended, the oldest first."""
TEMPLATE_BYTES_MOST: Final = 2 << 30
TEMPLATE_SHARE: Final = 1 / 8
"""Memory for parked guests: this share of the host's, and no more than that. Usual: 110-125 MiB
each. Beyond it the one that was used longest ago is given up, and its lanes boot."""
WAITING_RUNS: Final = 64
"""Requests for live runs that wait, one for each visitor at most. Usual: 0-3. One more is refused
with the number that wait."""
FINISHED_RUNS: Final = 2
"""Finished live runs that stay decoded in memory, for late viewers and raw events. Usual: 60 MB
each. Beyond it the oldest goes, once its file is written; its link then opens the file."""
FORMER_REQUESTS: Final = 256
"""Visitors whose last request is remembered for `again`; the oldest is forgotten."""
CONTROL_IDLE_S: Final = 300.0
"""Control of a run without a command for so long is free, and held guests go on."""

# A kernel under stress (duet.trials.check)

STRESS_CONSOLE_BYTES: Final = 8 << 20
"""What a guest under stress writes to its console. Usual: 20-300 KB. Beyond it the guest is ended,
and has failed."""
STRESS_LINE_BYTES: Final = 1024
"""Of one line of that console; the rest is left out. Usual: under 200; a kernel's has at most
1024 (CONSOLE_LOG_MAX of kernel/printk/printk.c, 6.1)."""

# Changes of visitors

UNPACKED_KERNEL_BYTES: Final = 256 << 20
"""Of what a bzImage unpacks to, to be held against its vmlinux. Usual: 20-40 MB, with KASAN 90."""
KERNEL_PLACES: Final = 8
"""Places of a bzImage that look like a compressed kernel. Usual: 1-2. Further ones are not tried,
so the image is refused if none of these was it."""
CHANGES_WAITING: Final = 16
"""Changes of patches that wait to be compiled, one for each visitor at most. Usual: 0-2."""
OWN_ARMS: Final = 6
"""Arms of a visitor's own that his page of a lesson has; the oldest goes from it. Usual: 1-2."""
OWN_VISITORS: Final = 256
"""Visitors whose own arms are remembered; the oldest is forgotten. Changes stay stored."""
