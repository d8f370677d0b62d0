# SPDX-License-Identifier: GPL-2.0-or-later
"""Bytes of the microscope become its messages, however they were split. No I/O.

The other side is vm-images/microscope/wire.c, which writes frames as duet.base.frames reads them;
PROTOCOL.md there says what the numbers mean.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from duet.base.errors import KernelError
from duet.base.frames import BadFrame, FrameCutter

PROTOCOL = 2
MAX_FRAME = 32 << 20
"""Of a frame's type and payload. Longer than the plugin's fullest table: 524,288 cells of 40
bytes."""
MAX_WATCH_BYTES = 1024
MAX_LOG = 1 << 24
NO_FUNCTION = 0xFFFF
"""Function of a record that sums a whole line."""

READ, WRITE, RMW = 0, 1, 2
"""Classes of accesses; an atomic is the third, once."""

CELL = np.dtype(
    [
        ("address", "<u8"),
        ("function", "<u2"),
        ("inside", "u1"),
        ("sizes", "u1"),
        ("cpus", "<u4"),
        ("reads", "<u8"),
        ("writes", "<u8"),
        ("rmws", "<u8"),
    ]
)
"""Accesses at one address by one function, inside an operation or not; `sizes`: bit k for 2^k;
`cpus`: bit n for vCPU n (modulo 32)."""

RECORD = np.dtype(
    [
        ("seq", "<u8"),
        ("host_ns", "<u8"),
        ("operation", "<u4"),
        ("at", "<i2"),
        ("function", "<u2"),
        ("cpu", "u1"),
        ("class", "u1"),
        ("size", "u1"),
        ("pad", "u1"),
        ("pad2", "<u4"),
    ]
)
"""One access to a watched line. `at` is negative before the object's start, if it begins within
its first line."""

_HELLO = struct.Struct("<4I")
_CELLS = struct.Struct("<12Q3I")
_Counts = tuple[int, int, int, int, int, int, int, int, int, int, int, int]
_FULL, _ANSWER = 1, 2

Cellwise = npt.NDArray[np.void]
"""A structured array of CELL or RECORD."""


@dataclass(frozen=True, slots=True)
class Hello:
    """First of all. `api`: the plugin API's version; `functions`: how many are looked at."""

    protocol: int
    api: int
    vcpus: int
    functions: int


@dataclass(frozen=True, slots=True, eq=False)
class Cells:
    """Counts since the zero (`watch` or `reset`).

    Args:
        host_ns: CLOCK_MONOTONIC.
        logged: accesses in the log since `watch`; sent or still to be sent.
        lost: accesses to watched lines that found no room in a vCPU's ring.
        over: accesses to watched lines after the log was used up.
        accesses: of all functions to all lines; an access that crosses a line's end counts twice.
        untold: accesses that found no room in a vCPU's table: in `accesses`, in no cell.
        ops_begun: entries of the operation's function.
        ops_ended: those that came to its `ret` undisturbed.
        ops_touching: ended ones with at least one access to the watched object.
        ops_slept: those broken off by a change of task on their vCPU.
        ops_left: those broken off by a jump to another function, a tail call.
        ops_again: those whose function was entered again before their end.
        full: cells are of all lines; else of watched lines only.
        answer: this is the answer to `snapshot`.
        cells: CELL array.
        lines: CELL array, the busiest other lines, each summed.
    """

    host_ns: int
    logged: int
    lost: int
    over: int
    accesses: int
    untold: int
    ops_begun: int
    ops_ended: int
    ops_touching: int
    ops_slept: int
    ops_left: int
    ops_again: int
    full: bool
    answer: bool
    cells: Cellwise
    lines: Cellwise

    @property
    def ops_broken(self) -> int:
        """Operations that began and were broken off, for whatever reason."""
        return self.ops_slept + self.ops_left + self.ops_again


@dataclass(frozen=True, slots=True, eq=False)
class Log:
    """RECORD array: accesses to watched lines in order, each `seq` one more than the last."""

    records: Cellwise


@dataclass(frozen=True, slots=True)
class Reply:
    """Answer to `watch` and `reset`, or why a line was refused."""

    ok: bool
    text: str


