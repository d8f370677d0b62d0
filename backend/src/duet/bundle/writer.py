# SPDX-License-Identifier: GPL-2.0-or-later
"""Write bundles and trim transcripts."""

from __future__ import annotations

import hashlib
import struct
import zipfile
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from duet.base import files as durable
from duet.base.errors import InfraError, InputError
from duet.bundle import archive as limits
from duet.bundle.archive import pack_stream
from duet.bundle.decoding import ConfinedDecoder
from duet.bundle.manifest import CTL, LENS, RECORD_TIME, Manifest, Record
from duet.wire import Beat, Frame, FrameReader, GuestFile, PageSplitter, Stats, decode_frame, encode
from duet.wire.frames import PAGE_BYTES

METHOD = zipfile.ZIP_LZMA
"""LZMA makes ring-buffer pages a third smaller than deflate does. Compressing half a second of
three lanes takes 1 s."""
EPOCH = (1980, 1, 1, 0, 0, 0)


def write_bundle(
    path: Path,
    manifest: Manifest,
    lanes: Mapping[str, Iterable[Record]],
    patches: Mapping[str, bytes],
) -> int:
    """Write a bundle atomically; return its size in bytes. Identical input gives identical bytes.

    Raises:
        InfraError: the file cannot be written.
        InputError: the content exceeds a reader's limits.
    """
    members = {f"lanes/{arm}/stream.bin": pack_stream(records) for arm, records in lanes.items()}
    members |= {f"patches/{name}": patch for name, patch in patches.items()}
    _check(path, members)
    sums = {name: hashlib.sha256(content).hexdigest() for name, content in members.items()}
    whole = manifest.model_copy(update={"sums": sums})
    text = whole.model_dump_json(indent=1).encode()
    try:
        with durable.open_atomic(path) as file, zipfile.ZipFile(file, "w", METHOD) as bundle:
            for name, content in ({"manifest.json": text} | members).items():
                bundle.writestr(zipfile.ZipInfo(name, EPOCH), content, METHOD)
    except OSError as error:
        raise InfraError(
            f"the recording {path.name} could not be written: {error.strerror or error}.",
            remedy="Free some space on the disk, or choose another folder.",
        ) from error
    return path.stat().st_size


def _check(path: Path, members: Mapping[str, bytes]) -> None:
    """Raise an error if a reader would refuse the bundle."""
    sizes = {name: len(content) for name, content in members.items()}
    lanes = [size for name, size in sizes.items() if name.startswith("lanes/")]
    over = max(lanes, default=0) > limits.STREAM_BYTES or sum(sizes.values()) > limits.TOTAL_BYTES
    if over or len(members) >= limits.MEMBERS:
        raise InputError(
            f"the recording {path.name} would have {sum(sizes.values())} bytes in "
            f"{len(members)} members, more than a reader accepts.",
            remedy="Record fewer lanes or a shorter run.",
        )


# Trim a transcript to the pages around its start marker.
#
# BEATs are rewritten for the remaining pages. BEATs after the window are dropped, so that the
# recording ends with the last events. Counters keep the numbers of lost events. The numbers of read
# events become 0, because otherwise the removed events would look like a loss on the host.

PRINT = "events/ftrace/print/format"
BEFORE_MS = 5
"""Time before the start marker from which pages are kept."""
_TIME = struct.Struct("<Q")


@dataclass(slots=True)
class _Page:
    host_ns: int
    cpu: int
    content: bytes
    begin_ns: int
    end_ns: int = 1 << 62


def trim(records: Iterable[Record], start_marker: str, window_ms: float) -> list[Record]:
    """Keep only pages with events from BEFORE_MS before the marker to `window_ms` after it.

    Raises:
        InputError: no page contains the start marker.
    """
    whole = list(records)
    frames, pages = _parse(record for record in whole if record.stream != LENS)
    marker_ns = _find_marker(frames, pages, start_marker)
    low = marker_ns - BEFORE_MS * 1_000_000
    high = marker_ns + int(window_ms * 1e6)
    within = [page for page in pages if page.end_ns >= low and page.begin_ns <= high]
    sent = _SentBytes(pages, within)
    cut = [Record(page.host_ns, page.cpu, page.content) for page in within]
    for host_ns, frame in frames:
        if (changed := _frame(frame, high, sent)) is not None:
            cut.append(Record(host_ns, CTL, encode(changed)))
    cut += _lens([record for record in whole if record.stream == LENS], low, high)
    cut.sort(key=lambda record: record.host_ns)
    return cut


