# SPDX-License-Identifier: GPL-2.0-or-later
"""Incremental parser of the frames on the agent's control port. No I/O.

A frame's header has 12 bytes, little endian: magic u32, type u16, flags u16 (0), length u32. The
agent's C code and every recording use this format (vm-images/agent/PROTOCOL.md), which differs from
base/frames.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

from duet.base.errors import InputError

MAGIC = 0x54455544
"""The letters DUET in memory order."""
HEADER = struct.Struct("<IHHI")
MAX_PAYLOAD = 1 << 20


class ProtocolError(InputError):
    """A violation of the agent's protocol, after which the stream cannot be parsed.

    Args:
        offset: position in bytes from the start of the stream.
        wanted: what the protocol requires.
        came: what the stream contains instead.
    """

    code = "protocol"

    def __init__(self, offset: int, wanted: str, came: str) -> None:
        super().__init__(
            f"the agent's stream is broken at byte {offset}: wanted {wanted}, but {came} came.",
            remedy="Build the guest root again, so that agent and host are of one version.",
        )
        self.offset = offset


@dataclass(frozen=True, slots=True)
class RawFrame:
    """A received frame; `offset` is the position of its header in the stream, in bytes."""

    type: int
    payload: bytes
    offset: int


class FrameReader:
    """Incremental parser: bytes in, complete frames out.

    After a ProtocolError, every call raises the same error.

    Args:
        max_payload: longest payload. A longer payload raises an error as soon as its header
            arrives.
    """

    def __init__(self, max_payload: int = MAX_PAYLOAD) -> None:
        self._max = max_payload
        self._held = bytearray()
        self._offset = 0
        self._broken: ProtocolError | None = None

    @property
    def held_bytes(self) -> int:
        """Number of bytes of an incomplete frame: at most a header and `max_payload`."""
        return len(self._held)

    def feed(self, chunk: bytes) -> list[RawFrame]:
        """Add a chunk; return the frames that it completes, in order.

        Raises:
            ProtocolError: wrong magic, flags or length. Frames before the error are returned first.
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
                if frames:  # return complete frames first; the next call raises the error
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


# Frames for resuming a copy of a template (vm-images/agent/PROTOCOL.md).


ENTROPY_BYTES = 32
_RESUME = struct.Struct(f"<Q{ENTROPY_BYTES}s")
_RESUMED = struct.Struct("<QQ16s")


@dataclass(frozen=True, slots=True)
class Resume:
    """The first frame from the host to a copy.

    Args:
        realtime_ns: the host's time of day, since 1970.
        entropy: ENTROPY_BYTES random bytes, different for each copy.
        amendment: lines `write`, `run` and `deadline_ms`, which replace these lines of the plan.
    """

    realtime_ns: int
    entropy: bytes
    amendment: str

    def pack(self) -> bytes:
        return _RESUME.pack(self.realtime_ns, self.entropy) + self.amendment.encode()


@dataclass(frozen=True, slots=True)
class Resumed:
    """The agent's answer to RESUME, which says that the copy has resumed.

    Args:
        mono_ns: guest time.
        realtime_ns: the guest's time of day, after the agent has set it.
        random: 16 random bytes, drawn after reseeding.
    """

    mono_ns: int
    realtime_ns: int
    random: bytes

    def pack(self) -> bytes:
        return _RESUMED.pack(self.mono_ns, self.realtime_ns, self.random)


def parse_resume(raw: RawFrame) -> Resume:
    """Parse the payload of a RESUME frame.

    Raises:
        ProtocolError: the payload is too short.
    """
    if len(raw.payload) < _RESUME.size:
        wanted = f"a RESUME payload of at least {_RESUME.size} bytes"
        raise ProtocolError(raw.offset + HEADER.size, wanted, f"{len(raw.payload)} bytes")
    realtime_ns, entropy = _RESUME.unpack_from(raw.payload)
    return Resume(realtime_ns, entropy, raw.payload[_RESUME.size :].decode(errors="replace"))


def parse_resumed(raw: RawFrame) -> Resumed:
    """Parse the payload of a RESUMED frame.

    Raises:
        ProtocolError: the payload has the wrong length.
    """
    if len(raw.payload) != _RESUMED.size:
        wanted = f"a RESUMED payload of {_RESUMED.size} bytes"
        raise ProtocolError(raw.offset + HEADER.size, wanted, f"{len(raw.payload)} bytes")
    return Resumed(*_RESUMED.unpack(raw.payload))
