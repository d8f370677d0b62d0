# SPDX-License-Identifier: GPL-2.0-or-later
"""`duet inspect`: shows what a recording contains, verifies all checksums, decodes all pages."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from duet.base.errors import InputError, printable
from duet.cli.keys import key, keys_text
from duet.cli.options import File, Json, find_recording
from duet.cli.output import emit

if TYPE_CHECKING:
    from duet.bundle import ArmEntry, Bundle, Manifest
    from duet.bundle.reader import LaneContents


@dataclass(frozen=True, slots=True)
class InspectedLane:
    """One lane of the recording."""

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


KEYS = keys_text(InspectResult)


def inspect(file: File, as_json: Json = False) -> int:
    """Show what a recording contains, lane by lane. List manifest, events, samples, losses and
    bytes per event.
    """
    from duet.bundle import open_bundle

    path = find_recording(file)
    bundle = open_bundle(path)
    lanes = [summarize_lane(bundle, entry) for entry in bundle.manifest.arms]
    if as_json:
        emit(result_of(path, bundle, lanes))
    else:
        print("\n".join(text(path, bundle, lanes)))
    return 0


HEADINGS = ("lane", "kernel", "config", "packed", "unpacked", "pages", "events", "lost", "samples")


@dataclass(slots=True)
class LaneSummary:
    """Contents of one lane."""

    entry: ArmEntry
    contents: LaneContents
    packed: int
    types: Counter[str]
    unknown: int
    overwritten: int
    samples: Counter[str]
    first_ns: int | None
    last_ns: int | None

    @property
    def events(self) -> int:
        """Number of decoded records of all kinds."""
        return sum(self.types.values()) + self.unknown

    @property
    def guest_ms(self) -> float:
        """Time from the first event to the last."""
        if self.first_ns is None or self.last_ns is None:
            return 0.0
        return (self.last_ns - self.first_ns) / 1e6

    def result(self) -> InspectedLane:
        from duet.bundle import patches_of

        entry, lane = self.entry, self.contents
        return InspectedLane(
            name=entry.name,
            title=entry.title,
            role=entry.role,
            patches=list(entry.patches),
            kernel_version=entry.kernel_version,
            config_sha256=entry.config_sha256,
            kernel_key=str(entry.kernel.get("key", "")),
            compiler=str(entry.kernel.get("compiler", "")),
            patch_sha256=patches_of(entry),
            stream_bytes=lane.stream_bytes,
            packed_bytes=self.packed,
            records=lane.records,
            cpus=sorted(lane.pages),
            pages=sum(len(pages) for pages in lane.pages.values()) // lane.page_bytes,
            events=self.events,
            events_by_type=dict(sorted(self.types.items())),
            events_unknown=self.unknown,
            events_overwritten=self.overwritten,
            loss=dict(entry.loss),
            contention=None if entry.contention is None else entry.contention.model_dump(),
            samples=dict(sorted(self.samples.items())),
            lines=len(lane.lines),
            status=lane.status,
            guest_ms=round(self.guest_ms, 3),
            truncated=entry.truncated,
            figures=entry.figures.model_dump(mode="json") if entry.figures else None,
        )


def text(file: Path, bundle: Bundle, lanes: list[LaneSummary]) -> list[str]:
    """Format the contents for people: the run, then the lanes, then their events."""
    manifest = bundle.manifest
    events = sum(lane.events for lane in lanes)
    knobs = ", ".join(f"{name}={value}" for name, value in manifest.params.items())
    shift = f", shift {manifest.shift}" if manifest.clock == "count" else ""
    window = f"{manifest.window_ms} ms from each start" if manifest.window_ms else "whole runs"
    each = f"{bundle.file_bytes / events:.2f} bytes per event" if events else "no events"
    lines = [
        f"{file.name}: {bundle.file_bytes:,} bytes, format {manifest.format}, {events:,} events, "
        f"{each}",
        f"recorded {manifest.created}: {window}",
        f"{manifest.lesson}, {manifest.workload}, {manifest.clock} clock{shift}, "
        f"seed {manifest.seed}; {knobs or 'no knobs'}",
        "host: " + (", ".join(f"{k} {v}" for k, v in manifest.host.items()) or "unknown"),
        "versions: " + (", ".join(f"{k} {v}" for k, v in manifest.versions.items()) or "unknown"),
        f"checksums: SHA-256 matches for {len(manifest.sums)} of {len(manifest.sums)} members",
        *contention_lines(manifest),
        *(f"left out: {arm}: {why}" for arm, why in manifest.left_out.items()),
        "",
        *_columns([HEADINGS, *(_cells(lane) for lane in lanes)]),
        *(line for lane in lanes for line in kernel_lines(lane.entry)),
        *(f"{x.entry.name}: the run sent more than was kept" for x in lanes if x.entry.truncated),
        "",
    ]
    types = sorted({name for lane in lanes for name in lane.types})
    heads = ("event", *(lane.entry.name for lane in lanes))
    rows = [(name, *(f"{lane.types[name]:,}" for lane in lanes)) for name in types]
    return lines + _columns([heads, *rows])


def kernel_lines(entry: ArmEntry) -> list[str]:
    """Return lines about a lane's kernel: its key, compiler and patches, if they are recorded."""
    from duet.bundle import patches_of

    key, compiler = (str(entry.kernel.get(name, "")) for name in ("key", "compiler"))
    if not key:
        return []
    patches = [f"  {path} {sha[:12]}" for path, sha in patches_of(entry).items()]
    writes = [f"  written in the guest: {line}" for line in entry.writes]
    return [f"{entry.name}: kernel {key}, {compiler or 'compiler unknown'}", *patches, *writes]


