# SPDX-License-Identifier: GPL-2.0-or-later
"""Limits of one request, socket, recording, guest or child process, with the usual values.

These limits keep one viewer, file or guest from spoiling another viewer's lesson. Timeouts, and
sizes that concern one package alone, are in that package's `limits.py`. *Usual* is the value in
normal use; *Beyond it* says what happens at the limit.
"""

from __future__ import annotations

from typing import Final, NamedTuple

# The event loop

LOOP_HOLD_S: Final = 0.05
"""The longest that one callback may hold the event loop. Usual: 1-5 ms. A watchdog counts
callbacks that take longer; /api/health shows the longest."""

LOCK_SWITCH_S: Final = 0.0005
"""Python's switch interval: a thread that waits for the interpreter lock gets it after this time.
The default of 5 ms delays a page by up to 150 ms while recordings are decoded."""
LOOP_HOLD_LOG_S: Final = 10.0
"""Code that holds the event loop too long is logged at most once in this time."""

SENDS_PER_TURN: Final = 4
COMMANDS_PER_TURN: Final = 1
"""Packets sent, and browser messages handled, in one iteration of the event loop, for all viewers
together. The rest are queued (stream/viewer.py)."""

RUN_PACKETS: Final = 30_000
"""Packets of a run that are stored for viewers who join late. Usual: 200 for a recording, 18,000
for a minute of three live lanes. Beyond it the oldest are dropped and sent as a gap. Every `open`
and every garbage collection visits each packet."""

# Segments of runs (see stream/segments.py)

SEGMENT_S: Final = 0.25
SEGMENT_RAW_BYTES: Final = 512 << 10
"""A segment is closed after this time or at this many bytes of messages, which compress to
6-130 KB. Usual: 2-70 KB."""
RUN_SEGMENT_BYTES: Final = 16 << 20
"""Compressed segments of one run. Usual: 6-270 KB for a recording, 2 MB for a minute of a live
run. Beyond it the oldest are evicted; viewers who join later get a gap."""
SEGMENT_STORE_BYTES: Final = 256 << 20
"""Segments of all runs together, closed runs included. Usual: under 10 MB. Beyond it the least
recently requested are evicted; a page that still needs one opens the run again."""
DIRECT_VIEWERS: Final = 32
"""Viewers of one live run that get its messages over a WebSocket. Usual: 1-5. Beyond it viewers
get segments, if there is an HTTP cache in front of the server."""
CACHE_PROBES: Final = 16
"""Viewers of one run that get segments before the server knows whether a cache serves them."""
PROBE_SEGMENTS: Final = 64
"""Segments requested before the server decides that: one second's worth for all probes."""

# Connections and sockets (see stream/http.py)

CONNECTIONS: Final = 2048
"""TCP connections in total; fewer if the limit of open files is small. Usual: 7 a page. Beyond it
a new connection evicts the one that has been idle longest; if none is idle, it gets 503."""
CONNECTIONS_PER_ADDRESS: Final = 512
"""A quarter of CONNECTIONS: pages behind one proxy share an address, but no address may use all
connections."""
SOCKETS: Final = 1200
"""WebSockets in total. Usual: one a page, 40 in a class, 300 in a lecture, 1,000 for one run with
segments (docs/SEGMENTS.md). Beyond it a new socket evicts the one idle longest. If none is idle,
the new socket is closed with code 1013 and a reason, and its page retries later."""
SOCKETS_PER_ADDRESS: Final = 350
FILES_RESERVED: Final = 256
"""File descriptors reserved for guests, recordings and kernels; connections may use the rest."""
RETRY_AFTER_S: Final = 15
"""Value of the Retry-After header for a refused client."""
HEADER_S: Final = 10.0
"""A connection that has not sent a complete request head within this time is closed."""
KEEP_ALIVE_S: Final = 5
"""A connection that is idle for this long after a response is closed."""
RESPONSE_STALL_S: Final = 30.0
"""A client that reads no byte of its response for this long is disconnected."""

# Rates of one socket

