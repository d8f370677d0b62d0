# SPDX-License-Identifier: GPL-2.0-or-later
"""Frames between a pool and a program's runner, over two pipes (duet.base.frames).

The pool sends one `START`, then `BEAT` until `QUIT` or the end of the pipe. The runner sends `OUT`,
`ERR` and `BEAT`, and `EXIT` last. A program's arguments, environment and standard input travel in
`START`, so secrets in them appear neither in a command line nor in `scontrol show job`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import msgpack

from duet.base.frames import BadFrame, FrameCutter
from duet.plugins.cluster.limits import FRAME_BYTES, HEADER_BYTES

START, BEAT, QUIT, OUT, ERR, EXIT = b"SBQOEX"


def to_runner() -> FrameCutter:
    """Return a parser that splits a pool's bytes to a runner into frames."""
    return FrameCutter(HEADER_BYTES, (START, BEAT, QUIT))


def from_runner() -> FrameCutter:
    """Return a parser that splits a runner's bytes into frames."""
    return FrameCutter(FRAME_BYTES, (OUT, ERR, BEAT, EXIT))


@dataclass(frozen=True, slots=True)
class Start:
    """A program to start.

    Args:
        argv: its arguments.
        env: its environment, in addition to the host's common variables.
        stdin: its complete standard input.
        silent_s: time without a heartbeat after which the runner ends the program.
    """

    argv: Sequence[str]
    env: Mapping[str, str]
    stdin: bytes
    silent_s: float

    def packed(self) -> bytes:
        """Encode this as a frame's payload."""
        return bytes(
            msgpack.packb([list(self.argv), dict(self.env), self.stdin, float(self.silent_s)])
        )

    @classmethod
    def unpacked(cls, payload: bytes) -> Start:
        """Decode a payload.

        Raises:
            BadFrame: the payload is invalid.
        """
        try:
            argv, env, stdin, silent_s = msgpack.unpackb(payload)
        except (ValueError, TypeError, msgpack.UnpackException) as error:
            raise BadFrame(f"a program's arguments cannot be read: {error}") from None
        return cls(argv, env, stdin, silent_s)
