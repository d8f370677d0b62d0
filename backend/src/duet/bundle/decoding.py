# SPDX-License-Identifier: GPL-2.0-or-later
"""Decode recordings in a sandboxed child, and find the differences between two manifests.

Exports and inspection use the decoder, which has the interface of duet.decode.Decoder. This process
validates the columns that the child returns.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

import numpy as np
from pydantic import JsonValue

from duet.base.errors import printable
from duet.bundle.manifest import ArmEntry, Manifest, patches_of
from duet.confine import Child, ChildLimits, ReplyReader
from duet.confine.messages import BadReply, as_integer, as_text
from duet.decode import CpuColumns, EventType, Field, FieldKind, LostEvents, Table, prepare
from duet.decode.service import DecoderService as DecoderService

MOST: Final = 1 << 17
INT64: Final = (-(1 << 63), (1 << 63) - 1)
WIDTHS: Final = {FieldKind.INT: "<i8", FieldKind.STRING: "<i8"}
MOST_WIDTH: Final = 256


def warm() -> None:
    """Load the C library of the service DecoderService (confine.zygote calls this)."""
    prepare()


class ConfinedDecoder:
    """Decoder for the pages of one guest in one run; a context manager that ends the child.

    Args:
        files: tracefs files from the agent, by name.
        page_bytes: size of a ring-buffer page, including its header.
        subject: the start of error texts, such as "lane srcu of the recording".

    Raises:
        DuetError: a format file cannot be parsed, or the child has died.
    """

    def __init__(self, files: Mapping[str, bytes], page_bytes: int, subject: str) -> None:
        self._child = Child("decoder", ChildLimits(subject))
        self.page_bytes = page_bytes
        self.strings: list[str] = []
        """Strings of FieldKind.STRING columns, by index."""
        self.unknown: dict[int, int] = {}
        """Number of records for each event id that has no format file."""
        request = {"do": "files", "files": dict(files), "page_bytes": page_bytes}
        try:
            reply = self._child.call(request)
            self.events = tuple(_event(cells) for cells in reply.rows("events", 3, 256))
        except (BadReply, ValueError, TypeError) as error:
            raise self._child.reject_reply(error) from error
        self.by_name = {event.name: event for event in self.events}

    def __enter__(self) -> ConfinedDecoder:
        return self

    def __exit__(self, *exc: object) -> None:
        self._child.close()

    def decode(self, cpu: int, pages: bytes) -> CpuColumns:
        """Decode complete pages of one CPU, oldest first.

        Raises:
            DuetError: a page is malformed, or the child has died.
        """
        reply = self._child.call({"do": "decode", "cpu": cpu}, [pages])
        try:
            return self._columns(cpu, reply)
        except (BadReply, ValueError, TypeError, KeyError) as error:
            raise self._child.reject_reply(error) from error

    def _columns(self, cpu: int, reply: ReplyReader) -> CpuColumns:
        strings = reply.tree.get("strings")
        if not isinstance(strings, list) or len(self.strings) + len(strings) > MOST:
            raise BadReply("strings is not a list, or too long")
        self.strings += [as_text(one, 1 << 20) for one in strings]
        self.unknown = {as_integer(i): as_integer(n) for i, n in reply.rows("unknown", 2, 1 << 16)}
        tables, events = {}, 0
        for name, cells in reply.rows("tables", 2, 256):
            n = as_integer(cells, 0, 1 << 26)
            tables[str(name)] = self._table(self.by_name[name], n, reply)
            events += n
        losses = tuple(
            LostEvents(cpu, as_integer(t0), as_integer(t1), None if n is None else as_integer(n))
            for t0, t1, n in reply.rows("losses", 3, MOST)
        )
        return CpuColumns(cpu, tables, losses, events)

    def _table(self, event: EventType, n: int, reply: ReplyReader) -> Table:
        ts, seq, pid = (_column(reply, dtype, n) for dtype in ("<i8", "<i8", "<i4"))
        columns = {
            field.name: _column(reply, WIDTHS.get(field.kind, f"S{field.width}"), n)
            for field in event.fields
        }
        for field in event.fields:
            if field.kind is FieldKind.STRING:
                ids = columns[field.name]
                if n and not 0 <= int(ids.min()) <= int(ids.max()) < len(self.strings):
                    raise BadReply("the index of a string is out of range")
        return Table(ts, seq, pid, columns)


def _column(reply: ReplyReader, dtype: str, n: int) -> Any:
    return np.frombuffer(reply.blob(n * np.dtype(dtype).itemsize), dtype)


def _event(cells: list[Any]) -> EventType:
    name, number, fields = cells
    if not isinstance(fields, list) or len(fields) > 64:
        raise BadReply("the fields of an event are not a list of at most 64")
    return EventType(as_text(name), as_integer(number, 0, 65535), tuple(_field(*f) for f in fields))


def _field(name: object, kind: object, size: object, signed: object, width: object) -> Field:
    # Field names are printed, and become column headings of exports, so they must be printable.
    return Field(
        printable(as_text(name)),
        FieldKind(as_integer(kind)),
        as_integer(size, 0, 1 << 16),
        signed is True,
        as_integer(width, 1, MOST_WIDTH),
    )


# Differences between two recordings in kernels, hosts and parameters. A comparison shows these
# differences before its numbers.

Of = Literal["run", "kernel", "config", "patches", "build", "host", "programs"]
ORDER: tuple[Of, ...] = ("run", "kernel", "config", "patches", "build", "host", "programs")
UNSAID = "not said"


@dataclass(frozen=True, slots=True)
class Difference:
    """One property in which two recordings differ.

    Args:
        of: category of the property.
        what: name of the property.
        arm: the arm that the property belongs to; '' if it belongs to the whole run.
        recorded: value in the first recording.
        now: value in the second recording.
    """

    of: Of
    what: str
    arm: str
    recorded: str
    now: str

    def __str__(self) -> str:
        whose = f" of {self.arm}" if self.arm else ""
        return f"{self.what}{whose}: {self.recorded} in the first, {self.now} in the second"


def differences(one: Manifest, other: Manifest) -> list[Difference]:
    """Return the differences between two recordings, sorted by category in the order of ORDER."""
    found = [*_run(one, other), *_sides("host", one.host, other.host)]
    found += _sides("programs", one.versions, other.versions)
    for arm in one.arms:
        match = next((entry for entry in other.arms if entry.name == arm.name), None)
        if match is not None:
            found += _arm(arm, match)
    return sorted(found, key=lambda difference: ORDER.index(difference.of))


def _run(one: Manifest, other: Manifest) -> Iterator[Difference]:
    for name in ("lesson", "workload", "clock", "shift", "seed"):
        yield from _pair("run", name, "", getattr(one, name), getattr(other, name))
    yield from _pair("run", "recorded length (ms)", "", one.window_ms, other.window_ms)
    yield from _sides("run", one.params, other.params)
    arms = [", ".join(arm.name for arm in manifest.arms) for manifest in (one, other)]
    yield from _pair("run", "arms", "", *arms)


def _arm(one: ArmEntry, other: ArmEntry) -> Iterator[Difference]:
    name = one.name
    yield from _pair("kernel", "kernel version", name, one.kernel_version, other.kernel_version)
    yield from _pair("config", "config", name, one.config_sha256[:12], other.config_sha256[:12])
    sources = [entry.kernel.get("tarball_sha256", "") for entry in (one, other)]
    yield from _pair("kernel", "source", name, *(str(source)[:12] for source in sources))
    mine, theirs = _patches(one), _patches(other)
    if mine and theirs:
        # A patch does not count as a difference if only its path has changed.
        same = set(map(str, mine.values())) & set(map(str, theirs.values()))
        mine = {path: sha for path, sha in mine.items() if str(sha) not in same}
        theirs = {path: sha for path, sha in theirs.items() if str(sha) not in same}
        yield from _sides("patches", mine, theirs, name)
    yield from _pair("patches", "patches", name, " ".join(one.patches), " ".join(other.patches))
    yield from _pair("config", "settings", name, ", ".join(one.writes), ", ".join(other.writes))
    for tool in ("compiler", "linker"):
        tools = (one.kernel.get(tool, ""), other.kernel.get(tool, ""))
        yield from _pair("build", tool, name, *(str(text) for text in tools))


def _patches(entry: ArmEntry) -> dict[str, JsonValue]:
    """Return path -> short checksum of each patch of a kernel, including shared patches."""
    return {path: sha[:12] for path, sha in patches_of(entry).items()}


def _sides(
    of: Of, one: Mapping[str, JsonValue], other: Mapping[str, JsonValue], arm: str = ""
) -> Iterator[Difference]:
    for name in dict.fromkeys([*one, *other]):
        yield from _pair(of, name, arm, one.get(name), other.get(name))


def _pair(of: Of, what: str, arm: str, one: object, other: object) -> Iterator[Difference]:
    if one != other:
        yield Difference(of, what, arm, _text(one), _text(other))


def _text(value: object) -> str:
    return UNSAID if value is None or value == "" else str(value)
