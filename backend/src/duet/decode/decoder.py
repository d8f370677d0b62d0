# SPDX-License-Identifier: GPL-2.0-or-later
"""Stage 5: decode the ring-buffer pages of one CPU into columns. No I/O."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import cache
from pathlib import Path

import numpy as np
import numpy.ctypeslib
from numpy.typing import NDArray

from duet.base.errors import InputError
from duet.base.native import compiled, load_library

# ctypes bindings of _pages.c. ctypes releases the interpreter lock while these functions run.

SOURCE = Path(__file__).with_name("_pages.c")
PAGES = Path(__file__).with_name("pages.h")
"""The walk over a page, which the reducer uses, too."""


class Loss(ctypes.Structure):
    """struct loss of _pages.c; count is -1 if the kernel did not count the lost events."""

    _fields_ = (
        ("t0", ctypes.c_uint64),
        ("t1", ctypes.c_uint64),
        ("count", ctypes.c_int64),
    )


_HANDLE = ctypes.c_void_p
_INT_OUT = ctypes.POINTER(ctypes.c_int)
_SIGNATURES: dict[str, tuple[object, list[object]]] = {
    "duet_new": (_HANDLE, [ctypes.c_int]),
    "duet_free": (None, [_HANDLE]),
    "duet_error": (ctypes.c_char_p, [_HANDLE]),
    "duet_header_page": (ctypes.c_int, [_HANDLE, ctypes.c_char_p, ctypes.c_long]),
    "duet_add_event": (ctypes.c_int, [_HANDLE, *[ctypes.c_char_p] * 3, ctypes.c_long]),
    "duet_event_id": (ctypes.c_int, [_HANDLE, ctypes.c_int]),
    "duet_nfields": (ctypes.c_int, [_HANDLE, ctypes.c_int]),
    "duet_field": (ctypes.c_char_p, [_HANDLE, ctypes.c_int, ctypes.c_int, *[_INT_OUT] * 5]),
    "duet_pid_offset": (ctypes.c_int, [_HANDLE, ctypes.c_int]),
    "duet_need": (ctypes.c_int, [_HANDLE, ctypes.c_int]),
    "duet_decode": (ctypes.c_int, [_HANDLE, ctypes.c_int, ctypes.c_char_p, ctypes.c_long]),
    "duet_rows": (ctypes.c_long, [_HANDLE, ctypes.c_int]),
    "duet_column": (ctypes.c_void_p, [_HANDLE, ctypes.c_int, ctypes.c_int]),
    "duet_losses": (ctypes.c_long, [_HANDLE, ctypes.POINTER(ctypes.POINTER(Loss))]),
    "duet_unknown": (ctypes.POINTER(ctypes.c_uint64), [_HANDLE]),
    "duet_clear": (None, [_HANDLE]),
}


def ensure(flags: Sequence[str] = ()) -> Path:
    """Return the path of the decoder's library, and compile it if necessary."""
    return compiled(SOURCE, "libtraceevent", rest=[PAGES], flags=flags)


@cache
def library() -> ctypes.CDLL:
    """Return the compiled library, which is loaded only once.

    Raises:
        InfraError: the library cannot be compiled.
    """
    return load_library(ensure(), _SIGNATURES)


# Interned strings. Events refer to strings by index or by kernel address.

Ints = NDArray[np.int64]
PRINTK_LINE = re.compile(rb'^(0x[0-9a-f]{1,16}) : "(.*)"$', re.MULTILINE)


