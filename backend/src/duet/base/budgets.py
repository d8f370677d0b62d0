# SPDX-License-Identifier: GPL-2.0-or-later
"""Limits per request, socket, recording, guest or child process, with usual values.

These limits keep one viewer, file or guest from spoiling another viewer's lesson. Timeouts, and
sizes that only one package uses, are in that package's `limits.py`. In the texts, *Usual* is the
value in normal use. *Above the limit* says what happens when the limit is exceeded.
"""

from __future__ import annotations

from typing import Final, NamedTuple

# The event loop

LOOP_HOLD_S: Final = 0.05
"""Longest time that one callback may hold the event loop. Usual: 1-5 ms. A watchdog counts
callbacks that take longer; /api/health shows the longest time measured."""

LOCK_SWITCH_S: Final = 0.0005
"""Python's switch interval: a thread that waits for the interpreter lock gets it after this time.
Python's default of 5 ms would delay a page by up to 150 ms while recordings are decoded."""
LOOP_HOLD_LOG_S: Final = 10.0
"""Shortest time between two log lines about code that held the event loop too long."""

SENDS_PER_TURN: Final = 4
COMMANDS_PER_TURN: Final = 1
"""Number of packets sent, and of browser messages handled, in one iteration of the event loop, for
all viewers together. The others stay queued (stream/viewer.py)."""

RUN_PACKETS: Final = 30_000
"""Largest number of a run's packets that are stored for viewers who join late. Usual: 200 for a
recording, 18,000 for a minute of three live lanes. Above the limit, the oldest packets are dropped
and sent as a gap. The number is limited because every `open` and every garbage collection visits
each packet."""

# Size and number of the segments that a run is divided into (stream/segments.py)

SEGMENT_S: Final = 0.25
SEGMENT_RAW_BYTES: Final = 512 << 10
"""A segment is closed after SEGMENT_S seconds, or when its messages reach SEGMENT_RAW_BYTES. Such a
full segment compresses to 6-130 KB. Usual size of a compressed segment: 2-70 KB."""
RUN_SEGMENT_BYTES: Final = 16 << 20
"""Largest total size of one run's compressed segments. Usual: 6-270 KB for a recording, 2 MB for a
minute of a live run. Above the limit, the oldest segments are evicted, and viewers who join later
see a gap."""
SEGMENT_STORE_BYTES: Final = 256 << 20
"""Largest total size of the segments of all runs, including closed runs. Usual: under 10 MB. Above
the limit, the least recently requested segments are evicted. A page that still needs an evicted
segment opens the run again."""
DIRECT_VIEWERS: Final = 32
"""Largest number of viewers of one live run that receive its messages over a WebSocket. Usual: 1-5.
Further viewers get segments if there is an HTTP cache in front of the server."""
CACHE_PROBES: Final = 16
"""Largest number of viewers of one run that receive segments while the server does not yet know
whether an HTTP cache serves them."""
PROBE_SEGMENTS: Final = 64
"""Number of segment requests after which the server decides whether an HTTP cache answers such
requests. The CACHE_PROBES viewers together make this many requests in one second."""

# Limits on connections and sockets (stream/http.py)

CONNECTIONS: Final = 2048
"""Largest total number of TCP connections; fewer if the limit on open files is low. Usual: 7 per
page. Above the limit, a new connection evicts the connection that has been idle longest. If none is
idle, the new connection gets status 503."""
CONNECTIONS_PER_ADDRESS: Final = 512
"""Largest number of TCP connections from one address: a quarter of CONNECTIONS. Pages behind one
proxy share an address, but no address may use all connections."""
SOCKETS: Final = 1200
"""Largest total number of WebSockets. Usual: one per page, 40 in a class, 300 in a lecture, 1,000
for one run with segments (docs/SEGMENTS.md). Above the limit, a new socket evicts the socket that
has been idle longest. If none is idle, the new socket is closed with code 1013 and a reason, and
its page retries later."""
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

# Rate limits of one socket

