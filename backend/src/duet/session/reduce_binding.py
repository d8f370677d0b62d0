# SPDX-License-Identifier: GPL-2.0-or-later
"""The C functions of loop/, typed; loop/reduce.h says what they do.

ctypes frees the interpreter lock while they run.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from enum import IntEnum
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from duet.native import compiled, loaded
from duet.session.merge import Acts, Stream
from duet.session.program import SWITCH_EVENT, Program

FOLDER = Path(__file__).with_name("loop")
FLAGS = ("-fwrapv", "-fvisibility=hidden")
"""Times of a hostile recording may be as far apart as they like."""


class Why(IntEnum):
    """Why `run` came back."""

    NO_MEMORY = -1
    DONE = 0
    START = 1
    PLACE = 2
    LOST = 3
    NAMED = 4


class Out(IntEnum):
    """Tables of a handle."""

    SPANS = 0
    OPS = 1
    LINKS = 2
    OPEN = 3
    TIMES = 4


THREAD, OTHER = 1, 2
"""Roles of a thread, as bits."""

_HANDLE = ctypes.c_void_p
_INTS = ctypes.c_void_p
_INT_OUT = ctypes.POINTER(ctypes.c_int)
_SIGNATURES: dict[str, tuple[object, list[object]]] = {
    "reduce_new": (_HANDLE, [_INTS, ctypes.c_long]),
    "reduce_free": (None, [_HANDLE]),
    "reduce_know": (ctypes.c_int, [_HANDLE, ctypes.c_int64, ctypes.c_int]),
    "reduce_run": (ctypes.c_int, [_HANDLE, ctypes.c_long, *[_INTS] * 7]),
    "reduce_about": (ctypes.c_int64, [_HANDLE, ctypes.c_int]),
    "reduce_start": (None, [_HANDLE, ctypes.c_int64]),
    "reduce_thread": (
        ctypes.c_int,
        [_HANDLE, ctypes.c_long, ctypes.POINTER(ctypes.c_int64), _INT_OUT, _INT_OUT],
    ),
    "reduce_place": (None, [_HANDLE, ctypes.c_int64, ctypes.c_int]),
    "reduce_place_track": (None, [_HANDLE, ctypes.c_int, ctypes.c_int]),
    "reduce_still_open": (ctypes.c_int, [_HANDLE, ctypes.c_double]),
    "reduce_table": (ctypes.c_long, [_HANDLE, ctypes.c_int]),
    "reduce_column": (ctypes.c_void_p, [_HANDLE, ctypes.c_int, ctypes.c_int]),
    "reduce_clear": (None, [_HANDLE, ctypes.c_int]),
    "reduce_counts": (ctypes.POINTER(ctypes.c_int64), [_HANDLE]),
    "reduce_cycles": (ctypes.c_int64, [_HANDLE]),
}


def ensure(flags: Sequence[str] = ()) -> Path:
    """The library, compiled if need be (see native.compiled)."""
    first = FOLDER / "run.c"
    rest = [file for file in FOLDER.iterdir() if file != first and file.suffix in (".c", ".h")]
    return compiled(first, rest=sorted(rest), flags=(*FLAGS, *flags))


@cache
def library() -> ctypes.CDLL:
    """The compiled loop, loaded once.

    Raises:
        InfraError: it is not built and cannot be built.
    """
    return loaded(ensure(), _SIGNATURES)


class Loop:
    """One struct reduce; one thread at a time may use it."""

    def __init__(self, program: Program, own_acts: Acts) -> None:
        self._lib = library()
        self._kinds = len(program.kinds)
        words = np.array(program_words(program, own_acts), np.int64)
        self._handle = ctypes.c_void_p(self._lib.reduce_new(words.ctypes.data, len(words)))
        if not self._handle:
            raise MemoryError("reduce_new")

    def __del__(self) -> None:
        if getattr(self, "_handle", None):
            self._lib.reduce_free(self._handle)
            self._handle = ctypes.c_void_p()

    def know(self, tid: int, role: int) -> None:
        """A thread of the workload appears, or its role changed."""
        if self._lib.reduce_know(self._handle, tid, role):
            raise MemoryError("reduce_know")

    def run(self, stream: Stream) -> tuple[Why, int]:
        """Work on events until the caller is needed: why, and about what.

        For anything but DONE answer, then call again with the same stream.
        """
        columns = [
            np.ascontiguousarray(column, np.int64)
            for column in (
                stream.ts, stream.cpu, stream.code, stream.pid, stream.a, stream.b, stream.c
            )
        ]  # fmt: skip
        pointers = [column.ctypes.data for column in columns]
        why = Why(self._lib.reduce_run(self._handle, len(stream), *pointers))
        if why is Why.NO_MEMORY:
            raise MemoryError("reduce_run")
        return why, int(self._lib.reduce_about(self._handle, why))

    def start(self, origin_ns: int) -> None:
        """Time begins."""
        self._lib.reduce_start(self._handle, origin_ns)

    def threads(self) -> list[tuple[int, bool, int]]:
        """(tid, gone, row or -1) of all threads that had an event, or were there at the start."""
        found: list[tuple[int, bool, int]] = []
        tid, gone, row = ctypes.c_int64(), ctypes.c_int(), ctypes.c_int()
        outs = ctypes.byref(tid), ctypes.byref(gone), ctypes.byref(row)
        while self._lib.reduce_thread(self._handle, len(found), *outs):
            found.append((tid.value, bool(gone.value), row.value))
        return found

    def place(self, tid: int, row: int) -> None:
        """A thread has this row from now on."""
        self._lib.reduce_place(self._handle, tid, row)

    def place_track(self, track: int, row: int) -> None:
        """A track has this row from now on."""
        self._lib.reduce_place_track(self._handle, track, row)

    def still_open(self, mark_ns: float) -> None:
        """Fill the table OPEN."""
        if self._lib.reduce_still_open(self._handle, mark_ns):
            raise MemoryError("reduce_still_open")

    def rows(self, table: Out) -> int:
        """Rows that `take` would give."""
        return int(self._lib.reduce_table(self._handle, table))

    def take(self, table: Out, dtypes: tuple[str, ...]) -> list[NDArray[np.generic]]:
        """The columns of a table, which is empty afterwards.

        Args:
            dtypes: of all its columns, as wide as those in loop/program.c.
        """
        n = self.rows(table)
        columns = [self._column(table, place, n, dtype) for place, dtype in enumerate(dtypes)]
        self._lib.reduce_clear(self._handle, table)
        return columns

    def _column(self, table: Out, place: int, n: int, dtype: str) -> NDArray[np.generic]:
        width = np.dtype(dtype).itemsize
        if not n:
            return np.empty(0, dtype)
        cells = ctypes.string_at(self._lib.reduce_column(self._handle, table, place), n * width)
        return np.frombuffer(cells, dtype)

    def counts(self) -> list[int]:
        """Spans by kind, so far."""
        return list(self._lib.reduce_counts(self._handle)[: self._kinds])

    @property
    def cycles(self) -> int:
        """Ended cycles of the lesson's first track."""
        return int(self._lib.reduce_cycles(self._handle))


def program_words(program: Program, own_acts: Acts) -> list[int]:
    """The program as reduce_new() reads it.

    Args:
        own_acts: of the merger's own codes, which follow those of the program.
    """
    p = program
    words = [p.running, p.runnable, p.wait_other, p.codes.get(SWITCH_EVENT, -1), len(p.kinds)]
    acts = (*p.acts, *own_acts)
    words.append(len(acts))
    for pairs in acts:
        words += [len(pairs), *(int(number) for pair in pairs for number in pair)]
    words.append(len(p.groups))
    for group in p.groups:
        words.append(len(group))
        for rule in group:
            words += [rule.kind, rule.wait, rule.arg, int(rule.counts), len(rule.when)]
            words += [number for pair in rule.when for number in pair]
    words.append(len(p.tracks))
    for track in p.tracks:
        steps = [
            (v, after, opens) for v, choices in track.steps.items() for after, opens in choices
        ]
        words += [int(track.cycles), len(steps), *(number for step in steps for number in step)]
    words.append(len(p.links))
    for link in p.links:
        words += [link.during, link.track, link.kind]
    return words
