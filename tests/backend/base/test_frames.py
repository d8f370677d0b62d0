# SPDX-License-Identifier: GPL-2.0-or-later
"""Frames of every border: whole however the bytes are split, bounded, and refused for good."""

from __future__ import annotations

import itertools
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from duet.base.frames import (
    BadFrame,
    Closed,
    Frame,
    FrameCutter,
    pack_frame,
    read_all,
    read_frame,
    write_all,
)

MOST = 300
SENT = st.lists(st.builds(Frame, st.integers(0, 255), st.binary(max_size=MOST)), max_size=6)


def stream_of(frames: list[Frame]) -> bytes:
    return b"".join(pack_frame(kind, payload) for kind, payload in frames)


class Source:
    """Bytes that come in pieces."""

    def __init__(self, stream: bytes, piece: int = 7) -> None:
        self.left, self.piece = stream, piece

    def read(self, part: memoryview) -> int:
        came = self.left[: min(self.piece, len(part))]
        part[: len(came)] = came
        self.left = self.left[len(came) :]
        return len(came)


def test_the_form_is_that_of_the_microscopes_c_side() -> None:
    assert pack_frame(7, b"ab", b"", b"c") == struct.pack("<IB", 4, 7) + b"abc"


@given(SENT, st.lists(st.integers(0, 2000), max_size=20))
def test_frames_come_back_however_the_bytes_are_split(sent: list[Frame], cuts: list[int]) -> None:
    stream, cutter = stream_of(sent), FrameCutter(MOST)
    places = sorted({min(cut, len(stream)) for cut in cuts} | {0, len(stream)})
    pieces = [stream[start:end] for start, end in itertools.pairwise(places)]
    assert [frame for piece in pieces for frame in cutter.feed(piece)] == sent


@given(SENT)
def test_frames_come_back_byte_by_byte_and_to_one_who_waits(sent: list[Frame]) -> None:
    stream, cutter = stream_of(sent), FrameCutter(MOST)
    assert [frame for byte in stream for frame in cutter.feed(bytes([byte]))] == sent
    source = Source(stream)
    assert [Frame(*read_frame(source.read, MOST)) for _ in sent] == sent
    with pytest.raises(Closed):
        read_frame(source.read, MOST)


@given(st.binary(max_size=60), st.integers(1, 60))
def test_any_bytes_are_frames_or_refused_the_same_however_split(stream: bytes, size: int) -> None:
    def cut(size: int) -> tuple[list[Frame], bool]:
        cutter, found = FrameCutter(40, range(3)), list[Frame]()
        try:
            for at in range(0, len(stream), size):
                for frame in cutter.feed(stream[at : at + size]):
                    found.append(frame)  # those before a break count
        except BadFrame as error:
            assert "no frame begins with" in str(error) and "\n" not in str(error)
            return found, True
        return found, False

    frames, refused = cut(len(stream) + 1)
    assert cut(1) == cut(size) == (frames, refused)
    assert all(kind < 3 and len(payload) <= 40 for kind, payload in frames)


@pytest.mark.parametrize(
    ("bad", "why"),
    [
        (struct.pack("<I", 0), "wanted a length of 1 to 301, but 0 bytes"),
        (struct.pack("<I", MOST + 2), "but 302 bytes"),
        (struct.pack("<I", 1 << 31), "but 2147483648 bytes"),
        (struct.pack("<IB", 200, 9), "frame kind 9 is unknown"),
        (b"Traceback (most recent call last)", "no frame begins with b'Traceback"),
    ],
)
def test_what_is_none_is_refused_at_its_head_and_for_good(bad: bytes, why: str) -> None:
    cutter = FrameCutter(MOST, (1, 2))
    frames = cutter.feed(pack_frame(1, b"good") + bad)
    assert next(frames) == (1, b"good")  # what came whole before the break counts
    with pytest.raises(BadFrame, match=why):
        next(frames)
    for more in (b"", pack_frame(1)):
        with pytest.raises(BadFrame, match=why):
            list(cutter.feed(more))


def test_frames_that_nobody_took_come_with_the_next_ones() -> None:
    cutter = FrameCutter(MOST)
    cutter.feed(pack_frame(1))
    first = next(cutter.feed(pack_frame(2)))
    assert [first, *cutter.feed(b"")] == [(1, b""), (2, b"")]


@pytest.mark.parametrize("length", [0, 12, 1 << 31])
def test_one_who_waits_allocates_nothing_for_what_is_too_long(length: int) -> None:
    with pytest.raises(BadFrame, match=f"but {length} bytes"):
        read_frame(Source(struct.pack("<IB", length, 0)).read, 10)


def test_what_is_written_in_pieces_is_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("duet.base.frames.PIECE_BYTES", 3)
    written = bytearray()

    def write(part: memoryview) -> int:
        written.extend(part[:2])
        return min(2, len(part))

    write_all(write, b"abcdefg", bytearray(b""), memoryview(b"hi"))
    assert written == b"abcdefghi"
    assert read_all(Source(bytes(written)).read, 9) == b"abcdefghi"
