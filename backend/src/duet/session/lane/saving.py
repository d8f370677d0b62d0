# SPDX-License-Identifier: GPL-2.0-or-later
"""The one owner of a lane's transcript: begins it with the first record, gives it up at the end."""

from __future__ import annotations

import time
from collections.abc import Mapping

from duet.session.transcript import Transcript
from duet.wire import Frame, RawFrame


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
        """A record of a lens."""
        if transcript := self.begin():
            transcript.lens(record, host_ns)

    def close(self) -> None:
        """Give the transcript up; nothing is saved from now on."""
        self._transcript, self._closed = None, True
