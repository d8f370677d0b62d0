# SPDX-License-Identifier: GPL-2.0-or-later
"""Messages out of the bytes that the x-ray's process writes."""

from __future__ import annotations

import struct
from collections.abc import Callable

import msgpack

from duet.lenses.limits import FRAME_BYTES
from duet.lenses.records import unpack_message

HEAD = struct.Struct("<I")
Message = dict[str, object]


class MessageReader:
    """Messages out of the process's output; rubbish ends the reading."""

    def __init__(self, deliver: Callable[[Message], None]) -> None:
        self._deliver = deliver
        self._bytes = bytearray()
        self._broken = False

    def feed(self, text: bytes) -> None:
        if self._broken:
            return
        self._bytes += text
        while len(self._bytes) >= HEAD.size:
            (length,) = HEAD.unpack_from(self._bytes)
            if length > FRAME_BYTES:
                self._broken = True
                return
            if len(self._bytes) < HEAD.size + length:
                return
            body = bytes(self._bytes[HEAD.size : HEAD.size + length])
            del self._bytes[: HEAD.size + length]
            try:
                message = unpack_message(body)
            except (ValueError, msgpack.UnpackException):
                self._broken = True
                return
            self._deliver(message)
