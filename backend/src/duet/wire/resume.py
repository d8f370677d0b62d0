# SPDX-License-Identifier: GPL-2.0-or-later
"""What host and agent say when a copy of a parked guest goes on (vm-images/agent/PROTOCOL.md)."""

from __future__ import annotations

import struct
from dataclasses import dataclass

from duet.wire.reader import HEADER, ProtocolError, RawFrame

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
        """The payload."""
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
        """The payload."""
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