COMMANDS_PER_S: Final = 10.0
COMMANDS_BURST: Final = 30
"""Highest rate and largest burst of commands from one socket. Usual: under 2/s. Above the limit,
commands are refused.
"""
REFUSAL_EVERY_S: Final = 5.0
"""Shortest time between two messages that tell a page that its commands are refused."""
REFUSALS: Final = 300
"""After this many refused commands the socket is closed."""
PLACES_PER_S: Final = 30.0
PLACES_BURST: Final = 60
"""Highest rate and largest burst of positions (step, time, view) that a class's driver sends.
Usual: 10/s. Above the limit, further positions count as commands."""
OPENS_PER_S: Final = 4.0
OPENS_BURST: Final = 12
"""Highest rate and largest burst of `open` commands. The response to each command contains a whole
lesson and a recording. Usual: under 1/s."""
FRAME_BYTES: Final = 1 << 20
"""Largest WebSocket frame. A larger frame closes the connection (1009). A frame above 64 KiB, but
below this limit, is answered with an error."""
MESSAGES_PER_S: Final = 500.0
MESSAGES_BURST: Final = 1000
"""Highest rate and largest burst of all messages from one socket, including acknowledgements.
Usual: 60/s while a recording arrives. Above the limit, the server reads the socket more slowly."""

# Limits of classes (duet.store, plugins/classroom)

CLASS_MEMBERS: Final = 400
"""Largest number of members of one class. Usual: 40, 300 in a lecture. Above the limit, nobody can
join.
"""
CLASSES_OPEN: Final = 20
"""Largest number of classes that are open at the same time. Above the limit, none can be
started.
"""
CLASS_QUESTIONS: Final = 200
"""Largest number of questions that the instructor may ask in one class. Usual: 10. Above the limit,
no question can be asked or answered."""
CLASS_RAISED: Final = 300
"""Largest number of questions that the members of one class may ask in total. Usual: 20. Above the
limit, further questions are refused."""
CLASS_RAISED_EACH: Final = 20
"""Largest number of questions that one member may ask. Usual: 1. Above the limit, further questions
are refused.
"""
CLASS_RAISE_EVERY_S: Final = 5.0
"""Shortest time between two questions of one member. A question that comes sooner is refused; the
member may retry."""
CLASS_TRIES: Final = 300
"""Largest number of runs that the members of one class may try. Usual: 40. Above the limit, further
runs are refused.
"""
CLASS_TRIES_WAITING: Final = 5
"""Largest number of one member's queued runs. Above the limit, the member must wait until a queued
run starts.
"""
CLASS_WAITING: Final = 2000
"""Largest number of calls queued for the store's thread. Above the limit, a class member's answer
is refused instead of acknowledged."""

# Limits that matter on a busy host

CONTENDED_SHARE: Final = 0.5
"""Contention: the share of the CPU time that a run's vCPUs needed but did not get, because the
vCPUs had to wait or the time was stolen. It is computed over all lanes of a run on the wall clock.
Above the limit, the page warns that shapes are distorted, and judges no prediction. If a guest has
more vCPUs than the host has CPUs, its vCPUs compete with each other, so the bound is higher
(session.events.contention_bound). Usual, lesson 02 on two host CPUs: one lane 0.09-0.12, two lanes
0.45, three lanes 0.66-0.71; two lanes and one CPU hog on the host 0.57-0.73."""
CONTENTION_SAMPLE_S: Final = 0.5
"""Interval at which the CPU times of a guest's threads are read. Each reading takes 0.2 ms, in a
separate thread."""

# Limits of tokens, sessions and class codes (duet.api)

SESSION_S: Final = 30 * 86400
"""Duration of a session that began with a link: four weeks, as long as a course. When the session
ends, the page asks for a link, and the user must open the link again."""

CLASS_SESSION_S: Final = 12 * 3600
"""Duration of a session that began with a class code: one day of a workshop."""

PERSON_SESSION_S: Final = 86400
"""Duration of a session that a learning platform launched. Usual: a 2-hour lesson. When the session
ends, the page asks for a link, and the user must open the activity on the platform again."""

SESSION_CHECK_S: Final = 1.0
"""Interval between two checks. Each check closes the sockets whose token was rotated or revoked, or
whose session expired."""

HUB_ANSWER_S: Final = 10.0
"""Timeout of a request to JupyterHub about a user. Usual: 10 ms."""

HUB_CHECK_S: Final = 30.0
"""Time for which JupyterHub's response about a token is cached. A log-out takes effect up to this
much later."""

HUB_GRACE_S: Final = 600.0
"""Time for which a cached response stays valid while JupyterHub does not respond. A restart of the
hub therefore ends no session."""

HUB_LOGIN_S: Final = 600.0
"""Timeout from the redirect to JupyterHub until the browser returns with a code. Users may have to
type a password meanwhile."""

