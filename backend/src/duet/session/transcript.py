# SPDX-License-Identifier: GPL-2.0-or-later
"""What a guest sent during one run, kept so that it can be played again. Bounded. No I/O."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from duet.bundle.record import CTL, LENS, Record
from duet.wire import Beat, Frame, RawFrame, encode, pack_frame

LENS_BYTES = 64 << 20
"""Samples of the x-ray kept of one run; later ones are shown, but not recorded."""


class Transcript:
    """Whole frames and whole pages of one run, in order of arrival.

    A kept guest has sent pages in earlier runs; a recording begins at byte 0, so beats are
    written as if the ports had been opened for this run.

    Args:
        max_bytes: what comes beyond is left out, and `truncated` says so.
        start_ns: host time from which records count.
        before: bytes per CPU that came before this run.
    """

    def __init__(self, max_bytes: int, start_ns: int, before: dict[int, int]) -> None:
        self._max = max_bytes
        self._start = start_ns
        self._before = before
        self._records: list[Record] = []
        self._lens_bytes = 0
        self.bytes = 0
        self.truncated = False

    def frame(self, frame: Frame, raw: RawFrame, host_ns: int) -> None:
        """Keep a frame of the control port."""
        if isinstance(frame, Beat) and any(self._before.values()):
            rows = tuple(
                replace(row, bytes_sent=max(0, row.bytes_sent - self._before.get(cpu, 0)))
                for cpu, row in enumerate(frame.cpus)
            )
            self._add(host_ns, CTL, encode(replace(frame, cpus=rows)))
        else:
            self._add(host_ns, CTL, pack_frame(raw.type, raw.payload))

    def pages(self, cpu: int, pages: bytes, host_ns: int) -> None:
        """Keep whole pages of one CPU."""
        if pages:
            self._add(host_ns, cpu, pages)

    def lens(self, payload: bytes, host_ns: int) -> None:
        """Keep a record of the x-ray."""
        self._lens_bytes += len(payload)
        if self._lens_bytes <= LENS_BYTES:
            self._add(host_ns, LENS, payload)

    def records(self) -> Iterator[Record]:
        """All that was kept."""
        return iter(self._records)

    def _add(self, host_ns: int, stream: int, payload: bytes) -> None:
        if self.truncated or self.bytes + len(payload) > self._max:
            self.truncated = True
            return
        self.bytes += len(payload)
        self._records.append(Record(max(0, host_ns - self._start), stream, payload))