COMMANDS_PER_S: Final = 10.0
COMMANDS_BURST: Final = 30
"""Commands of one socket. Usual: under 2/s. Beyond it commands are refused."""
REFUSAL_EVERY_S: Final = 5.0
"""Shortest time between two notices to a page that its commands are refused."""
REFUSALS: Final = 300
"""After this many refused commands the socket is closed."""
PLACES_PER_S: Final = 30.0
PLACES_BURST: Final = 60
"""Positions (step, time, view) that the driver of a class sends. Usual: 10/s. Beyond it they
count as commands."""
OPENS_PER_S: Final = 4.0
OPENS_BURST: Final = 12
"""`open` commands, whose answer is a whole lesson and a recording. Usual: under 1/s."""
FRAME_BYTES: Final = 1 << 20
"""Size of one WebSocket frame. A larger frame closes the connection (1009); one above 64 KiB is
answered with an error."""
MESSAGES_PER_S: Final = 500.0
MESSAGES_BURST: Final = 1000
"""All messages from one socket, acknowledgements included. Usual: 60/s while a recording arrives.
Beyond it the server reads the socket more slowly."""

# Classes (duet.store, plugins/classroom)

CLASS_MEMBERS: Final = 400
"""Members of one class. Usual: 40, 300 in a lecture. Beyond it nobody can join."""
CLASSES_OPEN: Final = 20
"""Classes open at the same time. Beyond it none can be started."""
CLASS_QUESTIONS: Final = 200
"""Questions that the instructor asks in one class. Usual: 10. Beyond it no question can be asked
or answered."""
CLASS_RAISED: Final = 300
"""Questions that the members of one class ask. Usual: 20. Beyond it further ones are refused."""
CLASS_RAISED_EACH: Final = 20
"""Questions that one member asks. Usual: 1. Beyond it further ones are refused."""
CLASS_RAISE_EVERY_S: Final = 5.0
"""Shortest time between two questions of one member. An earlier one is refused; the member may
retry."""
CLASS_TRIES: Final = 300
"""Tried runs of one class. Usual: 40. Beyond it further ones are refused."""
CLASS_TRIES_WAITING: Final = 5
"""Queued runs of one member. Beyond it the member must wait until one starts."""
CLASS_WAITING: Final = 2000
"""Calls queued for the thread of the store. Beyond it an answer is refused, not acknowledged."""

# A busy host

CONTENDED_SHARE: Final = 0.5
"""Share of the CPU time that a run's vCPUs needed but did not get (waiting or stolen), over all
lanes of a run on the wall clock. Beyond it the page warns that shapes are distorted, and judges no
prediction. The vCPUs of a guest that has more of them than the host has CPUs compete with each
other, so the bound is higher (session.events.contention_bound). Usual, lesson 02 on two host CPUs:
one lane 0.09-0.12, two lanes 0.45, three lanes 0.66-0.71; two lanes and one CPU hog on the host
0.57-0.73."""
CONTENTION_SAMPLE_S: Final = 0.5
"""Interval at which the CPU times of a guest's threads are read; a reading takes 0.2 ms, in a
thread."""

# Tokens and sessions (duet.api.tokens, sessions, class_codes)

SESSION_S: Final = 30 * 86400
"""Length of a session, from the visit of a link until the link must be opened again: a course of
four weeks. Beyond it the page asks for a link."""

CLASS_SESSION_S: Final = 12 * 3600
"""Length of a session that began with the code of a class: one day of a workshop."""

PERSON_SESSION_S: Final = 86400
"""Length of a session, from a learning platform's launch until the activity must be opened there
again. Usual: a lesson of 2 hours. Beyond it the page asks for a link."""

SESSION_CHECK_S: Final = 1.0
"""Interval at which sockets are closed whose token was rotated or revoked, or whose session
expired."""

HUB_ANSWER_S: Final = 10.0
"""Timeout of a request to JupyterHub about a user. Usual: 10 ms."""

HUB_CHECK_S: Final = 30.0
"""JupyterHub's answer about a token is cached for this time, so a log-out takes effect this
late."""

HUB_GRACE_S: Final = 600.0
"""A cached answer stays valid this long while JupyterHub does not respond, so that a restart of
the hub ends no session."""

HUB_LOGIN_S: Final = 600.0
"""Time between the redirect to JupyterHub and the return with a code; users may type a password
meanwhile."""

