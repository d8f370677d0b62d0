# SPDX-License-Identifier: GPL-2.0-or-later
"""Convert the microscope's log and counts to samples and points. Pure numpy.

The log becomes samples named `accesses`, which are saved in a recording, and points, which are sent
to the page. Counts become samples named `microscope`. A replay starts from the recorded samples.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from duet.base.errors import InfraError, InputError
from duet.lenses import Sample
from duet.lenses.scope.wire import CELL, RECORD, Cells
from duet.session.spec import MicroscopeRequest
from duet.session.tables import TABLES, Columns

ACCESSES, COUNTS = "accesses", "microscope"
ACCESS_TYPES = {
    "after": "<u4",
    "cpu": "u1",
    "at": "<i2",
    "size": "u1",
    "class": "u1",
    "function": "<i2",
    "operation": "<u4",
}
"""`after`: nanoseconds since the previous access; for the first access, since the sample's time."""
COUNT_TYPES = {
    "at": "<i4",
    "address": "<f8",
    "function": "<i2",
    "inside": "u1",
    "cpus": "<u4",
    "reads": "<f8",
    "writes": "<f8",
    "rmws": "<f8",
}
"""`at`: byte offset in the watched object, or -1 outside it; `address`: low 48 bits of the cache
line's address; `cpus`: bit n for vCPU n."""
SHORT = {"<u4": "u4", "u1": "u1", "<i2": "i2", "<i4": "i4", "<f8": "f8"}
LOW = (1 << 48) - 1
LINE = 64


def short_address(address: int) -> float:
    """Return the low 48 bits of an address, which a double represents exactly."""
    return float(address & LOW)


def long_address(short: float) -> int:
    """Restore the sign extension of a short_address(): bit 47 is set for kernel addresses."""
    low = int(short)
    return low | (0xFFFF << 48) if low >> 47 & 1 else low