Message = Hello | Cells | Log | Reply


def watch_line(address: int, size: int, log: int) -> bytes:
    """Watch the lines of `size` bytes at `address`, log at most `log` accesses; counts from 0."""
    assert 0 < size <= MAX_WATCH_BYTES, f"an object of {size} bytes"
    assert 0 <= log <= MAX_LOG, f"a log of {log} accesses"
    return f"watch {address:x} {size} {log}\n".encode()


RESET = b"reset\n"
"""Counts from zero; the log goes on."""
SNAPSHOT = b"snapshot\n"
"""A full `Cells`, after all of the log so far."""


class ScopeReader:
    """Collects bytes and hands out whole messages.

    After an error the reader stays broken: it raises the same error again.
    """

    def __init__(self) -> None:
        self._frames = FrameCutter(MAX_FRAME - 1)
        self._greeted = False
        self._broken: KernelError | None = None

    def feed(self, chunk: bytes) -> list[Message]:
        """All messages that are complete with this chunk, in order.

        Raises:
            KernelError: these are no bytes of a microscope of this version.
        """
        if self._broken:
            raise self._broken
        messages: list[Message] = []
        try:
            for kind, body in self._frames.feed(chunk):
                messages.append(self._decode(kind, body))
        except BadFrame as error:
            self._broken = _broken(str(error))
        except KernelError as error:
            self._broken = error
        if self._broken and not messages:  # what came whole before the break still counts
            raise self._broken
        return messages

    def _decode(self, kind: int, body: bytes) -> Message:
        if (kind == 1) is self._greeted:
            raise _rubbish("one hello, first of all", f"type {kind}")
        self._greeted = True
        match kind:
            case 1:
                return _hello(body)
            case 2:
                return _cells(body)
            case 3:
                return Log(_table(body, 0, RECORD, _whole(body, RECORD)))
            case 4:
                return _reply(body)
        raise _rubbish("a frame of type 1 to 4", f"type {kind}")


def _hello(body: bytes) -> Hello:
    if len(body) != _HELLO.size:
        raise _rubbish(f"a hello of {_HELLO.size} bytes", f"{len(body)}")
    hello = Hello(*_HELLO.unpack(body))
    if hello.protocol != PROTOCOL:
        raise _rubbish(f"protocol {PROTOCOL}", f"protocol {hello.protocol}")
    return hello


def _cells(body: bytes) -> Cells:
    if len(body) < _CELLS.size:
        raise _rubbish(f"cells of at least {_CELLS.size} bytes", f"{len(body)}")
    *numbers, flags, cells, lines = _CELLS.unpack_from(body)
    wanted = _CELLS.size + (cells + lines) * CELL.itemsize
    if len(body) != wanted:
        raise _rubbish(f"{cells} cells and {lines} lines in {wanted} bytes", f"{len(body)}")
    table = _table(body, _CELLS.size, CELL, cells + lines)
    counts: _Counts = tuple(numbers)
    return Cells(
        *counts,
        full=bool(flags & _FULL),
        answer=bool(flags & _ANSWER),
        cells=table[:cells],
        lines=table[cells:],
    )


def _reply(body: bytes) -> Reply:
    text = body.decode("ascii", errors="replace")
    kind, _, rest = text.partition(" ")
    if kind == "error:":
        return Reply(False, rest)
    if kind == "ok":
        return Reply(True, rest)
    raise _rubbish("a reply of `ok` or `error:`", f"{text!r:.40}")


def _whole(body: bytes, dtype: np.dtype[Any]) -> int:
    count, rest = divmod(len(body), dtype.itemsize)
    if rest:
        raise _rubbish(f"records of {dtype.itemsize} bytes", f"{len(body)} bytes")
    return count


def _table(body: bytes, offset: int, dtype: np.dtype[Any], count: int) -> Cellwise:
    return np.frombuffer(body, dtype, count, offset)


def _rubbish(wanted: str, came: str) -> KernelError:
    return _broken(f"wanted {wanted}, but {came} came")


def _broken(why: str) -> KernelError:
    return KernelError(
        f"the microscope's stream is broken: {why}.",
        remedy="Start the run again; the microscope is compiled anew when its source changed.",
    )
