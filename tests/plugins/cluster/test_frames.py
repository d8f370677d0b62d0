# SPDX-License-Identifier: GPL-2.0-or-later
"""What a pool says to its runners, and a runner that is given something else."""

from __future__ import annotations

import subprocess
import sys

import pytest

from duet.base.frames import BadFrame, pack_frame
from duet.plugins.cluster.frames import BEAT, QUIT, START, Start
from duet.plugins.cluster.program import Tail


def test_a_program_comes_back_and_anything_else_is_refused() -> None:
    start = Start(["a", "b"], {"A": "ü"}, b"\0\xff", 20.0)
    assert Start.unpacked(start.packed()) == start
    for wrong in (b"", b"\xc1", b"\x01", start.packed()[:-1]):
        with pytest.raises(BadFrame):
            Start.unpacked(wrong)


def test_the_last_part_of_much_is_held_and_the_rest_counted() -> None:
    tail = Tail(4)
    for part in (b"abc", b"", b"defg"):
        tail.feed(part)
    assert (bytes(tail.held), tail.cut_bytes) == (b"defg", 3)


@pytest.mark.parametrize(
    "sent",
    [b"", b"hello, world", pack_frame(BEAT), pack_frame(QUIT + 1), pack_frame(START, b"\x01")],
)
def test_a_runner_without_a_program_ends_with_a_sentence(sent: bytes) -> None:
    words = [sys.executable, "-m", "duet.plugins.cluster.runner"]
    done = subprocess.run(words, input=sent, capture_output=True, timeout=60)
    assert done.returncode == 2 and done.stderr.startswith(b"error: "), done
