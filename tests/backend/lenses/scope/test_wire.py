# SPDX-License-Identifier: GPL-2.0-or-later
"""The microscope's bytes: every split gives the same messages, rubbish gives a sentence."""

from __future__ import annotations

import itertools
import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from duet.base.errors import KernelError
from duet.lenses.scope import CELL, RECORD, Cells, Hello, Log, Reply, ScopeReader, watch_line


def frame(kind: int, body: bytes) -> bytes:
    return struct.pack("<IB", 1 + len(body), kind) + body


def cells_body(counts: list[int], flags: int, cells: int, lines: int) -> bytes:
    table = np.zeros(cells + lines, CELL)
    table["address"] = range(cells + lines)
    table["rmws"] = 7
    return struct.pack("<12Q3I", *counts, flags, cells, lines) + table.tobytes()


HELLO = frame(1, struct.pack("<4I", 2, 1, 2, 18))
CELLS = frame(2, cells_body(list(range(100, 112)), 3, 2, 1))
RECORDS = np.array([(0, 5, 1, -8, 3, 1, 2, 4, 0, 0), (1, 6, 1, 88, 3, 0, 0, 8, 0, 0)], dtype=RECORD)
STREAM = HELLO + frame(4, b"ok watch") + frame(3, RECORDS.tobytes()) + CELLS


def test_records_are_as_long_as_the_plugins() -> None:
    assert (CELL.itemsize, RECORD.itemsize) == (40, 32)


@given(st.lists(st.integers(1, len(STREAM) - 1), max_size=8))
def test_every_split_gives_the_same_messages(cuts: list[int]) -> None:
    reader, got, edges = ScopeReader(), [], [0, *sorted(cuts), len(STREAM)]
    for start, end in itertools.pairwise(edges):
        got += reader.feed(STREAM[start:end])
    hello, reply, log, cells = got
    assert hello == Hello(protocol=2, api=1, vcpus=2, functions=18)
    assert reply == Reply(True, "watch")
    assert isinstance(log, Log) and log.records.tolist() == RECORDS.tolist()
    assert isinstance(cells, Cells) and cells.full and cells.answer
    assert (cells.host_ns, cells.logged, cells.ops_touching) == (100, 101, 108)
    assert (cells.ops_slept, cells.ops_left, cells.ops_again) == (109, 110, 111)
    assert cells.ops_broken == 109 + 110 + 111
    assert cells.cells["address"].tolist() == [0, 1]
    assert cells.lines["address"].tolist() == [2]
    assert cells.lines["rmws"].tolist() == [7]


def test_a_refusal_is_a_sentence() -> None:
    reader = ScopeReader()
    reader.feed(HELLO)
    assert reader.feed(frame(4, b"error: wanted a line.")) == [Reply(False, "wanted a line.")]


@pytest.mark.parametrize(
    ("stream", "sentence"),
    [
        (struct.pack("<I", 0), "wanted a length of 1 to"),
        (struct.pack("<I", 1 << 31), "wanted a length of 1 to"),
        (frame(1, b"short"), "expected a hello of 16 bytes, but got 5 bytes"),
        (frame(1, struct.pack("<4I", 1, 1, 2, 18)), "expected protocol 2, but got protocol 1"),
        (CELLS, "expected exactly one hello, as the first frame, but got type 2"),
        (HELLO + HELLO, "expected exactly one hello, as the first frame, but got type 1"),
        (HELLO + frame(5, b""), "expected a frame of type 1 to 4, but got type 5"),
        (
            HELLO + frame(3, bytes(33)),
            "expected a multiple of 32 bytes, the size of a record, but got 33 bytes",
        ),
        (HELLO + frame(2, bytes(107)), "expected cells of at least 108 bytes, but got 107 bytes"),
        (HELLO + frame(2, cells_body([0] * 12, 0, 2, 1)[:-1]), "2 cells and 1 lines in 228"),
        (
            HELLO + frame(4, b"well"),
            "expected a reply that begins with `ok` or `error:`, but got 'well'",
        ),
    ],
)
def test_rubbish_is_named_and_stays_an_error(stream: bytes, sentence: str) -> None:
    reader = ScopeReader()
    whole = reader.feed(HELLO) if stream.startswith(HELLO) else []
    with pytest.raises(KernelError, match=sentence):
        reader.feed(stream[len(HELLO) * len(whole) :])
    with pytest.raises(KernelError, match=sentence):
        reader.feed(b"")


def test_what_came_whole_before_the_rubbish_counts() -> None:
    reader = ScopeReader()
    assert len(reader.feed(HELLO + CELLS + frame(9, b""))) == 2
    with pytest.raises(KernelError, match="type 9"):
        reader.feed(b"")


def test_a_line_to_the_plugin() -> None:
    assert watch_line(0xFFFF888004A86000, 192, 20000) == b"watch ffff888004a86000 192 20000\n"
    with pytest.raises(AssertionError, match="an object of 1025 bytes"):
        watch_line(0, 1025, 0)
