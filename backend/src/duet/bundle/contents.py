# SPDX-License-Identifier: GPL-2.0-or-later
"""What a lane's transcript holds, taken apart: frames, format files, pages, lens records. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from duet.budgets import FRAMES
from duet.bundle.decoding import ConfinedDecoder
from duet.bundle.read import Bundle
from duet.bundle.record import CTL, LENS, Record
from duet.decode import CpuColumns
from duet.errors import InputError
from duet.wire import (
    Ended,
    Frame,
    FrameReader,
    GuestFile,
    Hello,
    Line,
    PageSplitter,
    ProtocolError,
    decode_frame,
)

DECODE_PAGES = 4096
"""Decoded at a time, so that a long lane's columns need not all be in memory."""


@dataclass(slots=True)
class LaneContents:
    """One lane, sorted by kind.

    Args:
        pages: CPU -> whole ring-buffer pages, in order.
        lens: payloads of lens records, in order.
        records: how many there are.
        stream_bytes: of their payloads.
        rest_bytes: of pages that did not come whole.
    """

    arm: str
    frames: list[Frame] = field(default_factory=list)
    pages: dict[int, bytes] = field(default_factory=dict)
    lens: list[bytes] = field(default_factory=list)
    records: int = 0
    stream_bytes: int = 0
    rest_bytes: int = 0
    page_bytes: int = 4096

    @property
    def files(self) -> dict[str, bytes]:
        """What the agent sent of the guest's tracefs, by name."""
        return {f.name: f.content for f in self.frames if isinstance(f, GuestFile)}

    @property
    def facts(self) -> dict[str, str]:
        """The agent's greeting."""
        return next((f.facts for f in self.frames if isinstance(f, Hello)), {})

    @property
    def lines(self) -> list[Line]:
        """What the workload wrote."""
        return [f for f in self.frames if isinstance(f, Line)]

    @property
    def status(self) -> int | None:
        """How the workload ended."""
        return next((f.status for f in self.frames if isinstance(f, Ended)), None)

    def decoder(self) -> ConfinedDecoder:
        """A decoder of this lane's formats, in a child process.

        Raises:
            InputError: the formats are missing or broken; the sentence names the lane.
        """
        try:
            return ConfinedDecoder(self.files, self.page_bytes, f"lane {self.arm} of the recording")
        except InputError as error:
            raise self.broken(error) from error

    def decoded(self, decoder: ConfinedDecoder) -> Iterator[CpuColumns]:
        """All events, CPU after CPU, in parts.

        Raises:
            InputError: a page is broken; the sentence names lane, CPU and page.
        """
        size = DECODE_PAGES * self.page_bytes
        try:
            for cpu, pages in sorted(self.pages.items()):
                for at in range(0, len(pages), size):
                    yield decoder.decode(cpu, pages[at : at + size])
        except InputError as error:
            raise self.broken(error) from error

    def broken(self, error: InputError) -> InputError:
        """The same trouble, with the lane named."""
        if error.sentence.startswith(f"lane {self.arm} "):
            return error
        return InputError(
            f"lane {self.arm} of the recording is broken: {error.sentence}", remedy=error.remedy
        )


def contents_of(bundle: Bundle, arm: str) -> LaneContents:
    """Take one lane of a bundle apart.

    Raises:
        InputError: no such lane, or its control port is broken.
    """
    return take_apart(arm, bundle.records(arm))


def take_apart(arm: str, records: Iterable[Record]) -> LaneContents:
    """Take a transcript apart.

    Raises:
        InputError: the control port is broken; the sentence names lane and byte.
    """
    lane = LaneContents(arm)
    reader = FrameReader()
    splitters: dict[int, PageSplitter] = {}
    parts: dict[int, list[bytes]] = {}
    for _, stream, payload in records:
        lane.records += 1
        lane.stream_bytes += len(payload)
        if stream == CTL:
            try:
                for raw in reader.feed(payload):
                    lane.frames.append(decode_frame(raw))
            except ProtocolError as error:
                raise lane.broken(error) from error
            if len(lane.frames) > FRAMES:
                raise InputError(
                    f"lane {arm} of the recording has more than {FRAMES:,} frames.",
                    remedy="Get the file anew, or record it again with a shorter run.",
                )
        elif stream == LENS:
            lane.lens.append(payload)
        else:
            splitter = splitters.setdefault(stream, PageSplitter(lane.page_bytes))
            parts.setdefault(stream, []).append(splitter.feed(payload))
    lane.pages = {cpu: b"".join(pieces) for cpu, pieces in parts.items()}
    lane.rest_bytes = sum(splitter.held_bytes for splitter in splitters.values())
    return lane