def _lens(records: list[Record], low: int, high: int) -> list[Record]:
    """Keep a lens's states, its samples in the window, and the last sample before the window."""
    within: list[Record] = []
    before: Record | None = None
    for record in records:
        if len(record.payload) < RECORD_TIME.size:
            continue
        (at_ns,) = RECORD_TIME.unpack_from(record.payload)
        if at_ns and at_ns < low:
            before = record
        elif at_ns <= high:
            within.append(record)
    return ([before] if before else []) + within


def _parse(records: Iterable[Record]) -> tuple[list[tuple[int, Frame]], list[_Page]]:
    reader, splitters = FrameReader(), dict[int, PageSplitter]()
    frames: list[tuple[int, Frame]] = []
    pages: list[_Page] = []
    last: dict[int, _Page] = {}
    for host_ns, stream, payload in records:
        if stream == CTL:
            frames += [(host_ns, decode_frame(raw)) for raw in reader.feed(payload)]
            continue
        splitter = splitters.setdefault(stream, PageSplitter())
        for content in _each(splitter.feed(payload), splitter.page_bytes):
            page = _Page(host_ns, stream, content, _TIME.unpack_from(content)[0])
            if stream in last:
                last[stream].end_ns = page.begin_ns
            last[stream] = page
            pages.append(page)
    return frames, pages


def _each(pages: bytes, size: int) -> Iterator[bytes]:
    for at in range(0, len(pages), size):
        yield pages[at : at + size]


def _find_marker(frames: list[tuple[int, Frame]], pages: list[_Page], marker: str) -> int:
    files = {frame.name: frame.content for _, frame in frames if isinstance(frame, GuestFile)}
    if PRINT in files:
        formats = {name: files[name] for name in ("header_page", PRINT) if name in files}
        with ConfinedDecoder(formats, PAGE_BYTES, "the recording") as decoder:
            for page in pages:
                table = decoder.decode(page.cpu, page.content).tables.get("ftrace/print")
                if table is None:
                    continue
                texts = table.columns["buf"].tolist()
                for ts, text in zip(table.ts_ns.tolist(), texts, strict=True):
                    if text.strip() == marker.encode():
                        return int(ts)
    raise InputError(
        f"the recording has no marker '{marker}', so its start is unknown.",
        remedy="Record it again, or do not trim it.",
    )


class _SentBytes:
    """Map each `bytes_sent` of the original recording to its value in the trimmed recording."""

    def __init__(self, pages: list[_Page], within: list[_Page]) -> None:
        chosen = {id(page) for page in within}
        self._ends: dict[int, list[int]] = {}
        self._within: dict[int, list[int]] = {}
        for page in pages:
            ends = self._ends.setdefault(page.cpu, [0])
            sums = self._within.setdefault(page.cpu, [0])
            ends.append(ends[-1] + len(page.content))
            sums.append(sums[-1] + (len(page.content) if id(page) in chosen else 0))

    def of(self, cpu: int, sent: int) -> int:
        ends = self._ends.get(cpu, [0])
        return self._within.get(cpu, [0])[bisect_right(ends, sent) - 1]


def _frame(frame: Frame, high: int, sent: _SentBytes) -> Frame | None:
    """Return a frame rewritten for the trimmed recording; None if the frame is dropped."""
    match frame:
        case Beat(_, cpus):
            if any(row.empty_at_ns > high for row in cpus):
                return None
            rows = (
                replace(row, bytes_sent=sent.of(cpu, row.bytes_sent))
                for cpu, row in enumerate(cpus)
            )
            return replace(frame, cpus=tuple(rows))
        case Stats(_, stats, _):
            return replace(frame, cpus=tuple(replace(row, entries=0, read=0) for row in stats))
        case _:
            return frame
