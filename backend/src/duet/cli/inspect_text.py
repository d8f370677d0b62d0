# SPDX-License-Identifier: GPL-2.0-or-later
"""What `duet inspect` prints of a recording and of its lanes."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from duet.bundle import ArmEntry, Bundle, Manifest, patches_of
from duet.bundle.reader import LaneContents
from duet.cli.results.recordings import InspectedLane

HEADINGS = ("lane", "kernel", "config", "packed", "unpacked", "pages", "events", "lost", "samples")


@dataclass(slots=True)
class LaneFound:
    """What was found in one lane."""

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
        """Records decoded, of all kinds."""
        return sum(self.types.values()) + self.unknown

    @property
    def guest_ms(self) -> float:
        """From the first event to the last."""
        if self.first_ns is None or self.last_ns is None:
            return 0.0
        return (self.last_ns - self.first_ns) / 1e6

    def result(self) -> InspectedLane:
        """What `--json` prints of one lane."""
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


def text(file: Path, bundle: Bundle, lanes: list[LaneFound]) -> list[str]:
    """For people: what was run, then the lanes, then their events."""
    manifest = bundle.manifest
    events = sum(lane.events for lane in lanes)
    knobs = ", ".join(f"{name}={value}" for name, value in manifest.params.items())
    shift = f", shift {manifest.shift}" if manifest.clock == "count" else ""
    window = f"{manifest.window_ms} ms from each start" if manifest.window_ms else "whole runs"
    each = f"{bundle.file_bytes / events:.2f} bytes an event" if events else "no events"
    lines = [
        f"{file.name}: {bundle.file_bytes:,} bytes, format {manifest.format}, {events:,} events, "
        f"{each}",
        f"recorded {manifest.created}: {window}",
        f"{manifest.lesson}, {manifest.workload}, {manifest.clock} clock{shift}, "
        f"seed {manifest.seed}; {knobs or 'no knobs'}",
        "host: " + (", ".join(f"{k} {v}" for k, v in manifest.host.items()) or "not said"),
        "versions: " + (", ".join(f"{k} {v}" for k, v in manifest.versions.items()) or "not said"),
        f"checksums: {len(manifest.sums)} of {len(manifest.sums)} members are what SHA-256 says",
        *waited(manifest),
        *(f"left out: {arm}: {why}" for arm, why in manifest.left_out.items()),
        "",
        *_columns([HEADINGS, *(_cells(lane) for lane in lanes)]),
        *(line for lane in lanes for line in made_of(lane.entry)),
        *(f"{x.entry.name}: the run sent more than was kept" for x in lanes if x.entry.truncated),
        "",
    ]
    types = sorted({name for lane in lanes for name in lane.types})
    heads = ("event", *(lane.entry.name for lane in lanes))
    rows = [(name, *(f"{lane.types[name]:,}" for lane in lanes)) for name in types]
    return lines + _columns([heads, *rows])


def made_of(entry: ArmEntry) -> list[str]:
    """Key, compiler and patches of a lane's kernel, where the recording has them."""
    key, compiler = (str(entry.kernel.get(name, "")) for name in ("key", "compiler"))
    if not key:
        return []
    patches = [f"  {path} {sha[:12]}" for path, sha in patches_of(entry).items()]
    return [f"{entry.name}: kernel {key}, {compiler or 'compiler not said'}", *patches]


def waited(manifest: Manifest) -> list[str]:
    """How long vCPUs waited for the host, where the recording says so."""
    found = [
        (entry.name, entry.contention.waited_s, entry.contention.ran_s)
        for entry in manifest.arms
        if entry.contention is not None
    ]
    if not found:
        return []
    each = ", ".join(f"{name} waited {w:.2f} s and ran {r:.2f} s" for name, w, r in found)
    return [f"vCPUs on the host: {each}"]


def _cells(lane: LaneFound) -> tuple[str, ...]:
    entry, contents = lane.entry, lane.contents
    pages = sum(len(pages) for pages in contents.pages.values()) // contents.page_bytes
    samples = ", ".join(f"{n} {probe}" for probe, n in sorted(lane.samples.items()))
    return (
        entry.name,
        entry.kernel_version or "not said",
        entry.config_sha256[:12] or "not said",
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
