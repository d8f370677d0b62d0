# SPDX-License-Identifier: GPL-2.0-or-later
"""Models of what each benchmark prints with `--json`, and the targets of some benchmarks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from duet.cli.keys import key


@dataclass(frozen=True, slots=True)
class Quantiles:
    """Quantiles of the time in ms that lanes need to start."""

    n: int
    p50_ms: float
    p95_ms: float


@dataclass(frozen=True, slots=True)
class Target:
    """A promised number, and whether the measured number meets the promise."""

    what: str
    wanted: str
    found: str
    met: bool | None = key("null: not measured")


@dataclass(frozen=True, slots=True)
class LanesResult:
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
    """Delays from the encoding of a batch to its arrival at a viewer."""

    batches: int
    p50_ms: float
    p99_ms: float


@dataclass(frozen=True, slots=True)
class ViewersResult:
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
    """Quantiles of the server's answer times while a class ran."""

    n: int
    p99_ms: float
    longest_ms: float


@dataclass(frozen=True, slots=True)
class ClassResult:
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
    run_s: float = key("a run had its slot for so long, median")
    lane_cores: float = key("CPUs of one lane, with its share of the server, while it ran")
    lane_mib: float = key("memory of one guest with its share of the server, at the peak (PSS)")
    load: float = key("of the host")


@dataclass(frozen=True, slots=True)
class Following:
    """Delays from the sending of a driver's position to its arrival at a follower."""

    places: int
    missed: int = key("replaced by a later one before they were sent")
    p50_ms: float = key()
    p99_ms: float = key()
    longest_ms: float = key()


@dataclass(frozen=True, slots=True)
class FollowersResult:
    followers: int
    places_per_s: float
    seconds: float
    joined_s: float = key("until all were in the class")
    server_cores: float = key("CPU time of the server alone")
    all_read: Following = key()
    some_stalled: Following = key()
    place_bytes: float = key("of a place on the socket")
    stalled: int = key("followers that read nothing in the second half")
    closed: int = key("by the server")
    load: float = key("of the host")


@dataclass(frozen=True, slots=True)
class SwitchResult:
    """Times are measured from the click to the slowest lane's first batch."""

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
    """CPU time in ms to send a recording to a viewer, as messages and as segments."""

    messages_viewers: int
    opened_server_ms: float = key("of a socket with the lesson and the list of segments")
    opened_nginx_ms: float = key("of the same")
    opened_bytes: int = key("of the same")
    messages_server_ms: float = key("of the run as messages, beyond that")
    messages_nginx_ms: float = key("of the same")
    viewers: int = key("by segments")
    segments: int = key()
    bytes: int = key("of all segments")
    nginx_ms: float = key("of all segments, a connection of its own for each viewer")
    server_ms: float = key("of requests that nginx passed on")
    reached: int = key("such requests")
    ratio: float = key("the run as messages over the run as segments, server and nginx together")
    direct_viewers: int = key("by segments, without nginx")
    direct_ms: float = key("of the server, for each of their segments")
    server_bytes: int = key("memory of the server with this recording")


@dataclass(frozen=True, slots=True)
class LiveCost:
    """Costs of one live run through nginx."""

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
    viewer_bytes: int = key("memory of the server, more for each viewer")


@dataclass(frozen=True, slots=True)
class PageBytes:
    """Size of the page's own files, as nginx sends them. nginx may compress files."""

    first_bytes: int = key("its document and the files that this names")
    all_bytes: int = key("with all scripts and styles that these name")


@dataclass(frozen=True, slots=True)
class SegmentsResult:
    lesson: str
    recorded: RecordedCost = key()
    live: LiveCost = key()
    page: PageBytes = key()
    targets: Sequence[Target] = key()
    load: float = key("of the host")


@dataclass(frozen=True, slots=True)
class PoolStartsResult:
    """Times are measured from the click to the slowest lane's first batch."""

    lesson: str
    pool: str
    first_local: Quantiles | None = key("guests boot, on this machine; or null")
    first_pool: Quantiles | None = key("guests boot, after a new lease was acquired; or null")
    stands_local: Quantiles | None = key("later clicks, on this machine; or null")
    stands_pool: Quantiles | None = key("later clicks, on the existing lease; or null")
    first_more_ms: float | None = key("first clicks: median of the pool minus local; or null")
    stands_more_ms: float | None = key("later clicks: the same difference; or null")
    failed: Sequence[str] = key("clicks that came to nothing, and why")
    targets: Sequence[Target] = key()
    load: float = key("of the host")