def contention_lines(manifest: Manifest) -> list[str]:
    """Say how long vCPUs waited for the host, if the recording contains this time."""
    found = [
        (entry.name, entry.contention.waited_s, entry.contention.ran_s)
        for entry in manifest.arms
        if entry.contention is not None
    ]
    if not found:
        return []
    each = ", ".join(f"{name} waited {w:.2f} s and ran {r:.2f} s" for name, w, r in found)
    return [f"vCPUs on the host: {each}"]


def _cells(lane: LaneSummary) -> tuple[str, ...]:
    entry, contents = lane.entry, lane.contents
    pages = sum(len(pages) for pages in contents.pages.values()) // contents.page_bytes
    samples = ", ".join(f"{n} {probe}" for probe, n in sorted(lane.samples.items()))
    return (
        entry.name,
        entry.kernel_version or "unknown",
        entry.config_sha256[:12] or "unknown",
        f"{lane.packed:,}",
        f"{contents.stream_bytes:,}",
        f"{pages:,}",
        f"{lane.events:,}",
        f"{entry.loss.get('events', 0):,}",
        samples or "none",
    )


def _columns(rows: list[tuple[str, ...]]) -> list[str]:
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    rendered = []
    for first, *rest in rows:
        cells = [cell.rjust(width) for cell, width in zip(rest, widths[1:], strict=True)]
        rendered.append("  ".join([first.ljust(widths[0]), *cells]).rstrip())
    return rendered


def summarize_lane(bundle: Bundle, entry: ArmEntry) -> LaneSummary:
    """Decode one lane.

    Raises:
        InputError: frames, formats or pages are broken.
    """
    from duet.bundle.reader import read_lane

    lane = read_lane(bundle, entry.name)
    types: Counter[str] = Counter()
    overwritten = 0
    times: list[int] = []
    unknown = 0
    if lane.pages:
        decoder = lane.decoder()
        for part in lane.decoded(decoder):
            for name, table in part.tables.items():
                types[name] += len(table)
                times += [int(table.ts_ns.min()), int(table.ts_ns.max())]
            overwritten += sum(loss.count or 0 for loss in part.losses)
        unknown = sum(decoder.unknown.values())
    return LaneSummary(
        entry=entry,
        contents=lane,
        packed=bundle.packed[f"lanes/{entry.name}/stream.bin"],
        types=types,
        unknown=unknown,
        overwritten=overwritten,
        samples=_samples(lane),
        first_ns=min(times, default=None),
        last_ns=max(times, default=None),
    )


def _samples(lane: LaneContents) -> Counter[str]:
    """Count the samples of each probe.

    Count unreadable records under the key 'unreadable'. Ignore records about a lens's state.
    """
    found: Counter[str] = Counter()
    if not lane.lens:
        return found  # importing duet.lenses takes longer than decoding a small recording
    from duet.lenses import LensState, unpack_record

    for payload in lane.lens:
        try:
            record = unpack_record(payload)
        except InputError:
            found["unreadable"] += 1
            continue
        if not isinstance(record, LensState):
            found[printable(record.probe)] += 1
    return found


def result_of(file: Path, bundle: Bundle, lanes: list[LaneSummary]) -> InspectResult:
    manifest = bundle.manifest
    said = manifest.model_dump(mode="json", exclude={"arms", "sums"})
    events = sum(lane.events for lane in lanes)
    return InspectResult(
        file=str(file),
        bytes=bundle.file_bytes,
        **said,
        checksums=len(manifest.sums),
        events=events,
        bytes_per_event=round(bundle.file_bytes / events, 2) if events else None,
        lanes=[lane.result() for lane in lanes],
        patch_files=list(bundle.patches),
    )
