# SPDX-License-Identifier: GPL-2.0-or-later
"""Encode server messages and parse client messages. No sockets.

A server message is encoded once for all viewers, into a packet with the properties that an outbox
needs. A client message is untrusted: its size, depth and structure are checked here.
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
from duet.messages.base import Key, Span, message_parser

MAX_CLIENT_BYTES = 64 * 1024
"""Largest message from a browser. Usual: a `start` is below 1 KiB."""
MAX_CLIENT_ITEMS = 256
"""Largest map or list in a client message."""

_DTYPES: dict[str, m.Dtype] = {"<f8": "f8", "<i4": "i4", "|u1": "u1", "<u4": "u4", "<i2": "i2"}


@dataclass(frozen=True, slots=True, eq=False)
class Packet:
    """An encoded message.

    Args:
        key: in an outbox, a newer packet with the same key replaces this packet. With None, this
            packet is never replaced.
        span: gap to report if this packet is dropped for a slow viewer. With None, this packet is
            never dropped.
        rest: packets with spans that follow this packet, and are queued, sent and dropped together
            with it.
        size: total bytes of this packet and its `rest`; 0 if there is no `rest`.
    """

    body: bytes
    type: str
    key: Key | None = None
    span: Span | None = None
    rest: tuple[Packet, ...] = ()
    size: int = 0


def pack(message: m.ServerMessage) -> Packet:
    """Encode one server message."""
    return packet_of(message, msgpack.packb(message.model_dump(mode="python"), use_bin_type=True))


def packet_of(message: m.ServerMessage, body: bytes) -> Packet:
    """Build the packet of a message that is already encoded."""
    return Packet(body, message.tag(), message.key(), message.span())


def pack_line(message: m.Line, seq: int, body: bytes = b"") -> Packet:
    """Encode an output line of the workload. Like rows, lines may be dropped for slow viewers.

    Args:
        seq: the line's number within its lane.
        body: the encoded message, if the caller has already encoded it.
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
    """Build a Batch message from columns.

    Raises:
        ValueError: the columns differ in length, or no message can have a column's dtype.
    """
    lengths = {len(column) for column in columns.values()}
    if len(lengths) != 1:
        raise ValueError(f"columns of {table} differ in length: {sorted(lengths)}")
    dtypes: dict[str, m.Dtype] = {}
    for name, column in columns.items():
        if column.dtype.str not in _DTYPES:
            raise ValueError(f"{table}.{name} has the forbidden dtype {column.dtype.str}")
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
    """Decode and check one message from a browser.

    Raises:
        InputError: the message is too large, is not msgpack, or does not match the contract.
    """
    if len(body) > MAX_CLIENT_BYTES:
        raise _malformed(
            f"a message of {len(body)} bytes arrived, but at most {MAX_CLIENT_BYTES} are allowed"
        )
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
        raise _malformed(f"a received message is not msgpack ({type(error).__name__})") from error
    try:
        message: m.Command | m.Ack = message_parser(m.ClientMessage).validate_python(tree)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"]) or "the message"
        raise _malformed(
            f"a received message does not match the contract: {place:.80}: {first['msg']:.200}"
        ) from error
    return message


def _malformed(what: str) -> InputError:
    error = InputError(
        f"the page and the server do not understand each other: {what}.", remedy="Reload the page."
    )
    error.code = "malformed"
    return error


def failure(error: Exception, run: str | None = None) -> m.ErrorMessage:
    """Build an ErrorMessage. For an unexpected exception, it shows the type but no traceback.

    Args:
        run: id of the requested run that fails because of the error.
    """
    known = as_duet_error(error, "in the server")
    return m.ErrorMessage(
        code=known.code,
        sentence=known.sentence,
        remedy=known.remedy,
        detail=known.detail,
        run=run,
    )
