# SPDX-License-Identifier: GPL-2.0-or-later
"""Which segments of a run there are; the page fetches them over HTTP (docs/SEGMENTS.md)."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from duet.stream.messages.base import Message


class SegmentLine(Message):
    """One segment. Its address is `segments/RUN/N-DIGEST`, below the page's own."""

    n: int = Field(ge=0, description="running number in its run, from 0")
    digest: str = Field(description="of its bytes, with a key of the run: nobody can guess it")
    bytes: int = Field(ge=0, description="as it travels")
    through_ns: float = Field(description="every lane that it has is complete up to here")


class Segments(Message):
    """These segments exist; a page applies them by number, each before what comes after this."""

    type: Literal["segments"] = "segments"
    run_id: str
    segments: list[SegmentLine]
