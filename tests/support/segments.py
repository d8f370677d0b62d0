# SPDX-License-Identifier: GPL-2.0-or-later
"""Segments as a page reads them."""

from __future__ import annotations

import gzip
import struct
from typing import Any

import msgpack
import numpy as np

Message = dict[str, Any]


def messages_of(body: bytes) -> list[Message]:
    """All messages of a segment, their columns as the server had them."""
    framed, at, found = gzip.decompress(body), 0, []
    while at < len(framed):
        (size,) = struct.unpack_from("<I", framed, at)
        found.append(whole(msgpack.unpackb(framed[at + 4 : at + 4 + size])))
        at += 4 + size
    return found


def whole(message: Message) -> Message:
    """A message without differences."""
    for name in message.pop("deltas", ()):
        column, dtype = message["columns"][name], message["dtypes"][name]
        kind = "<i8" if dtype == "f8" else f"<u{dtype[1:]}"
        planes = np.frombuffer(column, np.uint8).reshape(np.dtype(kind).itemsize, -1)
        values = np.cumsum(np.frombuffer(planes.T.tobytes(), kind), dtype=kind)
        if dtype == "f8":
            values = values.astype("<f8")
        message["columns"][name] = values.tobytes()
    return message