HUB_TOKENS: Final = 4096
"""Tokens whose answers are cached. Usual: one for each browser of a course. Beyond it the oldest
are evicted."""


class CodePace(NamedTuple):
    """Rate limit for class codes: a burst of `free`, then one every `every_s` seconds."""

    free: int
    every_s: float


CODES_OF_BROWSER: Final = CodePace(5, 4.0)
"""Wrong codes of one browser. Usual: 0-2, from an old link or a misheard word."""

CODES_OF_ADDRESS: Final = CodePace(100, 0.5)
"""Wrong codes of one address. Usual: 0; a class behind one address may open an old link."""

CODES_OF_ALL: Final = CodePace(400, 0.1)
"""Wrong codes of all addresses. During a class of two hours that is 72,000 of 36 million codes."""

CODE_WAIT_S: Final = 30.0
"""The longest that a code is queued by the rate limit. Usual: 0. Beyond it the answer is 429 with
a page that retries automatically."""

# Confined processes (duet.sandbox): QEMU, the lens worker, Chromium, ffmpeg

QEMU_BEYOND_GUEST_BYTES: Final = 4 << 30
"""Address space of a QEMU in addition to the guest's memory: 1 GiB of translated code, stacks, the
microscope's tables. Usual: 1.5 GiB. Beyond it an allocation fails and QEMU exits."""

LANE_BEYOND_GUEST_BYTES: Final = 2 << 30
"""Memory of a lane's control group in addition to the guest's memory: QEMU's own, and the page
cache of its disks. Usual: 250 MB. Beyond it the kernel kills QEMU."""

LANE_CPU_WEIGHT: Final = 30
"""CPU weight of a lane's control group; other groups have 100. When CPU time is short, server and
browser come before guests."""

QEMU_FILES: Final = 512
"""Open file descriptors of a QEMU. Usual: 40; 300 with 64 vCPUs, each of which has a port."""

QEMU_FILE_BYTES: Final = 16 << 20
"""The longest file that a QEMU may write, or the size of its scratch disk if that is larger.
Usual: 70 KB, the notes of the guest's kernel, which QEMU writes to a memfd for the x-ray."""

QEMU_THREADS: Final = 256
"""Threads of the user that a QEMU runs as, including the lens worker's. Usual: 10, and up to 64
for disk I/O."""

CHROMIUM_FILES: Final = 4096
CHROMIUM_THREADS: Final = 1024
CHROMIUM_CPU_S: Final = 3600
CHROMIUM_FILE_BYTES: Final = 1 << 30
"""Limits of a Chromium that takes pictures: open file descriptors, threads of all its processes,
CPU time of each process, longest file. Usual: 200, 100, 10 s, 10 MB. Beyond them the picture fails
with an error."""

CHROMIUM_ANSWER_BYTES: Final = 256 << 20
"""Unread output of a Chromium. Usual: a picture, 1 MB."""

FFMPEG_MEMORY_BYTES: Final = 4 << 30
FFMPEG_CPU_S: Final = 1800
FFMPEG_FILE_BYTES: Final = 1 << 30
"""Address space, CPU time and output of ffmpeg. Usual: 1 GiB, 60 s, 5 MB. Beyond them the film
fails with an error."""

LENS_MEMORY_BYTES: Final = 3 << 29
"""Address space of a lens worker, which maps the DWARF. Beyond it a sample fails, or the worker
exits and its lane reports that."""

LENS_CPU_S: Final = 4 * 3600
"""CPU time of a lens worker, as long as its guest lives. Usual: 5-30 % of one core."""

LENS_FILES: Final = 64
"""Open file descriptors of a lens worker. Usual: 10."""

LENS_SAMPLE_BYTES: Final = 4 << 20
"""Size of one structure in one sample; a larger message would not fit the queue. Usual: 80 KB.
Beyond it the sample fails; five failures in a row are reported as a fault of the probe."""

# Expensive requests (api/stills.py). Beyond these limits they get 503 with Retry-After.

