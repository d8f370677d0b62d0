# SPDX-License-Identifier: GPL-2.0-or-later
"""Numbered frames: nothing is lost and nothing comes twice, however often the channel breaks."""

from __future__ import annotations

import random
import struct

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from duet.base.errors import InfraError
from duet.base.frames import Frame, FrameCutter, pack_frame
from duet.rpc.link import Link


def cut(sent: bytes) -> Frame:
    """The one frame that these bytes are."""
    (frame,) = FrameCutter(1000).feed(sent)
    return frame


class Wire:
    """Two links and the frames that are on their way."""

    def __init__(self, dice: random.Random) -> None:
        self.dice = dice
        self.ends = (Link(), Link())
        self.queues: tuple[list[bytes], list[bytes]] = ([], [])
        self.arrived: tuple[list[bytes], list[bytes]] = ([], [])
        self.connect()

    def connect(self) -> None:
        """A new channel: what was on its way is lost."""
        for side in (0, 1):
            self.queues[side].clear()
        for side in (0, 1):
            self.queues[1 - side].append(self.ends[side].pack_resume())

    def say(self, side: int, body: bytes) -> None:
        frame = self.ends[side].pack_message(body)
        if self.ends[side].resumed:
            self.queues[1 - side].append(frame)

    def carry(self, side: int) -> None:
        """One frame arrives at a side."""
        if not self.queues[side]:
            return
        had = self.ends[side].resumed
        body = self.ends[side].receive_frame(cut(self.queues[side].pop(0)))
        if self.ends[side].resumed and not had:
            self.queues[1 - side].extend(self.ends[side].unconfirmed_frames())
        if body is not None:
            self.arrived[side].append(body)
        if self.dice.random() < 0.3:
            self.queues[1 - side].append(self.ends[side].pack_ack())

    def settle(self) -> None:
        while any(self.queues):
            for side in (0, 1):
                self.carry(side)


@settings(max_examples=200, deadline=None)
@given(seed=st.integers(0, 1 << 32), turns=st.integers(1, 200))
def test_all_messages_arrive_once_and_in_order(seed: int, turns: int) -> None:
    dice = random.Random(seed)
    wire = Wire(dice)
    said: tuple[list[bytes], list[bytes]] = ([], [])
    for turn in range(turns):
        side = dice.randrange(2)
        match dice.randrange(8):
            case 0:
                wire.connect()
            case 1 | 2 | 3:
                said[side].append(b"%d" % turn)
                wire.say(side, said[side][-1])
            case _:
                wire.carry(side)
    wire.connect()
    wire.settle()
    assert wire.arrived == (said[1], said[0])
    for link in wire.ends:
        link.receive_frame(cut(wire.ends[1 - wire.ends.index(link)].pack_ack()))
        assert link.unconfirmed_bytes == 0


def connected() -> Link:
    link = Link(waiting_bytes=100)
    link.receive_frame(cut(Link().pack_resume()))
    return link


@pytest.mark.parametrize(
    "frame",
    [
        (0, b""),
        (0, struct.pack("<Q", 2) + b"a gap"),
        (1, struct.pack("<Q", 1)),
        (1, struct.pack("<Q", 0) + b"more"),
        (9, struct.pack("<Q", 0)),
    ],
    ids=["short", "gap", "confirms what was not sent", "too long", "kind"],
)
def test_what_a_sound_side_never_sends_is_refused(frame: tuple[int, bytes]) -> None:
    with pytest.raises(InfraError, match="do not understand each other"):
        connected().receive_frame(cut(pack_frame(*frame)))


def test_a_message_before_the_first_words_is_refused() -> None:
    with pytest.raises(InfraError, match="before RESUME"):
        Link().receive_frame(Frame(0, struct.pack("<Q", 1) + b"early"))


def test_a_side_that_confirms_nothing_is_given_up() -> None:
    link = connected()
    link.pack_message(bytes(90))
    with pytest.raises(InfraError, match="has not confirmed 90 bytes"):
        link.pack_message(bytes(90))
