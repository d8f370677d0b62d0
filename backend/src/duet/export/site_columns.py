# SPDX-License-Identifier: GPL-2.0-or-later
"""The parts of a site: messages as a server sends them, framed, and packed small.

Columns come as tables have them: times of eight bytes each, little apart. Sent as differences, the
bytes of one weight beside each other, they pack four times smaller; not a bit of them is lost. The
page puts them back before it reads them (`frontend/src/protocol/deltas.ts`).
"""

from __future__ import annotations

import base64
import gzip
import struct
from collections.abc import Iterable
from typing import Any

import msgpack
import numpy as np
import numpy.typing as npt

from duet.stream.codec import Packet

SIZE = struct.Struct("<I")
DELTAS = "deltas"
"""Key of a batch that names the columns sent as differences."""
WHOLE = 2.0**52
"""Whole numbers below this have differences that a float holds exactly."""


def part(packets: Iterable[Packet]) -> str:
    """Framed messages, packed; equal messages give equal text."""
    bodies = (small(packet.body) if packet.type == "batch" else packet.body for packet in packets)
    framed = b"".join(SIZE.pack(len(body)) + body for body in bodies)
    return base64.b64encode(gzip.compress(framed, 9, mtime=0)).decode()


def small(body: bytes) -> bytes:
    """A batch with its columns as differences, as far as nothing is lost by it."""
    batch: dict[str, Any] = msgpack.unpackb(body)
    packed = {
        name: deltas
        for name, column in batch["columns"].items()
        if (deltas := differences(column, batch["dtypes"][name])) is not None
    }
    columns = {**batch["columns"], **packed}
    return bytes(msgpack.packb({**batch, "columns": columns, DELTAS: list(packed)}))


def differences(column: bytes, dtype: str) -> bytes | None:
    """Differences of a column, their lowest bytes first; None: some would be rounded."""
    values: npt.NDArray[Any]
    if dtype == "f8":
        values = np.frombuffer(column, "<f8")
        if not np.all(np.abs(values) < WHOLE):  # nor what is not a number
            return None
        whole = values.astype("<i8")
        if whole.astype("<f8").tobytes() != column:
            return None
        values = whole
    else:
        values = np.frombuffer(column, f"<u{dtype[1:]}")
    apart = values.copy()
    apart[1:] -= values[:-1]  # what does not fit wraps, and wraps back
    return np.frombuffer(apart.tobytes(), np.uint8).reshape(-1, values.itemsize).T.tobytes()
