# SPDX-License-Identifier: GPL-2.0-or-later
"""Bytes of the control port become whole frames, however they were split. No I/O.

Header, 12 bytes, little endian: magic u32, type u16, flags u16 (0), length u32. The agent's C side
and every recording have this form (vm-images/agent/PROTOCOL.md), so it is not that of base/frames.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

from duet.base.errors import InputError

MAGIC = 0x54455544
"""The letters DUET as they lie in memory."""
HEADER = struct.Struct("<IHHI")
MAX_PAYLOAD = 1 << 20


class ProtocolError(InputError):
    """The stream is not what the agent's protocol says; nothing after it can be trusted."""

    code = "protocol"

    def __init__(self, offset: int, wanted: str, came: str) -> None:
        super().__init__(
            f"the agent's stream is broken at byte {offset}: wanted {wanted}, but {came} came.",
            remedy="Build the guest root again, so that agent and host are of one version.",
        )
        self.offset = offset


@dataclass(frozen=True, slots=True)
class RawFrame:
    """A frame as it came: a type, its payload, and where in the stream its header began."""

    type: int
    payload: bytes
    offset: int


class FrameReader:
    """Collects bytes and hands out whole frames.

    After a ProtocolError the reader stays broken: it raises the same error again.

    Args:
        max_payload: a longer frame is an error as soon as its header is seen.
    """

    def __init__(self, max_payload: int = MAX_PAYLOAD) -> None:
        self._max = max_payload
        self._held = bytearray()
        self._offset = 0
        self._broken: ProtocolError | None = None

    @property
    def held_bytes(self) -> int:
        """Bytes of an unfinished frame; never more than a header and `max_payload`."""
        return len(self._held)

    def feed(self, chunk: bytes) -> list[RawFrame]:
        """All frames that are complete with this chunk, in order.

        Raises:
            ProtocolError: wrong magic, flags or length, at the offset named.
        """
        if self._broken:
            raise self._broken
        self._held += chunk
        frames: list[RawFrame] = []
        at = 0
        while len(self._held) - at >= HEADER.size:
            try:
                length, kind = self._header(at)
            except ProtocolError as error:
                self._broken = error
                if frames:  # what came whole before the break still counts
                    break
                raise
            end = at + HEADER.size + length
            if len(self._held) < end:
                break
            body = bytes(memoryview(self._held)[at + HEADER.size : end])
            frames.append(RawFrame(kind, body, self._offset + at))
            at = end
        del self._held[:at]
        self._offset += at
        return frames

    def _header(self, at: int) -> tuple[int, int]:
        magic, kind, flags, length = HEADER.unpack_from(self._held, at)
        place = self._offset + at
        if magic != MAGIC:
            raise ProtocolError(place, f"the frame magic {MAGIC:#010x}", f"{magic:#010x}")
        if flags:
            raise ProtocolError(place + 6, "flags 0", f"{flags:#06x}")
        if length > self._max:
            raise ProtocolError(
                place + 8, f"a payload of at most {self._max} bytes", f"a length of {length}"
            )
        return length, kind


def pack_frame(kind: int, payload: bytes = b"") -> bytes:
    assert len(payload) <= MAX_PAYLOAD, f"a payload of {len(payload)} bytes is too long to send"
    return HEADER.pack(MAGIC, kind, 0, len(payload)) + payload


# What host and agent say when a copy of a parked guest goes on (vm-images/agent/PROTOCOL.md).


ENTROPY_BYTES = 32
_RESUME = struct.Struct(f"<Q{ENTROPY_BYTES}s")
_RESUMED = struct.Struct("<QQ16s")


@dataclass(frozen=True, slots=True)
class Resume:
    """The first frame to a copy.

    Args:
        realtime_ns: the host's time of day, since 1970.
        entropy: ENTROPY_BYTES bytes that no other copy gets.
        amendment: lines `write`, `run` and `deadline_ms` in place of the plan's own.
    """

    realtime_ns: int
    entropy: bytes
    amendment: str

    def pack(self) -> bytes:
        return _RESUME.pack(self.realtime_ns, self.entropy) + self.amendment.encode()


@dataclass(frozen=True, slots=True)
class Resumed:
    """The copy goes on.

    Args:
        realtime_ns: the guest's time of day, after it was set.
        random: 16 bytes that were drawn after reseeding.
    """

    mono_ns: int
    realtime_ns: int
    random: bytes

    def pack(self) -> bytes:
        return _RESUMED.pack(self.mono_ns, self.realtime_ns, self.random)


def parse_resume(raw: RawFrame) -> Resume:
    """The message of a RESUME frame.

    Raises:
        ProtocolError: it is too short.
    """
    if len(raw.payload) < _RESUME.size:
        wanted = f"a RESUME payload of at least {_RESUME.size} bytes"
        raise ProtocolError(raw.offset + HEADER.size, wanted, f"{len(raw.payload)} bytes")
    realtime_ns, entropy = _RESUME.unpack_from(raw.payload)
    return Resume(realtime_ns, entropy, raw.payload[_RESUME.size :].decode(errors="replace"))


def parse_resumed(raw: RawFrame) -> Resumed:
    """The message of a RESUMED frame.

    Raises:
        ProtocolError: it has another length.
    """
    if len(raw.payload) != _RESUMED.size:
        wanted = f"a RESUMED payload of {_RESUMED.size} bytes"
        raise ProtocolError(raw.offset + HEADER.size, wanted, f"{len(raw.payload)} bytes")
    return Resumed(*_RESUMED.unpack(raw.payload))
