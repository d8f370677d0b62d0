# SPDX-License-Identifier: GPL-2.0-or-later
"""What a pool and the runner of a program say over two pipes, by frames (duet.base.frames).

To the runner: one `START`, then `BEAT` until `QUIT` or the end of the pipe. From it: `OUT`, `ERR`,
`BEAT`, and at last `EXIT`. Words, environment and standard input of a program travel in `START`, so
secrets in them stand in no command line, and in nothing that `scontrol show job` prints.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import msgpack

from duet.base.frames import BadFrame, FrameCutter
from duet.plugins.cluster.limits import FRAME_BYTES, HEADER_BYTES

START, BEAT, QUIT, OUT, ERR, EXIT = b"SBQOEX"


def to_runner() -> FrameCutter:
    """Cuts what a pool says."""
    return FrameCutter(HEADER_BYTES, (START, BEAT, QUIT))


def from_runner() -> FrameCutter:
    """Cuts what a runner says."""
    return FrameCutter(FRAME_BYTES, (OUT, ERR, BEAT, EXIT))


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