def busiest(cells: Cells, most: int) -> list[int]:
    """Return at most `most` addresses, starting with the cache lines whose names are most useful.

    Lines that are written and that several vCPUs touch come first, then the other lines. Both
    groups are sorted by the number of writes, then by the number of accesses.
    """
    lines, inverse = np.unique(cells.cells["address"] // LINE, return_inverse=True)
    cpus = np.zeros(len(lines), np.uint32)
    np.bitwise_or.at(cpus, inverse, cells.cells["cpus"])
    writes = np.bincount(inverse, cells.cells["writes"] + cells.cells["rmws"], len(lines))
    all_ = writes + np.bincount(inverse, cells.cells["reads"], len(lines))
    shared = (cpus & (cpus - np.uint32(1))).astype(bool) & (writes > 0)
    rank = np.empty(len(lines), np.int64)
    rank[np.lexsort((-all_, -writes, ~shared))] = np.arange(len(lines))
    order = np.argsort(rank[inverse], kind="stable")
    return list(dict.fromkeys(cells.cells["address"][order].tolist()))[:most]


def access_sample(records: NDArray[np.void], seq: int, offset_ns: int, error_ns: int) -> Sample:
    """Convert a part of the log to a sample.

    Args:
        records: non-empty RECORD array, in order.
        offset_ns: host time minus guest time.
    """
    assert records.dtype == RECORD and len(records)
    # A vCPU reserves its log entry before it reads the clock, so times may decrease by a few ns.
    host = np.maximum.accumulate(records["host_ns"].astype(np.int64))
    after = np.diff(host, prepend=host[0])
    columns = {"after": np.minimum(after, 0xFFFF_FFFF)} | {
        name: records[name] for name in ACCESS_TYPES if name != "after"
    }
    return _sample(
        ACCESSES, seq, max(0, int(host[0]) - offset_ns), error_ns, len(records), columns,
        ACCESS_TYPES, {}, (),
    )  # fmt: skip


def count_sample(
    cells: Cells, seq: int, at_ns: int, error_ns: int, watched: tuple[int, int] | None,
    functions: Sequence[str],
) -> Sample:  # fmt: skip
    """Convert counts to a sample: all cells on watched cache lines, and sums for all other lines.

    Args:
        watched: address and size in bytes of the object.
    """
    base, size = watched or (0, 0)
    own = cells.cells
    if watched:
        lines = own["address"] // LINE
        own = own[(lines >= base // LINE) & (lines <= (base + size - 1) // LINE)]
    else:
        own = own[:0]
    both = np.concatenate([own, cells.lines])
    assert both.dtype == CELL
    at = np.full(len(both), -1, np.int64)
    at[: len(own)] = (own["address"] - np.uint64(base)).astype(np.int64)
    columns = {
        name: both[name] for name in COUNT_TYPES if name not in ("at", "address", "function")
    }
    columns["at"] = at
    columns["address"] = (both["address"] & np.uint64(LOW & ~(LINE - 1))).astype(np.float64)
    columns["function"] = np.where(both["function"] == 0xFFFF, -1, both["function"].astype(int))
    names = (
        "logged", "lost", "over", "accesses", "untold", "ops_begun", "ops_ended", "ops_touching",
        "ops_broken", "ops_slept", "ops_left", "ops_again",
    )  # fmt: skip
    facts = {name: float(getattr(cells, name)) for name in names}
    facts |= {
        "ops": float(cells.ops_ended),
        "address": short_address(base),
        "size": float(size),
        "full": float(cells.full),
    }
    return _sample(
        COUNTS, seq, at_ns, error_ns, len(both), columns, COUNT_TYPES, facts, functions
    )  # fmt: skip


def _sample(
    probe: str, seq: int, at_ns: int, error_ns: int, n: int, columns: Columns,
    types: dict[str, str], facts: dict[str, float], texts: Sequence[str],
) -> Sample:  # fmt: skip
    return Sample(
        probe=probe,
        seq=seq,
        at_ns=max(0, at_ns),
        error_ns=max(0, error_ns),
        clock="host",
        took_ns=0,
        torn=0,
        failed=0,
        n=n,
        columns={name: columns[name].astype(kind).tobytes() for name, kind in types.items()},
        dtypes={name: SHORT[kind] for name, kind in types.items()},
        facts=facts,
        texts=list(texts),
    )


def points_of(sample: Sample, kind: int, origin_ns: int, first_id: int) -> Columns:
    """Convert a sample of accesses to points.

    Args:
        kind: number of the point in the lesson's list.
        origin_ns: guest time of the start marker.

    Raises:
        InputError: the sample, from a recording, is malformed.
    """
    wanted = {name: SHORT[t] for name, t in ACCESS_TYPES.items()}
    if sample.dtypes != wanted:
        raise InputError(
            "the recording's accesses do not have the columns of this version.",
            remedy="Record it again.",
        )
    own = {name: np.frombuffer(sample.columns[name], t) for name, t in ACCESS_TYPES.items()}
    if any(len(column) != sample.n for column in own.values()):
        raise InputError(
            "the recording's accesses have columns of different lengths.",
            remedy="Download the file again, or record it again.",
        )
    t_ns = float(sample.at_ns - origin_ns) + np.cumsum(own["after"], dtype=np.float64)
    cells: Columns = {
        "t_ns": np.maximum(t_ns, 0),
        "kind": np.full(sample.n, kind),
        "cpu": own["cpu"],
        "tid": np.zeros(sample.n),
        "a": own["at"],
        "b": own["size"],
        "c": own["class"],
        "d": own["function"],
        "e": own["operation"],
        "f": np.zeros(sample.n),
        "id": np.arange(first_id, first_id + sample.n),
    }
    return {name: cells[name].astype(dtype) for name, dtype in TABLES["points"].items()}


# Texts about the microscope's operations: their number, and why some of them are incomplete.

BROKEN = {
    "ops_slept": "slept or were preempted",
    "ops_left": "left by a jump to another function (a tail call), which returns instead",
    "ops_again": "entered again before their end (recursion, an interrupt, an indirect jump)",
}
"""Name of the count of incomplete operations -> the reason in words."""


def broken_words(counts: Mapping[str, int]) -> str:
    """Describe how many operations are incomplete for each reason in BROKEN; "" if none are."""
    return ", ".join(f"{counts[why]:,} {words}" for why, words in BROKEN.items() if counts[why])


def broken_by(cells: Cells) -> dict[str, int]:
    return {why: getattr(cells, why) for why in BROKEN}


def operation_words(operation: str, until: str) -> str:
    """Describe the counted operation: "open()" or "open() to close()"; "" if there is none."""
    ends = [f"{end}()" for end in (operation, until) if end]
    return " to ".join(dict.fromkeys(ends))


def no_operation(microscope: MicroscopeRequest, cells: Cells) -> InfraError | None:
    """Return why figures per operation are missing; None if they exist or were not requested."""
    name, last = f"{microscope.operation}()", f"{microscope.until or microscope.operation}()"
    if not microscope.operation or (cells.ops_touching if microscope.aim else cells.ops_ended):
        return None
    if not cells.ops_begun:
        why = f"{name} was not called"
        remedy = "Choose a function that the workload calls."
    elif cells.ops_ended:
        why = f"none of {cells.ops_ended:,} calls of {name} touched the watched object"
        remedy = "Choose a function that touches it."
    else:
        words = broken_words(broken_by(cells))
        seen = "return" if last == name else f"go on to the return of {last}"
        why = f"none of {cells.ops_begun:,} calls of {name} was seen to {seen}"
        why += f": {words}" if words else ""
        remedy = f"Let the operation end with another function, such as the caller of {last}."
    return InfraError(f"there are no figures per operation: {why}.", remedy=remedy)


def operations_line(tree: Mapping[str, object]) -> str:
    """Return a sentence for the table's header.

    Args:
        tree: the report with its documented keys.
    """
    counts = tree["broken_by"]
    assert isinstance(counts, dict)
    words = broken_words(counts)
    broken = f"; {tree['ops_broken']:,} more were incomplete: {words}" if words else ""
    return (
        f"{tree['ops']:,} operations{broken}. The column outside counts accesses of no operation: "
        f"{tree['outside']:,} in all."
    )