COSTLY_THREADS: Final = 4
"""Threads for expensive requests; the page is served by other threads."""
COSTLY_WAIT_S: Final = 30.0
"""The longest that an expensive request is queued."""
COSTLY: Final[dict[str, tuple[int, int, int]]] = {
    "compare": (1, 16, 8),
    "bundle": (1, 16, 8),
    "listing": (1, 64, 32),
    "events": (2, 64, 32),
    "still": (1, 32, 16),
    "source": (1, 64, 32),
}
"""For each kind of request: how many run at once, are queued, and are queued for one address.
Usual: 0 or 1 altogether."""
COMPARISONS_SAVED: Final = 64
"""Cached results of comparisons, by the content of both files, so that a whole class costs one
comparison."""

# Parsing of bytes from guests and files (duet.confine, session, bundle)

CHILD_MEMORY_BYTES: Final = 2 << 30
"""Address space of a child that parses one lane or file. Usual: 0.3 GiB, of which 10-100 MiB are
not shared. Beyond it the lane or file is refused with an error."""
RECORDING_CPU_S: Final = 120
"""CPU time of a child for one lane of a recording, or one file. Usual: 0.1-2 s."""
LIVE_CPU_S: Final = 3600
"""CPU time of a child for one live lane. Usual: 5-20 % of the run's length."""
REQUEST_CPU_S: Final = 20.0
"""CPU time of one request to a child. Usual: 5-100 ms; a whole recording unpacked: 0.1-2 s."""
REQUEST_WAIT_S: Final = 90.0
"""Timeout for the reply to a request, on a busy host. Usual: 5-100 ms."""
REPLY_BYTES: Final = 256 << 20
"""Size of one reply of a child. Usual: under 3 MiB (25,000 events); 50 MiB for the column parts of
an export."""
EVENTS_WAIT_S: Final = 5.0
"""The longest that a request for raw events waits for its lane's child. Usual: 10 ms. Beyond it
the request is refused."""
IDLE_CHILDREN: Final = 32
"""Children of finished lanes that stay alive to answer requests for raw events, over all runs.
Usual: 2-20. Beyond it the oldest is ended, and its raw events are lost."""
QUEUED_EVENTS: Final = 4_000_000
"""Events of a lane that are queued until a BEAT frame covers them, 64 bytes each. Usual: a few
thousand; on the count clock all events of a run, up to 2 million. Beyond it the lane ends."""
ROWS: Final = 16_384
"""Rows of a lane's picture. Usual: 2-30. Beyond it the lane ends."""
FRAMES: Final = 500_000
"""Frames on the control port in one run. Usual: 50 a second, and one for each line and file."""
GUEST_FILES: Final = 1024
GUEST_FILE_BYTES: Final = 16 << 20
"""FILE frames of one run: their number, and their total size. Usual: 30 files, 150 KiB."""
LINE_CHARACTERS: Final = 4096
"""Length of one output line of a workload. Usual: under 200. Beyond it the line is cut, and marked
as cut."""
LINES: Final = 100_000
LINE_BYTES: Final = 32 << 20
"""Output lines of a workload in one run: their number, and their total size. Usual: 1-500. Beyond
it the lane ends."""
LENS_RECORDS: Final = 100_000
LENS_BYTES: Final = 64 << 20
"""Records of the lenses in a recorded lane: their number, and their total size. Usual: 300, 2 MiB.
Beyond it the lens ends, not the lane."""
LENS_RECORD_BYTES: Final = 4 << 20
"""Size of one lens record. Usual: 100 bytes to 80 KB. Beyond it the record is dropped, and the lens
reports that."""
LENS_RECORDS_PENDING: Final = 4096
"""Records of the microscope that are queued until their lane's events arrive. Usual: under 100."""
PENDING_LENS_BYTES: Final = 16 << 20
"""Samples that are queued until the workload's start time is known. Usual: under 1 MiB. Beyond it
the oldest are dropped and counted."""
VMLINUX_BYTES: Final = 2 << 30
"""The largest vmlinux that is read; its child may map it in addition to CHILD_MEMORY_BYTES. Usual:
140 MB, and 0.4-1 GB from a distribution. Beyond it requests for the kernel's structures and symbols
are refused."""
VMLINUX_READERS: Final = 4
"""Children that have a vmlinux open. Usual: 0-3, 130 MB each, mostly the mapped file. Beyond it the
least recently used child is ended; the next request starts a new one."""
VMLINUX_IDLE_S: Final = 5.0
"""A child with a vmlinux that gets no request for this long is ended."""
LANE_YIELD_S: Final = 0.01
"""After this time a lane yields the event loop. Usual: a chunk takes less."""