HUB_TOKENS: Final = 4096
"""Largest number of tokens for which responses are cached. Usual: one per browser of a course.
Above the limit, the oldest responses are evicted."""


class CodePace(NamedTuple):
    """Rate limit for class codes: a burst of `free` codes, then one code per `every_s` seconds."""

    free: int
    every_s: float


CODES_OF_BROWSER: Final = CodePace(5, 4.0)
"""Rate limit for wrong codes from one browser. Usual: 0-2, from an old link or a misheard word."""

CODES_OF_ADDRESS: Final = CodePace(100, 0.5)
"""Rate limit for wrong codes from one address. Usual: 0, but a whole class behind one address may
open an old link."""

CODES_OF_ALL: Final = CodePace(400, 0.1)
"""Rate limit for wrong codes from all addresses. With this limit, an attacker can try 72,000 of the
36 million codes during a two-hour class."""

CODE_WAIT_S: Final = 30.0
"""Longest time that the rate limit queues a code. Usual: 0. Above the limit, the response has
status 429 and contains a page that retries automatically."""

# Limits of confined processes (duet.confine): QEMU, lens workers, Chromium, ffmpeg

QEMU_BEYOND_GUEST_BYTES: Final = 4 << 30
"""Address space of a QEMU process in addition to the guest's memory: 1 GiB of translated code, the
stacks and the microscope's tables. Usual: 1.5 GiB. Above the limit, an allocation fails and QEMU
exits."""

LANE_BEYOND_GUEST_BYTES: Final = 2 << 30
"""Memory of a lane's control group in addition to the guest's memory: QEMU's own memory and the
page cache of its disks. Usual: 250 MB. Above the limit, the kernel kills QEMU."""

LANE_CPU_WEIGHT: Final = 30
"""CPU weight of a lane's control group. Other groups have weight 100. When CPU time is short, the
server and the browser have priority over guests."""

QEMU_FILES: Final = 512
"""Largest number of open file descriptors of a QEMU process. Usual: 40, or 300 with 64 vCPUs,
because each vCPU has a port."""

QEMU_FILE_BYTES: Final = 16 << 20
"""Largest file that a QEMU process may write; if its scratch disk is larger, that disk's size is
the limit. Usual: 70 KB for the guest kernel's ELF notes, which QEMU writes to a memfd for the
x-ray."""

QEMU_THREADS: Final = 256
"""Largest number of threads of the user that a QEMU process runs as, including the lens worker's
threads. Usual: 10, and up to 64 more for disk I/O."""

CHROMIUM_FILES: Final = 4096
CHROMIUM_THREADS: Final = 1024
CHROMIUM_CPU_S: Final = 3600
CHROMIUM_FILE_BYTES: Final = 1 << 30
"""Limits of a Chromium that takes pictures: its open file descriptors, the threads of all its
processes, the CPU time of each process, and its largest file. Usual: 200, 100, 10 s, 10 MB. Above
these limits, the picture fails with an error."""

CHROMIUM_ANSWER_BYTES: Final = 256 << 20
"""Largest size of a Chromium's unread output. Usual: 1 MB, one picture."""

FFMPEG_MEMORY_BYTES: Final = 4 << 30
FFMPEG_CPU_S: Final = 1800
FFMPEG_FILE_BYTES: Final = 1 << 30
"""Address space, CPU time and output of ffmpeg. Usual: 1 GiB, 60 s, 5 MB. Above these limits, the
film fails with an error."""

LENS_MEMORY_BYTES: Final = 3 << 29
"""Address space of a lens worker, which maps the kernel's DWARF. Above the limit, a sample fails,
or the worker exits and its lane reports the exit."""

LENS_CPU_S: Final = 4 * 3600
"""Largest CPU time of a lens worker over its guest's lifetime. Usual: 5-30 % of one core."""

LENS_FILES: Final = 64
"""Largest number of open file descriptors of a lens worker. Usual: 10."""

LENS_SAMPLE_BYTES: Final = 4 << 20
"""Largest size of one structure in one sample. A larger message would not fit into the queue.
Usual: 80 KB. Above the limit, the sample fails; five failures in a row are reported as a fault in
the probe."""

# Expensive requests (api/stills.py). Requests beyond these limits get status 503 with Retry-After.

