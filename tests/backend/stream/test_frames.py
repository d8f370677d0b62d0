# SPDX-License-Identifier: GPL-2.0-or-later
"""Messages that are written together are the same messages to a client that knows the protocol."""

from __future__ import annotations

import pytest
from websockets.frames import Frame, Opcode

from duet.messages.codec import Packet
from duet.stream.outbox import Outbox
from duet.stream.packets import binary_head
from duet.stream.viewer import WRITE_BYTES, WRITE_MESSAGES, waiting_with


@pytest.mark.parametrize("length", [0, 1, 125, 126, 127, 65535, 65536, 1 << 20])
def test_a_frame_is_what_the_library_makes(length: int) -> None:
    body = b"x" * length
    assert binary_head(length) + body == Frame(Opcode.BINARY, body).serialize(mask=False)


def test_as_much_is_sent_together_as_waits_and_no_more() -> None:
    outbox = Outbox()
    assert waiting_with(b"one", outbox) == [b"one"]
    for number in range(WRITE_MESSAGES + 5):
        outbox.put(Packet(b"%d" % number, "batch"))
    first = waiting_with(b"one", outbox)
    assert first == [b"one", *(b"%d" % n for n in range(WRITE_MESSAGES - 1))]
    rest = outbox.pop()
    assert rest is not None
    assert len(waiting_with(rest.body, outbox)) == 6 and outbox.pop() is None
    for _ in range(3):
        outbox.put(Packet(b"x" * WRITE_BYTES, "batch"))
    assert len(waiting_with(b"", outbox)) == 2
