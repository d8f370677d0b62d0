# SPDX-License-Identifier: GPL-2.0-or-later
"""Messages with blobs: whole as they were sent, and nothing is allocated for what is too much."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from duet.base.frames import BadFrame, Closed, pack_frame
from duet.confine.messages import MOST_BLOBS, BadReply, ReplyReader, receive, send


class Pipe:
    """What was written, to be read."""

    def __init__(self, held: bytes = b"") -> None:
        self.held = bytearray(held)

    def write(self, part: memoryview) -> int:
        self.held += part
        return len(part)

    def read(self, part: memoryview) -> int:
        came = self.held[: min(len(part), 100)]
        part[: len(came)] = came
        del self.held[: len(came)]
        return len(came)


def message(count: int, lengths: list[int], body: bytes = b"", kind: int = 0) -> bytes:
    return pack_frame(kind, struct.pack(f"<I{len(lengths)}Q", count, *lengths), body)


@given(st.lists(st.tuples(st.binary(max_size=300), st.lists(st.binary(max_size=300), max_size=5))))
def test_messages_come_back_with_their_blobs(sent: list[tuple[bytes, list[bytes]]]) -> None:
    pipe = Pipe()
    for body, blobs in sent:
        send(pipe.write, body, blobs)
    found = [receive(pipe.read, 300, 1500) for _ in sent]
    assert [(bytes(body), [bytes(blob) for blob in blobs]) for body, blobs in found] == sent
    with pytest.raises(Closed):
        receive(pipe.read, 300, 1500)


@pytest.mark.parametrize(
    ("head", "why"),
    [
        (message(0, [], b"x" * 101), "a body of 101 bytes and 0 blobs"),
        (message(1, [2, 3], b"x" * 100), "a body of 108 bytes and 1 blobs"),
        (message(MOST_BLOBS + 1, [0] * (MOST_BLOBS + 1)), f"{MOST_BLOBS + 1} blobs"),
        (message(2, [1]), "a body of -8 bytes and 2 blobs"),
        (message((1 << 32) - 1, []), "4294967295 blobs"),
        (message(0, [], kind=1), "a body of 0 bytes"),
        (pack_frame(0, b"\1\0"), "a body of -10 bytes"),
        (pack_frame(0), "a body of -4 bytes"),
        (message(3, [500, 500, 1]), "blobs of 1001 bytes"),
        (message(2, [(1 << 64) - 1, 2]), "blobs of 18446744073709551617 bytes"),
        (struct.pack("<IB", 1 << 31, 0), "2147483648 bytes"),
    ],
)
def test_a_head_that_announces_too_much_is_refused(head: bytes, why: str) -> None:
    with pytest.raises(BadFrame, match=why):
        receive(Pipe(head).read, 100, 1000)


@given(st.binary(max_size=100))
def test_any_bytes_are_a_message_or_refused(head: bytes) -> None:
    try:
        body, blobs = receive(Pipe(head).read, 100, 1000)
        assert len(body) <= 100 and sum(map(len, blobs)) <= 1000
    except (BadFrame, Closed):
        pass


def test_a_blob_is_read_only_and_of_the_length_that_is_asked_for() -> None:
    reply = ReplyReader({}, [bytearray(b"12345678"), bytearray(b"1234")])
    assert reply.blob(8).readonly
    with pytest.raises(BadReply, match="a blob has 4 bytes instead of 8"):
        reply.blob(8)
    with pytest.raises(BadReply, match="too few blobs"):
        reply.blob()