COSTLY_THREADS: Final = 4
"""Threads for expensive requests. Other threads serve the page."""
COSTLY_WAIT_S: Final = 30.0
"""Longest time that an expensive request is queued."""
COSTLY: Final[dict[str, tuple[int, int, int]]] = {
    "compare": (1, 16, 8),
    "bundle": (1, 16, 8),
    "listing": (1, 64, 32),
    "events": (2, 64, 32),
    "still": (1, 32, 16),
    "source": (1, 64, 32),
}
"""For each kind of request: how many requests run at once, how many are queued, and how many are
queued for one address. Usual: 0 or 1 altogether."""
COMPARISONS_SAVED: Final = 64
"""Number of cached comparison results. Results are cached by the content of both files, so a class
whose members compare the same files costs one comparison."""

# Limits for parsing bytes from guests and files (duet.confine, session, bundle)

CHILD_MEMORY_BYTES: Final = 2 << 30
"""Address space of a child process that parses one lane or file. Usual: 0.3 GiB, of which 10-100
MiB are unshared. Above the limit, the lane or file is refused with an error."""
RECORDING_CPU_S: Final = 120
"""Largest CPU time of a child process for one recorded lane or one file. Usual: 0.1-2 s."""
LIVE_CPU_S: Final = 3600
"""Largest CPU time of a child for one live lane. Usual: 5-20 % of the run's duration."""
REQUEST_CPU_S: Final = 20.0
"""Largest CPU time of one request to a child. Usual: 5-100 ms, or 0.1-2 s to unpack a whole
recording.
"""
REQUEST_WAIT_S: Final = 90.0
"""Timeout for the reply to a request; it allows for a busy host. Usual: 5-100 ms."""
REPLY_BYTES: Final = 256 << 20
"""Largest size of one reply from a child. Usual: under 3 MiB (25,000 events), or 50 MiB for an
export's column parts."""
EVENTS_WAIT_S: Final = 5.0
"""Longest time that a request for raw events waits for its lane's child. Usual: 10 ms. Above the
limit, the request is refused."""
IDLE_CHILDREN: Final = 32
"""Largest number of children, over all runs, that stay alive after their lanes have finished. They
answer requests for raw events. Usual: 2-20. Above the limit, the oldest child is ended, and its raw
events are lost."""
QUEUED_EVENTS: Final = 4_000_000
"""Number of a lane's events, 64 bytes each, that are queued until a BEAT frame covers them. Usual:
a few thousand, or on the count clock all events of a run, up to 2 million. Above the limit, the
lane ends."""
ROWS: Final = 16_384
"""Largest number of rows in a lane's picture. Usual: 2-30. Above the limit, the lane ends."""
FRAMES: Final = 500_000
"""Largest number of frames on the control port in one run. Usual: 50 per second, plus one for each
line and file."""
GUEST_FILES: Final = 1024
GUEST_FILE_BYTES: Final = 16 << 20
"""Largest number and total size of the FILE frames in one run. Usual: 30 files, 150 KiB."""
LINE_CHARACTERS: Final = 4096
"""Longest line of a workload's output. Usual: under 200. A longer line is cut and marked as
cut."""
LINES: Final = 100_000
LINE_BYTES: Final = 32 << 20
"""Largest number and total size of the lines that a workload outputs in one run. Usual: 1-500.
Above the limit, the lane ends."""
LENS_RECORDS: Final = 100_000
LENS_BYTES: Final = 64 << 20
"""Largest number and total size of the lens records in a recorded lane. Usual: 300, 2 MiB. Above
the limit, only the lens ends, not the lane."""
LENS_RECORD_BYTES: Final = 4 << 20
"""Largest size of one lens record. Usual: 100 bytes to 80 KB. A larger record is dropped, and the
lens reports the drop."""
LENS_RECORDS_PENDING: Final = 4096
"""Largest number of microscope records that are queued until their lane's events arrive. Usual:
under 100."""
PENDING_LENS_BYTES: Final = 16 << 20
"""Largest total size of the samples that are queued until the workload's start time is known.
Usual: under 1 MiB. Above the limit, the oldest samples are dropped and counted."""
VMLINUX_BYTES: Final = 2 << 30
"""Largest vmlinux that is read. The child that reads it may map it in addition to
CHILD_MEMORY_BYTES. Usual: 140 MB, or 0.4-1 GB for a distribution's kernel. Above the limit,
requests for the kernel's structures and symbols are refused."""
VMLINUX_READERS: Final = 4
"""Largest number of children that have a vmlinux open. Usual: 0-3. Each takes 130 MB, mostly for
the mapped file. Above the limit, the least recently used child is ended; the next request starts a
new one."""
VMLINUX_IDLE_S: Final = 5.0
"""A child that has a vmlinux open is ended if it gets no request for this long."""
LANE_YIELD_S: Final = 0.01
"""Time after which a lane that processes a chunk yields to the event loop. Usually a chunk takes
less time.
"""

