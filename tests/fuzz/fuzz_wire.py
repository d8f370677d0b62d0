#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""atheris target: parsers of the agent's frames, ring-buffer pages and lens records.

The split of the bytes into chunks must not change the frames or the error.
"""

from __future__ import annotations

import sys

import atheris

with atheris.instrument_imports(
    include=["duet.wire", "duet.lenses.records", "duet.lenses.scope", "duet.base.frames"]
):
    from duet.lenses.records import unpack_record
    from duet.lenses.scope.wire import ScopeReader
    from duet.wire import FrameReader, PageSplitter, decode_frame, encode

from duet.base.errors import DuetError


def frames(data: bytes, piece: int) -> tuple[list[object], str]:
    """Parse bytes in chunks of a size; return the frames, and the error or ''."""
    reader, found = FrameReader(), list[object]()
    try:
        for at in range(0, len(data), piece):
            for raw in reader.feed(data[at : at + piece]):
                found.append(decode_frame(raw))
    except DuetError as error:
        return found, error.sentence
    return found, ""


def one(data: bytes) -> None:
    """Feed the input to all parsers."""
    piece = (data[0] if data else 0) + 1
    whole, said = frames(data, len(data) + 1)
    cut, cut_said = frames(data, piece)
    # A reader reports an error with the chunk that contains it, so earlier frames must be equal.
    assert cut == whole[: len(cut)] if cut_said else cut == whole and said in ("", cut_said)
    for frame in whole:
        encode(frame)  # type: ignore[arg-type]
    splitter = PageSplitter()
    pages = b"".join(splitter.feed(data[at : at + piece]) for at in range(0, len(data), piece))
    assert len(pages) % 4096 == 0 and len(pages) + splitter.held_bytes == len(data)
    for read in (unpack_record, ScopeReader().feed):
        try:
            read(data)
        except DuetError as error:
            assert error.sentence and "\n" not in error.sentence


if __name__ == "__main__":
    atheris.Setup(sys.argv, one)
    atheris.Fuzz()
