# SPDX-License-Identifier: GPL-2.0-or-later
"""What decoding gives: one table per event type, one numpy column per field."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]


class FieldKind(IntEnum):
    """How a field is stored in its column (numbers shared with _pages.c)."""

    INT = 0
    """int64; unsigned 64-bit values keep their bits."""
    CHARS = 1
    """fixed text such as comm: S16."""
    STRING = 2
    """const char *: int64 index into Decoder.strings."""
    TEXT = 3
    """text at the end of the record, e.g. of ftrace/print: S256."""
    LOC = 4
    """__data_loc text: S256."""


@dataclass(frozen=True, slots=True)
class Field:
    """One field of an event's format."""

    name: str
    kind: FieldKind
    size: int
    signed: bool
    width: int


@dataclass(frozen=True, slots=True)
class EventType:
    """One event as the guest's format file describes it."""

    name: str
    id: int
    fields: tuple[Field, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """All records of one event type on one CPU, in the order in which they were written.

    Args:
        seq: running number on this CPU over all events; decides where times are equal.
    """

    ts_ns: Ints
    seq: Ints
    pid: NDArray[np.int32]
    columns: dict[str, NDArray[np.generic]]

    def __len__(self) -> int:
        return len(self.ts_ns)


@dataclass(frozen=True, slots=True)
class LostEvents:
    """The kernel overwrote events of one CPU between two guest times; None: it did not count."""

    cpu: int
    t0_ns: int
    t1_ns: int
    count: int | None


@dataclass(frozen=True, slots=True)
class CpuColumns:
    """Everything decoded from some pages of one CPU; event types without records are absent."""

    cpu: int
    tables: dict[str, Table]
    losses: tuple[LostEvents, ...]
    events: int
