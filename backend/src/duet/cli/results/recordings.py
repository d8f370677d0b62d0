# SPDX-License-Identifier: GPL-2.0-or-later
"""What verbs about recordings print with `--json`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from duet.cli.results.keys import key

_RUN = (
    "[{name, lesson (null: it cannot be opened), arms, workload, params, clock, seconds, bytes, "
    "recorded_at}]"
)


@dataclass(frozen=True, slots=True)
class RunsResult:
    """Of `duet runs`; a run is as the server's archive describes it."""

    folder: str
    most: int
    most_bytes: int
    added: str | None = key("name or null")
    runs: Sequence[Mapping[str, object]] = key("the newest first", _RUN)


@dataclass(frozen=True, slots=True)
class RecordedItem:
    """A recording or a recorded table."""

    lesson: str
    name: str
    kind: str = key("recording or table")
    clock: str = key()
    arms: Sequence[str] = key()
    state: str = key("current, stale, made or failed")
    why: Mapping[str, Sequence[str]] = key(shape="{arm: what has changed}")
    seconds: float | None = key()
    error: str | None = key()


@dataclass(frozen=True, slots=True)
class RecordAllResult:
    """Of `duet record-all`."""

    items: Sequence[RecordedItem]
    left_s: float = key("what the stale ones will take, about")


@dataclass(frozen=True, slots=True)
class ReplayedLane:
    """One lane of `duet replay`."""

    arm: str
    same: bool | None
    differences: Sequence[Mapping[str, object]] = key(shape="[{figure, recorded, now}]")
    figures: Mapping[str, object] = key()


@dataclass(frozen=True, slots=True)
class ReplayResult:
    """Of `duet replay`."""

    file: str
    lesson: str
    workload: str
    clock: str
    params: Mapping[str, int]
    recorded_at: str
    same: bool | None = key("bool; null when the recording has no figures")
    lanes: Sequence[ReplayedLane] = key()


_FIGURE = "[{arm, figure, recorded, now, ratio}]"
_DIFFERENCE = (
    "[{of (run, kernel, config, patches, build, host, programs), what, arm, recorded, now}]"
)


@dataclass(frozen=True, slots=True)
class ReproduceResult:
    """Of `duet reproduce`."""

    file: str
    lesson: str
    clock: str
    recorded_at: str
    differences: Sequence[Mapping[str, object]] = key(shape=_DIFFERENCE)
    figures: Sequence[Mapping[str, object]] = key("of traced runs", _FIGURE)
    claims: Sequence[Mapping[str, object]] = key(
        "of untraced runs", "[{claim, source, own_knobs, holds, because}]"
    )
    holds: bool | None = key("null when no claim is about the recording")
    verdict: str = key()
    recording: str | None = key()


@dataclass(frozen=True, slots=True)
class ExportedFile:
    """One file of `duet export`."""

    path: str
    bytes: int


@dataclass(frozen=True, slots=True)
class ExportResult:
    """Of `duet export`."""

    file: str
    to: str
    files: Sequence[ExportedFile]


@dataclass(frozen=True, slots=True)
class InspectedLane:
    """One lane of `duet inspect`."""

    name: str
    title: str
    role: str
    patches: Sequence[str]
    kernel_version: str
    config_sha256: str
    kernel_key: str = key("of the build")
    compiler: str = key()
    patch_sha256: Mapping[str, str] = key(shape="{path: of its diff}")
    stream_bytes: int = key()
    packed_bytes: int = key()
    records: int = key()
    cpus: Sequence[int] = key()
    pages: int = key()
    events: int = key()
    events_by_type: Mapping[str, int] = key()
    events_unknown: int = key()
    events_overwritten: int = key()
    loss: Mapping[str, int] = key()
    contention: Mapping[str, float] | None = key()
    samples: Mapping[str, int] = key()
    lines: int = key()
    status: int | None = key()
    guest_ms: float = key()
    truncated: bool = key()
    figures: Mapping[str, object] | None = key()


@dataclass(frozen=True, slots=True)
class InspectResult:
    """Of `duet inspect`."""

    file: str
    bytes: int
    format: int
    created: str
    lesson: str
    clock: str
    shift: int
    seed: int
    params: Mapping[str, int]
    workload: str
    window_ms: int | None
    left_out: Mapping[str, str]
    host: Mapping[str, str]
    versions: Mapping[str, str]
    checksums: int = key("members whose SHA-256 was checked")
    events: int = key()
    bytes_per_event: float | None = key()
    lanes: Sequence[InspectedLane] = key()
    patch_files: Sequence[str] = key()


@dataclass(frozen=True, slots=True)
class ComparedSide:
    """One recording of `duet compare`."""

    created: str
    clock: str
    workload: str
    params: Mapping[str, int]
    arms: Sequence[str]
    host: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class CompareResult:
    """Of `duet compare`."""

    first: str = key("file")
    second: str = key("file")
    lesson: str = key()
    sides: Sequence[ComparedSide] = key("two")
    differences: Sequence[Mapping[str, object]] = key(
        "recorded: of the first; now: of the second", _DIFFERENCE
    )
    figures: Sequence[Mapping[str, object]] = key("of traced runs", _FIGURE)
    only: Mapping[str, str] = key(shape="{arm: first or second}")
    worth: str = key()
