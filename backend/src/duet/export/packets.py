# SPDX-License-Identifier: GPL-2.0-or-later
"""Packets of a Perfetto trace, with Perfetto's own protos; repeated names are sent once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, BinaryIO

from duet.errors import InfraError

SEQUENCE = 1


def perfetto_protos() -> Any:
    """Perfetto's own messages.

    Raises:
        InfraError: the package is missing.
    """
    try:
        from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as protos
    except ImportError as error:
        raise InfraError(
            "the Python package 'perfetto' is missing, which knows the format.",
            remedy="Run ./setup.sh page.",
        ) from error
    return protos


class Packets:
    """Writes packets as they come.

    Args:
        before_ns: how much earlier than the workloads' start a record may lie; time 0 of the
            trace is that long before it.
    """

    def __init__(self, file: BinaryIO, before_ns: int = 0) -> None:
        self._protos = perfetto_protos()
        self._file, self._before = file, before_ns
        self._uuid = 0
        self._flow = 0
        self._names: dict[str, int] = {}
        self._notes: dict[str, int] = {}
        first = self._packet()
        first.sequence_flags = 1  # SEQ_INCREMENTAL_STATE_CLEARED
        first.first_packet_on_sequence = True
        self._write(first)

    def process(self, number: int, name: str) -> int:
        """A lane; `number` sorts them."""
        packet = self._packet()
        descriptor = packet.track_descriptor
        descriptor.uuid = uuid = self._next()
        descriptor.process.pid = number
        descriptor.process.process_name = name
        descriptor.sibling_order_rank = number
        descriptor.child_ordering = 3  # EXPLICIT: by sibling_order_rank
        self._write(packet)
        return uuid

    def track(self, parent: int, name: str, rank: int = 0) -> int:
        """A track below another."""
        packet = self._packet()
        descriptor = packet.track_descriptor
        descriptor.uuid = uuid = self._next()
        descriptor.parent_uuid = parent
        descriptor.name = name
        descriptor.sibling_order_rank = rank
        descriptor.child_ordering = 3
        self._write(packet)
        return uuid

    def slices(
        self, track: int, spans: Iterable[tuple[float, float, str, Mapping[str, float]]]
    ) -> None:
        """Spans that nest, sorted by begin; one without end stays open."""
        ends: list[float] = []
        for begin, end, name, notes in spans:
            while ends and ends[-1] <= begin:
                self._end(track, ends.pop())
            self._event(track, begin, 1, name, notes)
            ends.append(end)
        for end in reversed(ends):
            if end != float("inf"):
                self._end(track, end)

    def instant(self, track: int, t_ns: float, name: str, notes: Mapping[str, float]) -> None:
        """A moment."""
        self._event(track, t_ns, 3, name, notes)

    def arrow(self, start: int, end: int, t_ns: float, name: str) -> None:
        """From a moment on one track to the same on another."""
        self._flow += 1
        self._event(start, t_ns, 3, name, {}, flow=self._flow)
        self._event(end, t_ns, 3, f"{name}: it", {}, ends_flow=self._flow)

    def counter(self, parent: int, name: str, values: Iterable[tuple[float, float]]) -> None:
        """A curve; nothing is written where it has no value."""
        track = 0
        for t_ns, value in values:
            if not track:
                packet = self._packet()
                packet.track_descriptor.uuid = track = self._next()
                packet.track_descriptor.parent_uuid = parent
                packet.track_descriptor.name = name
                packet.track_descriptor.counter.SetInParent()
                self._write(packet)
            packet = self._packet(t_ns)
            packet.track_event.type = 4  # TYPE_COUNTER
            packet.track_event.track_uuid = track
            packet.track_event.double_counter_value = value
            self._write(packet)

    def _end(self, track: int, t_ns: float) -> None:
        packet = self._packet(t_ns)
        packet.track_event.type = 2  # TYPE_SLICE_END
        packet.track_event.track_uuid = track
        self._write(packet)

    def _event(
        self,
        track: int,
        t_ns: float,
        kind: int,
        name: str,
        notes: Mapping[str, float],
        *,
        flow: int = 0,
        ends_flow: int = 0,
    ) -> None:
        packet = self._packet(t_ns)
        event = packet.track_event
        event.type, event.track_uuid = kind, track
        event.name_iid = self._iid(packet.interned_data.event_names, self._names, name)
        for note, value in notes.items():
            descriptor = event.debug_annotations.add()
            names = packet.interned_data.debug_annotation_names
            descriptor.name_iid = self._iid(names, self._notes, note)
            if value == int(value) and abs(value) < 1 << 62:
                descriptor.int_value = int(value)
            else:
                descriptor.double_value = value
        if flow:
            event.flow_ids.append(flow)
        if ends_flow:
            event.terminating_flow_ids.append(ends_flow)
        if not packet.interned_data.ByteSize():
            packet.ClearField("interned_data")
        self._write(packet)

    @staticmethod
    def _iid(list_of: Any, known: dict[str, int], name: str) -> int:
        if name not in known:
            known[name] = len(known) + 1
            entry = list_of.add()
            entry.iid, entry.name = known[name], name
        return known[name]

    def _next(self) -> int:
        self._uuid += 1
        return self._uuid

    def _packet(self, t_ns: float | None = None) -> Any:
        packet = self._protos.TracePacket()
        packet.trusted_packet_sequence_id = SEQUENCE
        packet.sequence_flags = 2  # SEQ_NEEDS_INCREMENTAL_STATE
        if t_ns is not None:
            packet.timestamp = max(0, int(t_ns) + self._before)
        return packet

    def _write(self, packet: Any) -> None:
        body: bytes = packet.SerializeToString()
        self._file.write(b"\x0a" + _varint(len(body)) + body)


def _varint(number: int) -> bytes:
    """A length as protobuf writes it; field 1 of Trace is its packets."""
    parts = bytearray()
    while number > 0x7F:
        parts.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes((*parts, number))