# Live runs

LIVE_RUNS_MOST: Final = 8
"""Live runs at once on a host of any size. Usual: 1 or 2 (host/guests.py)."""
POOLED_RUNS: Final = 4
"""Live runs at once on a pool if $DUET_LIVE_RUNS is not set; each run has a lease."""
LEASE_WITHIN_S: Final = 10.0
"""If a waiting viewer gets no lease within this time, the page offers the recording meanwhile."""
LEASE_TTL_S: Final = 4 * 3600.0
"""Longest time of a lease for live runs, which serves many runs in turn. Idle leases are released
sooner."""
SAVE_RUN_S: Final = 120.0
"""Timeout for writing a run's file before its host is released. Usual: 1 s."""
END_RUN_S: Final = 180.0
"""Timeout from the request to end a run until its end. Usual: 1 s; the limits of a guest are
shorter."""
RUN_CPUS: Final = 2
"""Host CPUs that the scheduler counts for one live run: two lanes, each with at least one busy
vCPU."""
RUN_BYTES: Final = 3 << 30
"""Memory that the scheduler counts for one live run: four guests of 512 MiB, their emulators, and
the server's transcripts. Usual: 1.3 GB for two lanes."""
LANE_BYTES: Final = 3 << 29
"""Memory of a lane that has a separate host. Usual: 0.7 GB, including its host process."""
SLOT_GUESTS: Final = 4
"""Guests that stay booted for one slot of live runs; a run of five arms has five. Usual: 2. Beyond
it guests that the next run does not use are ended, the oldest first."""
TEMPLATE_BYTES_MOST: Final = 2 << 30
TEMPLATE_SHARE: Final = 1 / 8
"""Memory for templates: this share of the host's memory, at most TEMPLATE_BYTES_MOST. Usual:
110-125 MiB each. Beyond it the least recently used template is evicted, and its lanes boot."""
WAITING_RUNS: Final = 64
"""Queued requests for live runs, at most one a visitor. Usual: 0-3. Beyond it a request is refused
with the length of the queue."""
FINISHED_RUNS: Final = 2
"""Finished live runs that stay decoded in memory, for late viewers and raw events. Usual: 60 MB
each. Beyond it the oldest is evicted once its file is written; its link then opens the file."""
FORMER_REQUESTS: Final = 256
"""Visitors whose last request is stored for `again`. Beyond it the oldest is evicted."""
CONTROL_IDLE_S: Final = 300.0
"""After this time without a command, control of a run is released and held guests resume."""

# A kernel under stress (duet.trials.check)

STRESS_CONSOLE_BYTES: Final = 8 << 20
"""Console output of a guest under stress. Usual: 20-300 KB. Beyond it the guest is ended and counts
as failed."""
STRESS_LINE_BYTES: Final = 1024
"""Length of one line of that console. Usual: under 200; the kernel writes at most 1024
(CONSOLE_LOG_MAX of kernel/printk/printk.c, 6.1). Beyond it the line is cut."""

# Changes of visitors

UNPACKED_KERNEL_BYTES: Final = 256 << 20
"""Size of an unpacked bzImage, for the comparison with its vmlinux. Usual: 20-40 MB, with KASAN
90."""
KERNEL_OFFSETS: Final = 8
"""Offsets in a bzImage that are tried as the start of the compressed kernel. Usual: 1-2. If none
of these is the start, the image is refused."""
CHANGES_WAITING: Final = 16
"""Patch changes queued for compilation, at most one a visitor. Usual: 0-2."""
OWN_ARMS: Final = 6
"""Own arms of a visitor on the page of a lesson. Usual: 1-2. Beyond it the oldest is removed."""
OWN_VISITORS: Final = 256
"""Visitors whose own arms are listed. Beyond it the oldest visitor is evicted; the changes stay
stored."""
