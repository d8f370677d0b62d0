# SPDX-License-Identifier: GPL-2.0-or-later
"""Messages to bytes and back. Pure: no sockets.

A server message is encoded once, whoever is watching; the packet carries what the outbox must
know of it. A client message is untrusted: size, depth and shape are checked here.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass

import msgpack
import numpy as np
import numpy.typing as npt
from pydantic import ValidationError

from duet import messages as m
from duet.base.errors import InputError, as_duet_error
from duet.messages.base import Key, Span, reader

MAX_CLIENT_BYTES = 64 * 1024
"""Largest message a browser may send; a `start` is under 1 KiB."""
MAX_CLIENT_ITEMS = 256
"""Largest map or list in a client message."""

_DTYPES: dict[str, m.Dtype] = {"<f8": "f8", "<i4": "i4", "|u1": "u1", "<u4": "u4", "<i2": "i2"}


@dataclass(frozen=True, slots=True, eq=False)
class Packet:
    """An encoded message.

    Args:
        key: packets of one key replace each other in an outbox (latest wins); None: each counts.
        span: set for what may be dropped when a viewer is slow; the drop is then reported as a gap.
        rest: packets with spans that are queued, sent and dropped with this one, right behind it.
        size: bytes of all of them, where there is a rest.
    """

    body: bytes
    type: str
    key: Key | None = None
    span: Span | None = None
    rest: tuple[Packet, ...] = ()
    size: int = 0


def pack(message: m.ServerMessage) -> Packet:
    """Encode one server message."""
    return labelled(message, msgpack.packb(message.model_dump(mode="python"), use_bin_type=True))


def labelled(message: m.ServerMessage, body: bytes) -> Packet:
    """A message that is encoded already, with what an outbox must know of it."""
    return Packet(body, message.tag(), message.key(), message.span())


def pack_line(message: m.Line, seq: int, body: bytes = b"") -> Packet:
    """Encode a workload line, number `seq` of its lane. Lines may be dropped like rows.

    Args:
        body: it encoded, where that was done before.
    """
    span = Span(message.run_id, message.arm, "lines", seq, 1)
    return Packet(body or pack(message).body, message.type, None, span)


def batch(
    run_id: str,
    arm: str,
    table: str,
    seq: int,
    watermark_ns: float,
    columns: Mapping[str, npt.NDArray[np.generic]],
    newest_event_host_ms: float | None = None,
) -> m.Batch:
    """Columns as a message.

    Raises:
        ValueError: columns of unequal length, or a dtype that the contract does not have.
    """
    lengths = {len(column) for column in columns.values()}
    if len(lengths) != 1:
        raise ValueError(f"columns of {table} differ in length: {sorted(lengths)}")
    dtypes: dict[str, m.Dtype] = {}
    for name, column in columns.items():
        if column.dtype.str not in _DTYPES:
            raise ValueError(f"{table}.{name} has dtype {column.dtype.str}, not in the contract")
        dtypes[name] = _DTYPES[column.dtype.str]
    return m.Batch(
        run_id=run_id,
        arm=arm,
        table=table,
        seq=seq,
        n=lengths.pop(),
        watermark_ns=watermark_ns,
        columns={name: column.tobytes() for name, column in columns.items()},
        dtypes=dtypes,
        sent_ns=float(time.time_ns()),
        newest_event_host_ms=newest_event_host_ms,
    )


def unpack_client(body: bytes) -> m.Command | m.Ack:
    """Decode and check one message of a browser.

    Raises:
        InputError: too large, not msgpack, or not a message of the contract.
    """
    if len(body) > MAX_CLIENT_BYTES:
        raise _malformed(f"a message of {len(body)} bytes came, the limit is {MAX_CLIENT_BYTES}")
    try:
        tree = msgpack.unpackb(
            body,
            raw=False,
            strict_map_key=True,
            max_map_len=MAX_CLIENT_ITEMS,
            max_array_len=MAX_CLIENT_ITEMS,
            max_ext_len=0,
        )
    except (ValueError, TypeError, msgpack.UnpackException, RecursionError) as error:
        raise _malformed(f"a message that is not msgpack came ({type(error).__name__})") from error
    try:
        message: m.Command | m.Ack = reader(m.ClientMessage).validate_python(tree)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"]) or "the message"
        raise _malformed(
            f"a message that the contract does not have came: {place:.80}: {first['msg']:.200}"
        ) from error
    return message


def _malformed(what: str) -> InputError:
    error = InputError(
        f"the page and the server do not understand each other: {what}.", remedy="Reload the page."
    )
    error.code = "malformed"
    return error


def failure(error: Exception, run: str | None = None) -> m.ErrorMessage:
    """Any exception as a message; an unexpected one shows its type, never a traceback.

    Args:
        run: the run that does not come because of it.
    """
    known = as_duet_error(error, "in the server")
    return m.ErrorMessage(
        code=known.code,
        sentence=known.sentence,
        remedy=known.remedy,
        detail=known.detail,
        run=run,
    )
