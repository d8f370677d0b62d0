# SPDX-License-Identifier: GPL-2.0-or-later
"""The bytes that a guest sent during one run, kept for replay. Bounded. No I/O."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import replace

from duet.bundle.manifest import CTL, LENS, Record
from duet.wire import Beat, Frame, RawFrame, encode, pack_frame

LENS_BYTES = 64 << 20
"""Maximum size of the lens records kept from one run. Later samples are shown, but not recorded."""


class Transcript:
    """The complete frames and pages of one run, in order of arrival.

    A guest may serve several runs, but a recording starts at byte 0. So the byte counts in
    BEAT frames are rewritten as if the ports had been opened for this run.

    Args:
        max_bytes: maximum number of bytes kept. Later records are dropped, and `truncated` is set.
        start_ns: monotonic host time that is 0 in records.
        before: bytes received per CPU before this run.
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
        """Keep complete pages of one CPU."""
        if pages:
            self._add(host_ns, cpu, pages)

    def lens(self, payload: bytes, host_ns: int) -> None:
        """Keep a record of a lens."""
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


# The only owner of a lane's transcript: creates it for the first record, and releases it
# at the end.


class TranscriptWriter:
    """Saves what a lane receives.

    Other objects refer to the writer, never to the transcript. So this large object is freed with
    the run's result.
    """

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._transcript: Transcript | None = None
        self._closed = False

    def begin(self, before: Mapping[int, int] | None = None) -> Transcript | None:
        """Return the transcript, and create it on the first call; None after `close`.

        Args:
            before: bytes received per CPU port before this run; used by the first call only.
        """
        if self._transcript is None and not self._closed:
            start_ns = time.monotonic_ns()
            self._transcript = Transcript(self._max_bytes, start_ns, dict(before or {}))
        return self._transcript

    def frame(self, frame: Frame, raw: RawFrame, host_ns: int) -> None:
        """Keep a frame of the control port."""
        if transcript := self.begin():
            transcript.frame(frame, raw, host_ns)

    def pages(self, cpu: int, pages: bytes, host_ns: int) -> None:
        """Keep complete pages of one CPU."""
        if transcript := self.begin():
            transcript.pages(cpu, pages, host_ns)

    def lens(self, record: bytes, host_ns: int) -> None:
        if transcript := self.begin():
            transcript.lens(record, host_ns)

    def close(self) -> None:
        """Release the transcript; nothing is saved afterwards."""
        self._transcript, self._closed = None, True
