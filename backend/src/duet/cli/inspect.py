# SPDX-License-Identifier: GPL-2.0-or-later
"""`duet inspect`: what a recording holds. Every checksum is checked, every page decoded."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from duet.base.errors import InputError
from duet.bundle import ArmEntry, Bundle, open_bundle
from duet.bundle.reader import LaneContents, contents_of
from duet.cli.inspect_text import LaneFound, text
from duet.cli.output import emit
from duet.cli.results.recordings import InspectResult
from duet.lenses import LensState, unpack_record


def inspect(file: Path, as_json: bool) -> int:
    """See `duet inspect --help`."""
    bundle = open_bundle(file)
    lanes = [look(bundle, entry) for entry in bundle.manifest.arms]
    if as_json:
        emit(result_of(file, bundle, lanes))
    else:
        print("\n".join(text(file, bundle, lanes)))
    return 0


def look(bundle: Bundle, entry: ArmEntry) -> LaneFound:
    """Decode one lane.

    Raises:
        InputError: frames, formats or pages are broken.
    """
    lane = contents_of(bundle, entry.name)
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
    return LaneFound(
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
    """Samples by probe; states of a lens are not counted, what cannot be read is."""
    found: Counter[str] = Counter()
    for payload in lane.lens:
        try:
            record = unpack_record(payload)
        except InputError:
            found["unreadable"] += 1
            continue
        if not isinstance(record, LensState):
            found["".join(c if c.isprintable() else "?" for c in record.probe)] += 1
    return found


def result_of(file: Path, bundle: Bundle, lanes: list[LaneFound]) -> InspectResult:
    """What `--json` prints."""
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