@dataclass(frozen=True, slots=True)
class LinkRow:
    """Measured and simulated times for a number of viewers that arrive at the same time."""

    viewers: int
    first_p50_s: float = key("until the first segment is there")
    first_p50_simulated_s: float = key()
    first_p99_s: float = key()
    first_p99_simulated_s: float = key()
    whole_p50_s: float = key("until all segments are there")
    whole_p50_simulated_s: float = key()
    whole_p99_s: float = key()
    whole_p99_simulated_s: float = key()
    nginx_s: float = key("CPU time")
    nginx_simulated_s: float = key()
    farthest: float = key("largest factor between both, of the delays but the first p99")


@dataclass(frozen=True, slots=True)
class LinkResult:
    lesson: str
    mbit_per_s: float
    segments: int
    bytes: int = key("of all segments, heads included")
    segment_nginx_ms: float = key("CPU time of nginx for each, before the viewers come")
    rows: Sequence[LinkRow] = key()
    load: float = key("of the host")


@dataclass(frozen=True, slots=True)
class PageVisit:
    """What a visit of Chromium to an exported site needed."""

    network: str
    workers: bool = key("service workers allowed")
    visit: str = key("first, second (HTTP cache), or offline: reload of the second")
    picture_ms: float | None = key("until the first picture; null: none came")
    first_requests: int = key("before the first picture")
    first_bytes: int = key("of these, as nginx sent them, heads included")
    requests: int = key("in all")
    bytes: int = key("of these")
    refused: Sequence[str] = key("paths that nginx answered neither with 200 nor with 304")


@dataclass(frozen=True, slots=True)
class ReadersResult:
    folder: str
    readers: int
    turns: int = key("of a knob, for each reader")
    arrived_s: float = key("in which the readers arrived")
    took_s: float = key("until the last one left")
    gzip_static: bool = key("nginx sent files that were compressed before")
    workers: bool = key("the readers' browsers allow service workers")
    first_requests: int = key("of a reader, before its first picture")
    first_bytes: int = key("of these, as nginx sent them, heads included")
    requests: float = key("of a reader in all, mean")
    bytes: int = key("of these, mean")
    turns_fetched: float = key("turns of a reader that fetched a run, mean")
    first_p50_ms: float = key("until a reader had the files of its first picture")
    first_p99_ms: float = key("the same")
    errors: int = key("readers that gave up")
    reasons: Sequence[str] = key("why")
    nginx_cpu_s: float = key("while all readers were served")
    mb_per_s: float = key("in the same time")
    visits: Sequence[PageVisit] = key("of Chromium; the first became the readers' plan")
    load: float = key("of the host")


# Targets are promises in docs/CLONES.md and docs/OPERATING.md. Results are compared with targets.


def at_most(what: str, bound: float, unit: str, found: float | None) -> Target:
    """Return a target that `found` meets if it is at most `bound`. None means not measured."""
    met = None if found is None else found <= bound
    return Target(what, f"at most {_number(bound, unit)}", _said(found, unit), met)


def at_least(what: str, bound: float, unit: str, found: float | None) -> Target:
    """Return a target that `found` meets if it is at least `bound`. None means not measured."""
    met = None if found is None else found >= bound
    return Target(what, f"at least {_number(bound, unit)}", _said(found, unit), met)


def target_lines(targets: Iterable[Target]) -> list[str]:
    """Format one line per target: met, MISSED, or not measured."""
    words = {True: "met", False: "MISSED", None: "not measured"}
    return [
        f"{words[one.met]:12}  {one.what}: {one.wanted} wanted, {one.found} found"
        if one.met is not None
        else f"{words[None]:12}  {one.what}: {one.wanted} wanted"
        for one in targets
    ]


def _said(found: float | None, unit: str) -> str:
    return "" if found is None else _number(found, unit)


def _number(value: float, unit: str) -> str:
    text = f"{value:.1f}".removesuffix(".0")
    return f"{text} {unit}".rstrip()