class StringTable:
    """Interned strings by index.

    Args:
        printk_formats: content of the tracefs file printk_formats, which maps kernel addresses to
            strings.
    """

    def __init__(self, printk_formats: bytes = b"") -> None:
        self._by_address = {
            int(address, 16): text.decode(errors="replace")
            for address, text in PRINTK_LINE.findall(printk_formats)
        }
        self._ids: dict[str, int] = {}
        self._address_ids: dict[int, int] = {}
        self.texts: list[str] = []

    def id_of(self, text: str) -> int:
        """Return the index of a string; add the string if it is new."""
        if text not in self._ids:
            self._ids[text] = len(self.texts)
            self.texts.append(text)
        return self._ids[text]

    def kernel_strings(self) -> tuple[NDArray[np.uint64], Ints]:
        """Return the addresses of printk_formats, ascending, and the indices of their strings."""
        known = sorted(self._by_address.items())
        addresses = np.array([address for address, _ in known], np.uint64)
        return addresses, np.array([self.id_of(text) for _, text in known], np.int64)

    def ids_at(self, addresses: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the index of the string at each address; unknown addresses become hex strings."""
        values, places = np.unique(addresses, return_inverse=True)
        ids = np.empty(len(values), np.int64)
        for index, value in enumerate(values.tolist()):
            if value not in self._address_ids:
                address = value & 0xFFFF_FFFF_FFFF_FFFF
                text = self._by_address.get(address, f"{address:#x}")
                self._address_ids[value] = self.id_of(text)
            ids[index] = self._address_ids[value]
        return ids[places]


# Results of decoding: one table per event type, with one numpy column per field.


class FieldKind(IntEnum):
    """How a field is stored in its column. The values must match `enum kind` in _pages.c."""

    INT = 0
    """Integer, stored as int64. An unsigned 64-bit value keeps its bit pattern."""
    CHARS = 1
    """Fixed-size string such as comm, stored as S16."""
    STRING = 2
    """const char *, stored as an int64 index into Decoder.strings."""
    TEXT = 3
    """String at the end of the record, as in ftrace/print; stored as S256."""
    LOC = 4
    """__data_loc string, stored as S256."""


@dataclass(frozen=True, slots=True)
class Field:
    """One field of an event's format.

    Args:
        size: number of bytes in the record.
        width: number of bytes in the column.
        offset: position in the record.
    """

    name: str
    kind: FieldKind
    size: int
    signed: bool
    width: int
    offset: int = 0


@dataclass(frozen=True, slots=True)
class EventType:
    """One event type, from its format file in the guest's tracefs.

    Args:
        pid_offset: position of the id of the thread that wrote the record.
        need: smallest size of a record in bytes.
    """

    name: str
    id: int
    fields: tuple[Field, ...]
    pid_offset: int = 4
    need: int = 8


@dataclass(frozen=True, slots=True)
class Table:
    """All records of one event type on one CPU, in the order in which the kernel wrote them.

    Args:
        seq: sequence number over all events of this CPU, which orders events with equal times.
    """

    ts_ns: Ints
    seq: Ints
    pid: NDArray[np.int32]
    columns: dict[str, NDArray[np.generic]]

    def __len__(self) -> int:
        return len(self.ts_ns)


@dataclass(frozen=True, slots=True)
class LostEvents:
    """Events that the kernel overwrote on one CPU; `count` is None if nobody counted them."""

    cpu: int
    t0_ns: int
    t1_ns: int
    count: int | None


@dataclass(frozen=True, slots=True)
class CpuColumns:
    """Events decoded from one CPU's pages. `tables` omits event types that have no records."""

    cpu: int
    tables: dict[str, Table]
    losses: tuple[LostEvents, ...]
    events: int


FORMAT_FILE = re.compile(r"^events/([A-Za-z0-9_-]+)/([A-Za-z0-9_-]+)/format$")
DATA_FIELD = re.compile(rb"char data;\s*offset:([0-9]{1,9});\s*size:([0-9]{1,9});")


class DecodeError(InputError):
    """The pages or format files are malformed; no kernel writes such data."""

    code = "decode"

    def __init__(self, what: str) -> None:
        super().__init__(
            f"the trace cannot be decoded: {what}.",
            remedy="Record it again; if this comes back, guest and decoder disagree on a format.",
        )


class Decoder:
    """Decoder for the pages of one guest in one run.

    This class is not thread-safe, and its C code runs without the interpreter lock.

    Args:
        files: tracefs files from the agent, by name: header_page, printk_formats,
            events/G/N/format.
        page_bytes: size of a ring-buffer page, including its header.

    Raises:
        DecodeError: a format file cannot be parsed, or header_page describes an unsupported layout.
    """

    def __init__(self, files: Mapping[str, bytes], page_bytes: int = 4096) -> None:
        self._lib = library()
        self.page_bytes = page_bytes
        self._handle = ctypes.c_void_p(self._lib.duet_new(page_bytes))
        if not self._handle:
            raise MemoryError("duet_new")
        self._header_page(files.get("header_page"))
        self._texts = StringTable(files.get("printk_formats", b""))
        self.strings = self._texts.texts
        """Strings of FieldKind.STRING columns, by index."""
        self.events: tuple[EventType, ...] = tuple(self._add_events(files))
        self.by_name: dict[str, EventType] = {e.name: e for e in self.events}

    def __del__(self) -> None:
        if getattr(self, "_handle", None):
            self._lib.duet_free(self._handle)
            self._handle = ctypes.c_void_p()

    @property
    def unknown(self) -> dict[int, int]:
        """Number of records for each event id that has no format file."""
        counts = np.ctypeslib.as_array(self._lib.duet_unknown(self._handle), (65536,))
        return {int(i): int(counts[i]) for i in np.flatnonzero(counts)}

    def decode(self, cpu: int, pages: bytes) -> CpuColumns:
        """Decode complete pages of one CPU, oldest first.

        Raises:
            DecodeError: a page is incomplete, or a record exceeds its page. The error names page
                and bytes.
        """
        count, rest = divmod(len(pages), self.page_bytes)
        if rest:
            raise DecodeError(
                f"the last page of CPU {cpu} lacks {self.page_bytes - rest} "
                f"of {self.page_bytes} bytes."
            )
        if self._lib.duet_decode(self._handle, cpu, pages, count):
            self._lib.duet_clear(self._handle)
            raise DecodeError(self._error())
        try:
            return self._collect(cpu)
        finally:
            self._lib.duet_clear(self._handle)

    def kernel_strings(self) -> tuple[NDArray[np.uint64], Ints]:
        """Return the addresses of the kernel's strings, ascending, and their indices."""
        return self._texts.kernel_strings()

    def string_id(self, text: str) -> int:
        """Return the index of a text in `strings`; add the text if it is new."""
        return self._texts.id_of(text)

    def _error(self) -> str:
        text: bytes = self._lib.duet_error(self._handle)
        return text.decode(errors="replace")

    def _header_page(self, text: bytes | None) -> None:
        if text is None:
            raise DecodeError("the guest sent no header_page.")
        place = DATA_FIELD.search(text)
        wanted = (16, self.page_bytes - 16)
        if not place or (int(place[1]), int(place[2])) != wanted:
            came = f"{place[2].decode()} at {place[1].decode()}" if place else "nothing about them"
            raise DecodeError(
                f"header_page should say that a page has {wanted[1]} data bytes at offset "
                f"{wanted[0]}, but says {came}"
            )
        if self._lib.duet_header_page(self._handle, text, len(text)):
            raise DecodeError(self._error())

    def _add_events(self, files: Mapping[str, bytes]) -> list[EventType]:
        found: list[EventType] = []
        for name, text in files.items():
            match = FORMAT_FILE.match(name)
            if not match:
                continue
            group, event = match.groups()
            table = self._lib.duet_add_event(
                self._handle, group.encode(), event.encode(), text, len(text)
            )
            if table < 0:
                raise DecodeError(self._error())
            assert table == len(found)
            number = int(self._lib.duet_event_id(self._handle, table))
            found.append(
                EventType(
                    f"{group}/{event}",
                    number,
                    fields_of(self._lib, self._handle, table),
                    int(self._lib.duet_pid_offset(self._handle, table)),
                    int(self._lib.duet_need(self._handle, table)),
                )
            )
        return found

    def _collect(self, cpu: int) -> CpuColumns:
        tables: dict[str, Table] = {}
        events = 0
        for index, event in enumerate(self.events):
            rows = int(self._lib.duet_rows(self._handle, index))
            if not rows:
                continue
            events += rows
            tables[event.name] = Table(
                ts_ns=np.frombuffer(self._bytes(index, -3, rows * 8), np.int64),
                seq=np.frombuffer(self._bytes(index, -2, rows * 8), np.int64),
                pid=np.frombuffer(self._bytes(index, -1, rows * 4), np.int32),
                columns={
                    field.name: self._field_column(index, place, rows, field)
                    for place, field in enumerate(event.fields)
                },
            )
        return CpuColumns(cpu, tables, self._losses(cpu), events)

    def _field_column(self, table: int, place: int, rows: int, field: Field) -> NDArray[np.generic]:
        cells = self._bytes(table, place, rows * field.width)
        if field.kind is FieldKind.INT:
            return np.frombuffer(cells, np.int64)
        if field.kind is FieldKind.STRING:
            return self._texts.ids_at(np.frombuffer(cells, np.int64))
        return np.frombuffer(cells, f"S{field.width}")

    def _bytes(self, table: int, column: int, size: int) -> bytes:
        return ctypes.string_at(self._lib.duet_column(self._handle, table, column), size)

    def _losses(self, cpu: int) -> tuple[LostEvents, ...]:
        first = ctypes.POINTER(Loss)()
        count = self._lib.duet_losses(self._handle, ctypes.byref(first))
        return tuple(
            LostEvents(cpu, one.t0, one.t1, one.count if one.count >= 0 else None)
            for one in first[:count]
        )


def fields_of(lib: ctypes.CDLL, handle: ctypes.c_void_p, table: int) -> tuple[Field, ...]:
    """Return the columns of one event type, in the order of its format file."""
    fields = []
    for index in range(lib.duet_nfields(handle, table)):
        kind, width, signed, size, offset = (ctypes.c_int() for _ in range(5))
        name: bytes = lib.duet_field(
            handle,
            table,
            index,
            ctypes.byref(kind),
            ctypes.byref(width),
            ctypes.byref(signed),
            ctypes.byref(size),
            ctypes.byref(offset),
        )
        fields.append(
            Field(
                name.decode(),
                FieldKind(kind.value),
                size.value,
                bool(signed.value),
                width.value,
                offset.value,
            )
        )
    return tuple(fields)
