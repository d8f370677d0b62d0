# SPDX-License-Identifier: GPL-2.0-or-later
"""What `duet bench` prints with `--json`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from duet.cli.results.keys import key


@dataclass(frozen=True, slots=True)
class Quantiles:
    """Of one way in which lanes come up."""

    n: int
    p50_ms: float
    p95_ms: float


@dataclass(frozen=True, slots=True)
class Target:
    """One number that is promised."""

    what: str
    wanted: str
    found: str
    met: bool | None = key("null: not measured")


@dataclass(frozen=True, slots=True)
class LanesResult:
    """Of `duet bench lanes`."""

    lesson: str
    arm: str
    starts: int = key("of all ways")
    reached: int = key("their first decoded event")
    retries: int = key("tries to boot beyond the first of each")
    refused_copies: int = key("these lanes booted")
    copies_asked: int = key()
    copies: int = key("of these")
    ready_copies: int = key("of these; they stood ready")
    not_reached: Sequence[str] = key("why not")
    boot: Quantiles | None = key("or null")
    copy: Quantiles | None = key("or null")
    vng: Quantiles | None = key("or null")
    idle_lanes: int = key()
    idle_copies: int = key("of these")
    idle_pss_mib: float | None = key("the largest")
    idle_failed: Sequence[str] = key("why not")
    template_mib: float = key()
    targets: Sequence[Target] = key()


@dataclass(frozen=True, slots=True)
class Delays:
    """From the encoding of a batch to its arrival at a viewer that reads."""

    batches: int
    p50_ms: float
    p99_ms: float


@dataclass(frozen=True, slots=True)
class ViewersResult:
    """Of `duet bench viewers`."""

    lesson: str
    viewers: int
    frames_per_s: float
    seconds: float
    server_cores: float = key("CPU time of the server alone")
    all_read: Delays = key()
    some_stalled: Delays = key()
    stalled: int = key("viewers that read nothing in the second half")
    closed: int = key("by the server")
    load: float = key("of the host")


@dataclass(frozen=True, slots=True)
class Answers:
    """How soon something was answered while a class ran."""

    n: int
    p99_ms: float
    longest_ms: float


@dataclass(frozen=True, slots=True)
class ClassResult:
    """Of `duet bench class`."""

    lesson: str
    students: int
    different: int = key("settings that they take in turn")
    runs: int = key("that served them")
    served: int = key("students whose run was done")
    not_served: Sequence[str] = key("why not")
    longest_wait_s: float = key("until a student's run began")
    longest_s: float = key("until it was over")
    health: Answers = key("/api/health meanwhile")
    page: Answers = key("/ meanwhile")
    socket: Answers = key("light questions on each student's own")
    load: float = key("of the host")


@dataclass(frozen=True, slots=True)
class Following:
    """From the driver's sending of a place to its arrival at a follower that reads."""

    places: int
    missed: int = key("replaced by a later one before they were sent")
    p50_ms: float = key()
    p99_ms: float = key()
    longest_ms: float = key()


@dataclass(frozen=True, slots=True)
class FollowersResult:
    """Of `duet bench followers`."""

    followers: int
    places_per_s: float
    seconds: float
    joined_s: float = key("until all were in the class")
    server_cores: float = key("CPU time of the server alone")
    all_read: Following = key()
    some_stalled: Following = key()
    stalled: int = key("followers that read nothing in the second half")
    closed: int = key("by the server")
    load: float = key("of the host")


@dataclass(frozen=True, slots=True)
class SwitchResult:
    """Of `duet bench switch`. Times go from the click to the first batch of the slowest lane."""

    lesson: str
    other: str = key("the lesson that is clicked on")
    step: str = key("its main one")
    clock: str = key("of its live runs")
    recorded_first_ms: float | None = key("its recording, before the server had read it")
    recorded: Quantiles | None = key("its recording, or null")
    parked: Quantiles | None = key("live lanes, guests parked; or null")
    copies: int = key("lanes of those that were copies")
    lanes: int = key("of those")
    booted: Quantiles | None = key("live lanes, no guest parked; or null")
    failed: Sequence[str] = key("clicks that came to nothing, and why")
    targets: Sequence[Target] = key()


@dataclass(frozen=True, slots=True)
class RecordedCost:
    """Of one recording: CPU time a viewer, in ms, as messages and as segments."""

    messages_viewers: int
    opened_server_ms: float = key("of a socket with the lesson and the list of segments")
    opened_nginx_ms: float = key("of the same")
    messages_server_ms: float = key("of the run as messages, beyond that")
    messages_nginx_ms: float = key("of the same")
    viewers: int = key("by segments")
    segments: int = key()
    bytes: int = key("of all segments")
    nginx_ms: float = key("of all segments, a connection of its own for each viewer")
    server_ms: float = key("of requests that nginx passed on")
    reached: int = key("such requests")
    ratio: float = key("the run as messages over the run as segments, server and nginx together")


@dataclass(frozen=True, slots=True)
class LiveCost:
    """Of one live run through nginx."""

    viewers: int
    seconds: float
    raw_mb_per_s: float = key("of messages, for each viewer")
    packed_mb_per_s: float = key("of segments, the same")
    server_cores: float = key("CPU time of the server alone")
    nginx_cores: float = key("its sockets included")
    by_segments: int = key("viewers")
    segments: Delays = key("from the encoding of the oldest row in a segment to its last byte")
    messages: Delays = key("of the viewers that came first")
    reached: int = key("requests for segments that nginx passed on")
    closed: int = key("by the server")


@dataclass(frozen=True, slots=True)
class SegmentsResult:
    """Of `duet bench segments`."""

    lesson: str
    recorded: RecordedCost = key()
    live: LiveCost = key()
    targets: Sequence[Target] = key()
    load: float = key("of the host")
