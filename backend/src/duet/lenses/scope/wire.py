# SPDX-License-Identifier: GPL-2.0-or-later
"""Parser of the microscope's byte stream into messages. No I/O.

The sender is vm-images/microscope/wire.c, which writes the frames that duet.base.frames describes.
PROTOCOL.md in that folder explains the numbers.
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
"""Maximum length of a frame's type and payload. The plugin's full table, 524,288 cells of 40 bytes,
is smaller.
"""
MAX_WATCH_BYTES = 1024
MAX_LOG = 1 << 24
NO_FUNCTION = 0xFFFF
"""Function number of a record that holds the sum over a whole cache line."""

READ, WRITE, RMW = 0, 1, 2
"""Classes of accesses. An atomic operation counts once, as RMW."""

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
"""Counts of the accesses that one function made at one address, either inside or outside
operations. `sizes`: bit k stands for an access of 2^k bytes. `cpus`: bit n stands for vCPU n
(modulo 32)."""

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
"""One access to a watched line. `at` is negative if the object begins inside its first line and the
access is before the object."""

_HELLO = struct.Struct("<4I")
_CELLS = struct.Struct("<12Q3I")
_Counts = tuple[int, int, int, int, int, int, int, int, int, int, int, int]
_FULL, _ANSWER = 1, 2

Cellwise = npt.NDArray[np.void]
"""A structured array of CELL or RECORD."""


@dataclass(frozen=True, slots=True)
class Hello:
    """The first message. `api` is the version of the plugin API, `functions` the number of observed
    functions."""

    protocol: int
    api: int
    vcpus: int
    functions: int


@dataclass(frozen=True, slots=True, eq=False)
class Cells:
    """Counts since the last `watch` or `reset`.

    Args:
        host_ns: time of the counts on the host's CLOCK_MONOTONIC.
        logged: accesses that were logged since `watch`, whether sent already or not.
        lost: accesses to watched lines that were dropped because a vCPU's ring was full.
        over: accesses to watched lines after the log was full.
        accesses: number of accesses by all functions to all lines; an access that crosses the end
            of a line counts twice.
        untold: accesses that found no room in a vCPU's table; `accesses` includes them, but no cell
            does.
        ops_begun: entries of the operation's function.
        ops_ended: operations that reached their `ret` uninterrupted.
        ops_touching: ended operations with at least one access to the watched object.
        ops_slept: operations cut off by a task switch on their vCPU.
        ops_left: operations cut off by a tail call, a jump to another function.
        ops_again: operations whose function was entered again before they ended.
        full: whether there are cells for all lines; otherwise there are cells only for watched
            lines.
        answer: whether this message answers `snapshot`.
        cells: CELL array.
        lines: CELL array of the busiest other lines, one sum per line.
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
        """Number of operations that were cut off, for whatever reason."""
        return self.ops_slept + self.ops_left + self.ops_again


@dataclass(frozen=True, slots=True, eq=False)
class Log:
    """RECORD array of accesses to watched lines, in order. `seq` increases by 1 per access."""

    records: Cellwise


@dataclass(frozen=True, slots=True)
class Reply:
    """Answer to `watch` and `reset`, or the reason why a command was refused."""

    ok: bool
    text: str


Message = Hello | Cells | Log | Reply


def watch_line(address: int, size: int, log: int) -> bytes:
    """Build the command that watches the lines of `size` bytes at `address` and resets the counts.

    Args:
        log: maximum number of logged accesses.
    """
    assert 0 < size <= MAX_WATCH_BYTES, f"an object of {size} bytes"
    assert 0 <= log <= MAX_LOG, f"a log of {log} accesses"
    return f"watch {address:x} {size} {log}\n".encode()


RESET = b"reset\n"
"""Command that resets the counts to zero. The log continues."""
SNAPSHOT = b"snapshot\n"
"""Command that requests a full `Cells` message, which follows everything logged so far."""


class ScopeReader:
    """Collects bytes and returns the messages that are complete.

    After an error, the reader stays broken and raises the same error again.
    """

    def __init__(self) -> None:
        self._frames = FrameCutter(MAX_FRAME - 1)
        self._greeted = False
        self._broken: KernelError | None = None

    def feed(self, chunk: bytes) -> list[Message]:
        """Return all messages that are complete with this chunk, in order.

        Raises:
            KernelError: the bytes are not from a microscope of this version.
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
        if self._broken and not messages:  # first return the messages that precede the break
            raise self._broken
        return messages

    def _decode(self, kind: int, body: bytes) -> Message:
        if (kind == 1) is self._greeted:
            raise _unexpected("exactly one hello, as the first frame", f"type {kind}")
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
        raise _unexpected("a frame of type 1 to 4", f"type {kind}")


def _hello(body: bytes) -> Hello:
    if len(body) != _HELLO.size:
        raise _unexpected(f"a hello of {_HELLO.size} bytes", f"{len(body)} bytes")
    hello = Hello(*_HELLO.unpack(body))
    if hello.protocol != PROTOCOL:
        raise _unexpected(f"protocol {PROTOCOL}", f"protocol {hello.protocol}")
    return hello


def _cells(body: bytes) -> Cells:
    if len(body) < _CELLS.size:
        raise _unexpected(f"cells of at least {_CELLS.size} bytes", f"{len(body)} bytes")
    *numbers, flags, cells, lines = _CELLS.unpack_from(body)
    wanted = _CELLS.size + (cells + lines) * CELL.itemsize
    if len(body) != wanted:
        raise _unexpected(
            f"{cells} cells and {lines} lines in {wanted} bytes", f"{len(body)} bytes"
        )
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
    raise _unexpected("a reply that begins with `ok` or `error:`", f"{text!r:.40}")


def _whole(body: bytes, dtype: np.dtype[Any]) -> int:
    count, rest = divmod(len(body), dtype.itemsize)
    if rest:
        raise _unexpected(
            f"a multiple of {dtype.itemsize} bytes, the size of a record", f"{len(body)} bytes"
        )
    return count


def _table(body: bytes, offset: int, dtype: np.dtype[Any], count: int) -> Cellwise:
    return np.frombuffer(body, dtype, count, offset)


def _unexpected(wanted: str, came: str) -> KernelError:
    return _broken(f"expected {wanted}, but got {came}")


def _broken(why: str) -> KernelError:
    return KernelError(
        f"the microscope's stream is broken: {why}.",
        remedy="Start the run again; the microscope is recompiled when its source has changed.",
    )
