# SPDX-License-Identifier: GPL-2.0-or-later
"""Frames between a pool and the runner of a program, over two pipes. Sans I/O.

A frame is a letter, four bytes of length (big-endian) and that many bytes. To the runner: one
`START`, then `BEAT` until `QUIT` or the end of the pipe. From it: `OUT`, `ERR`, `BEAT`, and at last
`EXIT`. Words, environment and standard input of a program travel in `START`, so secrets in them
stand in no command line, and in nothing that `scontrol show job` prints.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import msgpack

from duet.plugins.cluster.limits import HEADER_BYTES

START: Final = b"S"
BEAT: Final = b"B"
QUIT: Final = b"Q"
OUT: Final = b"O"
ERR: Final = b"E"
EXIT: Final = b"X"
_HEAD: Final = struct.Struct(">cI")


class BadFrame(Exception):
    """What came is no frame."""


def frame(kind: bytes, payload: bytes = b"") -> bytes:
    """One frame."""
    return _HEAD.pack(kind, len(payload)) + payload


@dataclass(frozen=True, slots=True)
class Start:
    """A program.

    Args:
        argv: its words.
        env: its environment, beside what the host's has for everybody.
        stdin: all of its standard input.
        silent_s: it ends when no beat has come for so long.
    """

    argv: Sequence[str]
    env: Mapping[str, str]
    stdin: bytes
    silent_s: float

    def packed(self) -> bytes:
        """As a frame's payload."""
        return bytes(
            msgpack.packb([list(self.argv), dict(self.env), self.stdin, float(self.silent_s)])
        )

    @classmethod
    def unpacked(cls, payload: bytes) -> Start:
        """What `packed` gave.

        Raises:
            BadFrame: it is none.
        """
        try:
            argv, env, stdin, silent_s = msgpack.unpackb(payload)
        except (ValueError, TypeError, msgpack.UnpackException) as error:
            raise BadFrame(f"a program's words cannot be read: {error}") from None
        return cls(argv, env, stdin, silent_s)


@dataclass(slots=True)
class Frames:
    """Cuts bytes into frames."""

    _rest: bytearray = field(default_factory=bytearray)

    def feed(self, more: bytes) -> Iterator[tuple[bytes, bytes]]:
        """Kind and payload of each frame that is whole.

        Raises:
            BadFrame: another program has written to the pipe.
        """
        self._rest += more
        while len(self._rest) >= _HEAD.size:
            kind, length = _HEAD.unpack_from(self._rest)
            if kind not in b"SBQOEX" or length > HEADER_BYTES:
                raise BadFrame(f"no frame begins with {bytes(self._rest[:40])!r}")
            if len(self._rest) < _HEAD.size + length:
                return
            payload = bytes(self._rest[_HEAD.size : _HEAD.size + length])
            del self._rest[: _HEAD.size + length]
            yield kind, payload
