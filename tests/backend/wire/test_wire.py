# SPDX-License-Identifier: GPL-2.0-or-later
"""Frames survive every split, and every malformed one is named by its offset."""

from __future__ import annotations

import itertools
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from duet.base.errors import InputError
from duet.wire import (
    Beat,
    CpuBeat,
    CpuStats,
    Drained,
    Ended,
    Frame,
    FrameReader,
    FrameType,
    GuestError,
    GuestFile,
    Hello,
    HostFrame,
    Line,
    PageSplitter,
    ProtocolError,
    RawFrame,
    Ready,
    Resume,
    Resumed,
    Started,
    Stats,
    decode_frame,
    encode,
    pack_frame,
)
from duet.wire.frames import MOST_EVENTS

U64 = st.integers(0, 2**64 - 1)
EVENTS = st.integers(0, MOST_EVENTS)
U32 = st.integers(0, 2**32 - 1)
I32 = st.integers(-(2**31), 2**31 - 1)
TEXT = st.text(st.characters(blacklist_categories=("Cs",), blacklist_characters="\n\0"))
WORD = st.text("abcdefghijklmnopqrstuvwxyz_/", min_size=1, max_size=40)
FRAMES: st.SearchStrategy[Frame] = st.one_of(
    st.builds(Hello, st.dictionaries(st.sampled_from(["kernel", "clocksource"]), WORD)),
    st.builds(GuestFile, WORD, st.binary(max_size=200)),
    st.just(Ready()),
    st.builds(Line, U64, st.sampled_from(["out", "err"]), TEXT),
    st.builds(Started, U64, U32),
    st.builds(Ended, U64, I32),
    st.builds(Beat, U64, st.lists(st.builds(CpuBeat, U64, U64), min_size=1, max_size=4).map(tuple)),
    st.builds(
        Stats,
        st.booleans(),
        st.lists(st.builds(CpuStats, *[EVENTS] * 5), min_size=1, max_size=4).map(tuple),
        EVENTS,
    ),
    st.builds(GuestError, TEXT, TEXT, TEXT),
    st.builds(Drained, U64),
    st.builds(Resumed, U64, U64, st.binary(min_size=16, max_size=16)),
    st.builds(Resume, U64, st.binary(min_size=32, max_size=32), TEXT),
    st.builds(HostFrame, st.just(FrameType.PLAN), TEXT),
    st.sampled_from([HostFrame(FrameType.START), HostFrame(FrameType.PING)]),
)


def read_all(stream: bytes, cuts: list[int]) -> list[Frame]:
    reader = FrameReader()
    places = sorted({min(c, len(stream)) for c in cuts} | {0, len(stream)})
    pieces = [stream[a:b] for a, b in itertools.pairwise(places)]
    frames = [decode_frame(raw) for piece in pieces for raw in reader.feed(piece)]
    assert reader.held_bytes == 0
    return frames


@given(st.lists(FRAMES, max_size=5), st.lists(st.integers(0, 2000), max_size=20))
def test_frames_come_back_whole_however_the_stream_is_cut(
    frames: list[Frame], cuts: list[int]
) -> None:
    assert read_all(b"".join(map(encode, frames)), cuts) == frames


def test_frames_come_back_byte_by_byte() -> None:
    frames: list[Frame] = [Ready(), Line(7, "err", "mount: no such device"), Drained(9)]
    stream = b"".join(map(encode, frames))
    assert read_all(stream, list(range(len(stream)))) == frames


@given(st.binary(max_size=400), st.lists(st.integers(0, 400), max_size=6))
def test_any_bytes_give_frames_or_a_protocol_error(stream: bytes, cuts: list[int]) -> None:
    try:
        read_all(stream, cuts)
    except ProtocolError as error:
        assert 0 <= error.offset <= len(stream)
    except AssertionError:
        pass  # an unfinished frame is held back


def test_wrong_magic_names_offset_and_both_values() -> None:
    reader = FrameReader()
    with pytest.raises(
        ProtocolError, match=r"byte 12: wanted the frame magic 0x54455544, but 0x7a7a7a7a"
    ):
        assert [f.type for f in reader.feed(pack_frame(3) + b"z" * 12)] == [3]
        reader.feed(b"")


def test_a_huge_length_is_refused_before_its_payload_is_kept() -> None:
    reader = FrameReader(max_payload=100)
    header = struct.pack("<IHHI", 0x54455544, 4, 0, 101)
    with pytest.raises(ProtocolError, match="at most 100 bytes, but a length of 101") as caught:
        reader.feed(header)
    assert caught.value.offset == 8
    with pytest.raises(ProtocolError):
        reader.feed(pack_frame(3))


def test_flags_are_refused() -> None:
    with pytest.raises(ProtocolError, match="flags 0, but 0x0001"):
        FrameReader().feed(struct.pack("<IHHI", 0x54455544, 3, 1, 0))


@pytest.mark.parametrize(
    ("kind", "payload", "words"),
    [
        (99, b"", "known frame type, but type 99"),
        (FrameType.READY, b"x", "READY payload of 0 bytes, but 1 bytes"),
        (FrameType.LINE, b"12345678", "LINE payload of at least 9 bytes, but 8"),
        (FrameType.LINE, b"12345678\x03hi", "a stream number of 1 or 2, but 3"),
        (FrameType.FILE, b"no end", "a NUL"),
        (FrameType.STARTED, b"", "STARTED payload of 12 bytes"),
        (FrameType.BEAT, struct.pack("<QI", 1, 2) + bytes(16), "BEAT payload of 44 bytes"),
        (FrameType.BEAT, struct.pack("<QI", 1, 10**6), "1 to 64 CPUs, but 1000000"),
        (FrameType.STATS, struct.pack("<II", 0, 1) + bytes(40), "STATS payload of 56 bytes"),
        (FrameType.HELLO, b"cpus many\n", "a number for 'cpus', but 'many'"),
    ],
)
def test_a_malformed_payload_names_what_was_wanted(kind: int, payload: bytes, words: str) -> None:
    with pytest.raises(ProtocolError, match=words) as caught:
        decode_frame(RawFrame(kind, payload, 0))
    assert isinstance(caught.value, InputError)
    assert caught.value.remedy


@given(st.binary(max_size=300), st.lists(st.integers(0, 300), max_size=8))
def test_pages_come_whole_however_the_port_is_cut(stream: bytes, cuts: list[int]) -> None:
    splitter = PageSplitter(page_bytes=64)
    places = sorted({min(c, len(stream)) for c in cuts} | {0, len(stream)})
    pieces = [splitter.feed(stream[a:b]) for a, b in itertools.pairwise(places)]
    assert all(len(piece) % 64 == 0 for piece in pieces)
    assert b"".join(pieces) == stream[: len(stream) // 64 * 64]
    assert splitter.held_bytes == len(stream) % 64
    assert splitter.received_bytes == len(stream)
