# SPDX-License-Identifier: GPL-2.0-or-later
"""Measure a lesson's replica on a host.

The layouts run in turn with all threads, then with several numbers of threads, then under perf. The
results are raw figures without verdicts, so the host does not need scipy. This module is used by
`duet microscope --native` and by `./measure` of a pack.
"""

from __future__ import annotations

import hashlib
import statistics
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Final

from pydantic import BaseModel, ConfigDict, Field

from duet.lenses.scope import native
from duet.lenses.scope.coherence import stated
from duet.lenses.scope.native import Layout, Operation, Point, Run
from duet.lessons.load import LessonFolder

ROUNDS: Final = 7
RUN_MS: Final = 700
POINT_MS: Final = 300
"""Duration of a run for one point of a curve."""
TAKES_S: Final = 40.0
"""Estimated duration of measure_replica() with two layouts."""
FEW: Final = "this host has fewer than the 4 required cores, so this is a trial, not a result"
VIRTUAL: Final = "this host is a virtual machine, whose CPUs may be threads of one core"

Positive = Annotated[float, Field(gt=0)]


class Strict(BaseModel):
    model_config = ConfigDict(extra="forbid")


class ReplicaArm(Strict):
    """Raw figures of one layout.

    Args:
        alone_ns: duration of an operation with one thread.
        per_s: operations per second of all threads together, one figure for each round.
        curve: operations per second for several numbers of threads.
        events_per_op: what perf stat counted; empty if perf cannot count events on this host.
        c2c: what perf c2c sampled; empty if perf cannot sample memory events on this host.
    """

    layout: Layout
    alone_ns: Positive
    per_s: Annotated[tuple[Positive, ...], Field(min_length=ROUNDS, max_length=ROUNDS)]
    curve: tuple[Point, ...]
    retries_per_op: float
    stuck_per_op: float
    events_per_op: dict[str, float]
    c2c: dict[str, int]


class ReplicaRuns(Strict):
    """Raw figures of all layouts on one host, and where they come from.

    Args:
        threads: number of threads of a round; thread n runs on cpus[n].
        cores: usable cores of the socket.
        made: CPU model, kernel, machine, compiler and time, as native.provenance() gives them.
        host: rates of the host's own kernel by number of threads; empty if not measured.
        host_what: the operation that was measured on the host's own kernel.
    """

    lesson: str
    made: dict[str, str]
    threads: int
    cpus: tuple[int, ...]
    cores: int
    rounds: int = ROUNDS
    run_ms: int = RUN_MS
    arms: Annotated[tuple[ReplicaArm, ...], Field(min_length=2)]
    host: tuple[Point, ...]
    host_what: str
    remarks: tuple[str, ...]


def measure_replica(
    lesson: str,
    operation: Operation,
    layouts: Sequence[Layout],
    cores: Sequence[int],
    cpus: Sequence[int],
    tell: Callable[[str], None],
) -> ReplicaRuns:
    """Run the layouts in turn, then run each layout under perf. Blocks for about TAKES_S.

    The order of the layouts is reversed in every second round.

    Args:
        cores: one CPU of each core.
        cpus: the CPU of each thread.
        tell: receives a line of progress.

    Raises:
        InfraError: the replica does not compile, fails, or times out.
    """
    alone = {x.arm: native.run_once(operation, x, cpus[:1], RUN_MS)[0] for x in layouts}
    runs: dict[str, list[Run]] = {layout.arm: [] for layout in layouts}
    for number in range(ROUNDS):
        tell(f"round {number + 1} of {ROUNDS}, {len(cpus)} threads")
        for layout in layouts if number % 2 == 0 else layouts[::-1]:
            runs[layout.arm].append(native.run_once(operation, layout, cpus, RUN_MS)[0])
    curves: dict[str, list[Point]] = {}
    for layout in layouts:
        tell(f"{layout.arm}, by number of threads")
        curves[layout.arm] = native.layout_curve(operation, layout, cpus, POINT_MS)
    host, no_host = native.host_curve(operation, layouts[0], cpus, POINT_MS)
    remarks = [FEW] if len(cores) < native.LEAST_CORES else []
    if "hypervisor" in Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace"):
        remarks.append(VIRTUAL)
    arms, whys = [], dict.fromkeys([no_host])
    for layout in layouts:
        events, no_events = native.count_events(operation, layout, cpus, RUN_MS)
        sampled, no_c2c = ({}, "") if no_events else native.sample_transfers(
            operation, layout, cpus, RUN_MS
        )  # fmt: skip
        whys |= dict.fromkeys((no_events, no_c2c))
        mine = runs[layout.arm]
        ops = sum(run.ops for run in mine)
        arms.append(
            ReplicaArm(
                layout=layout,
                alone_ns=alone[layout.arm].ns / alone[layout.arm].ops,
                per_s=tuple(run.per_s for run in mine),
                curve=tuple(curves[layout.arm]),
                retries_per_op=sum(run.retries for run in mine) / ops,
                stuck_per_op=sum(run.stuck for run in mine) / ops,
                events_per_op=events,
                c2c=sampled,
            )
        )
    return ReplicaRuns(
        lesson=lesson,
        made=native.provenance(),
        threads=len(cpus),
        cpus=tuple(cpus),
        cores=len(cores),
        arms=tuple(arms),
        host=tuple(host),
        host_what=operation.host_what,
        remarks=(*remarks, *filter(None, whys)),
    )


def replica_digest(folder: LessonFolder) -> str:
    """Return the SHA-256 of what the replica does: its program, its accesses, and the work between
    them.
    """
    files = (native.read_operation(folder).source, folder.folder / native.OPERATION)
    what = [path.read_bytes() for path in files]
    counted = repr((sorted(stated()["counted"].items()), stated()["stated"]["own_ns"]["value"]))
    return hashlib.sha256(b"\0".join([*what, counted.encode()])).hexdigest()


def median_of(arm: ReplicaArm) -> float:
    """Return the median rate of a layout's rounds, in operations per second."""
    return statistics.median(arm.per_s)
