# SPDX-License-Identifier: GPL-2.0-or-later
"""What a guest sent during one run, kept so that it can be played again. Bounded. No I/O."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import replace

from duet.bundle.manifest import CTL, LENS, Record
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
        return iter(self._records)

    def _add(self, host_ns: int, stream: int, payload: bytes) -> None:
        if self.truncated or self.bytes + len(payload) > self._max:
            self.truncated = True
            return
        self.bytes += len(payload)
        self._records.append(Record(max(0, host_ns - self._start), stream, payload))


# The one owner of a lane's transcript: begins it with the first record, gives it up at the end.


class TranscriptWriter:
    """Saves what a lane receives.

    Others keep the writer and not the transcript, which is large: it goes with the run's result.
    """

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._transcript: Transcript | None = None
        self._closed = False

    def begin(self, before: Mapping[int, int] | None = None) -> Transcript | None:
        """The transcript, begun now if it was not; None after `close`.

        Args:
            before: bytes per CPU port that came before this run.
        """
        if self._transcript is None and not self._closed:
            start_ns = time.monotonic_ns()
            self._transcript = Transcript(self._max_bytes, start_ns, dict(before or {}))
        return self._transcript

    def frame(self, frame: Frame, raw: RawFrame, host_ns: int) -> None:
        """A frame of the control port."""
        if transcript := self.begin():
            transcript.frame(frame, raw, host_ns)

    def pages(self, cpu: int, pages: bytes, host_ns: int) -> None:
        """Whole pages of one CPU."""
        if transcript := self.begin():
            transcript.pages(cpu, pages, host_ns)

    def lens(self, record: bytes, host_ns: int) -> None:
        if transcript := self.begin():
            transcript.lens(record, host_ns)

    def close(self) -> None:
        """Give the transcript up; nothing is saved from now on."""
        self._transcript, self._closed = None, True
