# SPDX-License-Identifier: GPL-2.0-or-later
"""Formats of samples and of a lens's state, for messages from its process and for recordings.

A record has a guest time and a msgpack map. Records may come from an untrusted bundle, so they are
checked.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

import msgpack
import numpy as np
from numpy.typing import NDArray

from duet.base.budgets import LENS_RECORD_BYTES
from duet.base.errors import InputError
from duet.bundle.manifest import RECORD_TIME

Route = Literal["memory", "qmp", "unknown"]
Phase = Literal["off", "attaching", "on", "failed"]
Lens = Literal["xray", "microscope"]
ITEM_BYTES = {"f8": 8, "i4": 4, "u1": 1, "u4": 4, "i2": 2}
MAX_COLUMNS = 64
MAX_TEXTS = 20_000
MAX_TEXT_BYTES = 4096
MAX_KEYS = 256
MAX_ROWS = 1 << 22
BROKEN = (
    *(ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError),
    msgpack.UnpackException,
)
PHASES = ("off", "attaching", "on", "failed")
ROUTES = ("memory", "qmp", "unknown")
CLOCKS = ("host", "guest")
LENSES = ("xray", "microscope")


@dataclass(frozen=True, slots=True)
class LensState:
    """State of a lane's lens.

    Args:
        route: how drgn reads: from QEMU's memory (fast) or as text over QMP (slow).
        message: why the lens is off or failed, in one sentence; a remark if it is on.
        samples: number of samples delivered so far. `torn` and `failed` count reads. `dropped`
            counts samples that were due but not delivered. For the microscope, `samples` counts
            logged accesses and `dropped` counts accesses that were not logged.
    """

    state: Phase = "off"
    route: Route = "unknown"
    message: str = ""
    remedy: str = ""
    samples: int = 0
    torn: int = 0
    failed: int = 0
    dropped: int = 0
    lens: Lens = "xray"


@dataclass(frozen=True, slots=True)
class Sample:
    """One sample of one structure, at a guest time.

    Args:
        at_ns: guest CLOCK_MONOTONIC. The true time differs from it by at most error_ns.
        clock: source of the time: the host's clock, calibrated with the agent's frames, or the
            guest's own clock, read from its memory before and after the sample.
        took_ns: host time that the reads took.
        torn, failed: number of this lens's torn and failed reads so far.
        columns, dtypes: raw little-endian bytes, and their types.
    """

    probe: str
    seq: int
    at_ns: int
    error_ns: int
    clock: Literal["host", "guest"]
    took_ns: int
    torn: int
    failed: int
    n: int
    columns: dict[str, bytes]
    dtypes: dict[str, str]
    facts: dict[str, float]
    texts: list[str] = field(default_factory=list)


def pack_record(record: Sample | LensState) -> bytes:
    """Pack a record for duet.bundle.writer.

    Its guest time comes first (0 unless it is a sample).
    """
    body: bytes = msgpack.packb({"kind": type(record).__name__, **asdict(record)})
    return RECORD_TIME.pack(record.at_ns if isinstance(record, Sample) else 0) + body


def unpack_record(body: bytes) -> Sample | LensState:
    """Parse a record of a transcript.

    Raises:
        InputError: the bytes are not a valid record.
    """
    try:
        _check(len(body) <= LENS_RECORD_BYTES)
        tree = unpack_message(body[RECORD_TIME.size :])
        kind = tree.pop("kind")
        record: Sample | LensState
        record = _sample(tree) if kind == "Sample" else _state(tree)
    except BROKEN as error:
        raise InputError(
            f"the recording has an x-ray record that cannot be read ({type(error).__name__}).",
            remedy="Download the file again, or record it again.",
        ) from error
    return record


def unpack_message(body: bytes) -> dict[str, Any]:
    """Parse a msgpack map, with limits on its lists, maps and texts.

    Raises:
        ValueError, msgpack.UnpackException: the bytes are not such a map.
    """
    tree = msgpack.unpackb(
        body,
        max_array_len=MAX_TEXTS,
        max_map_len=MAX_KEYS,
        max_str_len=MAX_TEXT_BYTES,
        max_bin_len=LENS_RECORD_BYTES,
    )
    if not isinstance(tree, dict):
        raise ValueError("not a map")
    return tree


def _state(tree: dict[str, object]) -> LensState:
    state = LensState(**tree)  # type: ignore[arg-type]
    _check(state.state in PHASES and state.route in ROUTES and state.lens in LENSES)
    _check(isinstance(state.message, str) and isinstance(state.remedy, str))
    _whole(state.samples, state.torn, state.failed, state.dropped)
    return state


def _sample(tree: dict[str, object]) -> Sample:
    sample = Sample(**tree)  # type: ignore[arg-type]
    _whole(sample.seq, sample.at_ns, sample.error_ns, sample.took_ns)
    _whole(sample.torn, sample.failed, sample.n)
    _check(sample.n <= MAX_ROWS)
    _check(isinstance(sample.probe, str) and len(sample.probe) < 64 and sample.clock in CLOCKS)
    _check(set(sample.columns) == set(sample.dtypes) and len(sample.columns) <= MAX_COLUMNS)
    for name, column in sample.columns.items():
        _check(isinstance(name, str) and isinstance(column, bytes))
        _check(len(column) % ITEM_BYTES[sample.dtypes[name]] == 0)
    _check(isinstance(sample.texts, list) and len(sample.texts) <= MAX_TEXTS)
    _check(all(isinstance(text, str) for text in sample.texts))
    for name, fact in sample.facts.items():
        _check(isinstance(name, str) and isinstance(fact, (int, float)))
        _check(math.isfinite(fact))
    return sample


def _whole(*numbers: object) -> None:
    _check(all(isinstance(number, int) and 0 <= number < 1 << 63 for number in numbers))


def _check(holds: bool) -> None:
    if not holds:
        raise ValueError("out of range")


# A probe's result: columns, numbers, and texts for its rows.

Columns = dict[str, NDArray[np.generic]]
DTYPES = {"<f8": "f8", "<i4": "i4", "|u1": "u1", "<u4": "u4", "<i2": "i2"}
"""numpy's dtype names -> the names in the contract with the browser."""


@dataclass(frozen=True, slots=True)
class Reading:
    """One sample of a structure.

    Args:
        n: number of rows. Most columns have n values. The probe documents columns with another
            number.
        facts: single numbers, by name.
        texts: one name per row, if rows have names.
    """

    n: int
    columns: Columns
    facts: dict[str, float]
    texts: tuple[str, ...] = field(default=())

    def __post_init__(self) -> None:
        for name, column in self.columns.items():
            if column.dtype.str not in DTYPES:
                raise ValueError(f"{name} has dtype {column.dtype.str}, which no message can have")
