# SPDX-License-Identifier: GPL-2.0-or-later
"""Frames between a pool and its runners, and a runner that is given something else."""

from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from duet.plugins.cluster.frames import BEAT, EXIT, OUT, START, BadFrame, Frames, Start, frame
from duet.plugins.cluster.program import Tail

KINDS = st.sampled_from([START, BEAT, OUT, EXIT])


@given(st.lists(st.tuples(KINDS, st.binary(max_size=300))), st.integers(1, 50))
def test_frames_come_back_however_the_bytes_are_cut(
    sent: list[tuple[bytes, bytes]], size: int
) -> None:
    whole = b"".join(frame(kind, payload) for kind, payload in sent)
    frames = Frames()
    parts = [whole[at : at + size] for at in range(0, len(whole), size)]
    assert [one for part in parts for one in frames.feed(part)] == sent


@given(st.binary(min_size=5, max_size=50))
def test_other_bytes_are_frames_or_refused(text: bytes) -> None:
    try:
        assert all(kind in b"SBQOEX" for kind, _ in Frames().feed(text))
    except BadFrame as error:
        assert "no frame begins with" in str(error)


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


@pytest.mark.parametrize("sent", [b"", b"hello, world", frame(BEAT), frame(START, b"\x01")])
def test_a_runner_without_a_program_ends_with_a_sentence(sent: bytes) -> None:
    words = [sys.executable, "-m", "duet.plugins.cluster.runner"]
    done = subprocess.run(words, input=sent, capture_output=True, timeout=60)
    assert done.returncode == 2 and done.stderr.startswith(b"error: "), done
