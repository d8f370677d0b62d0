# SPDX-License-Identifier: GPL-2.0-or-later
"""Packets of a run on their way from a host process to the server.

What comes is checked: nothing but messages of that run goes on to browsers, whatever the process
beside the guests has become.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Annotated, Final

import msgpack
from pydantic import Field, TypeAdapter, ValidationError

from duet.errors import InfraError
from duet.stream import messages as m
from duet.stream.codec import Packet, labelled, pack_line

RunMessage = Annotated[
    m.Run | m.Lane | m.Rows | m.Batch | m.Metrics | m.Loss | m.Sample | m.Lens | m.Held | m.Line,
    Field(discriminator="type"),
]
_RUN: Final[TypeAdapter[RunMessage]] = TypeAdapter(RunMessage)
FIXED: Final = ("lesson", "source", "purpose", "clock", "shift", "workload", "arms")
"""What a run has from the beginning."""
SEQ_BYTES: Final = 8


def packed(packet: Packet) -> bytes:
    """A packet as it travels: a line's number, which its body does not have, and the body."""
    seq = packet.span.seq if packet.type == "line" and packet.span is not None else 0
    return seq.to_bytes(SEQ_BYTES, "little") + packet.body


def read(
    travelled: bytes, of: m.Run, arms: Collection[str] | None = None
) -> tuple[RunMessage, Packet]:
    """A message of a run, decoded and as it is sent to browsers.

    Args:
        of: the run's first message, which says what it is and which lanes it has.
        arms: of these lanes, the ones that are there; None: all.

    Raises:
        InfraError: it is none, or of another run.
    """
    body = travelled[SEQ_BYTES:]
    try:
        message = _RUN.validate_python(msgpack.unpackb(body, raw=False))
    except (ValueError, TypeError, ValidationError, msgpack.UnpackException) as error:
        raise _odd("one that cannot be read") from error
    if message.run_id != of.run_id:
        raise _odd(f"one of the run '{message.run_id:.80}'")
    if isinstance(message, m.Run):
        if any(getattr(message, name) != getattr(of, name) for name in FIXED):
            raise _odd("one that makes another run of it")
    elif message.arm not in (of.arms if arms is None else arms):
        raise _odd(f"one of a lane '{message.arm:.80}'")
    if isinstance(message, m.Line):
        seq = int.from_bytes(travelled[:SEQ_BYTES], "little")
        return message, pack_line(message, seq, body)
    return message, labelled(message, body)


def _odd(what: str) -> InfraError:
    return InfraError(
        f"the host process has sent a message that is none of the run: {what}.",
        remedy="Start the run again; if it happens again, look at the server's log.",
    )