# Limits of live runs

LIVE_RUNS_MOST: Final = 8
"""Largest number of concurrent live runs on a host of any size. Usual: 1 or 2 (host/guests.py)."""
POOLED_RUNS: Final = 4
"""Number of concurrent live runs on a pool if $DUET_LIVE_RUNS is not set. Each run uses a lease."""
LEASE_WITHIN_S: Final = 10.0
"""Time after which the page offers the recording to a viewer who still waits for a lease."""
LEASE_TTL_S: Final = 4 * 3600.0
"""Longest time that a lease for live runs is held. A lease serves many runs in turn; idle leases
are released sooner."""
SAVE_RUN_S: Final = 120.0
"""Timeout for writing a run's file before its host is released. Usual: 1 s."""
END_RUN_S: Final = 180.0
"""Timeout from the request to end a run until the run has ended. Usual: 1 s. A guest's timeouts are
shorter."""
RUN_CPUS: Final = 2
"""Host CPUs that the scheduler counts for one live run: two lanes, each with at least one busy
vCPU."""
RUN_BYTES: Final = 3 << 30
"""Memory that the scheduler counts for one live run: four guests of 512 MiB, their emulators, and
the server's transcripts. Usual: 1.3 GB for two lanes."""
LANE_BYTES: Final = 3 << 29
"""Memory that the scheduler counts for a lane on a separate host. Usual: 0.7 GB, including its host
process."""
SLOT_GUESTS: Final = 4
"""Largest number of guests that stay booted for one live-run slot. A run with five arms has five
guests. Usual: 2. Above the limit, guests that the next run does not use are ended, starting with
the oldest."""
TEMPLATE_BYTES_MOST: Final = 2 << 30
TEMPLATE_SHARE: Final = 1 / 8
"""Share of the host's memory that templates may use; the total is at most TEMPLATE_BYTES_MOST.
Usual: 110-125 MiB per template. Above the limit, the least recently used template is evicted, and
its lanes boot."""
WAITING_RUNS: Final = 64
"""Largest number of queued requests for live runs; each visitor may have one. Usual: 0-3. Above the
limit, a request is refused; the error states the queue's length."""
FINISHED_RUNS: Final = 2
"""Largest number of finished live runs that stay decoded in memory, for late viewers and raw
events. Usual: 60 MB each. Above the limit, the oldest run is evicted once its file is written; its
link then opens the file."""
FORMER_REQUESTS: Final = 256
"""Largest number of visitors whose last request is stored for the `again` command. Above the limit,
the oldest request is evicted."""
CONTROL_IDLE_S: Final = 300.0
"""Time without a command after which control of a run is released and held guests resume."""

# Limits of a stress test of a kernel (duet.trials.check)

STRESS_CONSOLE_BYTES: Final = 8 << 20
"""Largest size of a stressed guest's console output. Usual: 20-300 KB. Above the limit, the guest
is ended and counts as failed."""
STRESS_LINE_BYTES: Final = 1024
"""Longest line of a stressed guest's console. Usual: under 200. The kernel writes at most
1024 (CONSOLE_LOG_MAX in kernel/printk/printk.c, Linux 6.1). Longer lines are cut."""

# Limits of kernels built from patches that visitors change

UNPACKED_KERNEL_BYTES: Final = 256 << 20
"""Largest unpacked size of a bzImage, which is unpacked to compare it with its vmlinux. Usual:
20-40 MB, or 90 MB with KASAN."""
KERNEL_OFFSETS: Final = 8
"""Largest number of offsets in a bzImage that are tried as the start of the compressed kernel.
Usual: 1-2. If none of these is the start, the image is refused."""
CHANGES_WAITING: Final = 16
"""Largest number of changed patches queued for compilation; each visitor may have one. Usual:
0-2.
"""
OWN_ARMS: Final = 6
"""Largest number of arms with the visitor's own patches on a lesson's page. Usual: 1-2. Above the
limit, the oldest arm is removed."""
OWN_VISITORS: Final = 256
"""Largest number of visitors whose own arms are listed. Above the limit, the oldest visitor's list
is evicted, but the changed patches stay stored."""
