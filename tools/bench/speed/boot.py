# SPDX-License-Identifier: GPL-2.0-or-later
"""Stage `boot`: time from the request for a guest until the lane's first event is decoded.

Three ways to start a workload on the same kernel are compared, in turns: a copy of a guest that was
parked right before its workload, a cold guest with our sealed root, and virtme-ng. In each of them
our agent runs the workload and streams its events, so the first event is the same.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

from duet.base.errors import DuetError, InfraError
from duet.cli.arguments import environment_variable, read_request
from duet.cli.doctor.first_event import FirstEvent, first_event, wait_parked
from duet.guests.clones import Templates, prepare_copy
from duet.guests.vng import find_vng
from duet.kernels import KernelSettings
from duet.runs.sources import kernel_sources
from duet.session import Batch, RunSpec
from tools.bench.lanes import TEMPLATE_BYTES
from tools.bench.speed.guests.tree_cpu import tree_cpu_s
from tools.bench.speed.pairs import (
    Bench,
    Figure,
    Result,
    Row,
    Skipped,
    Stage,
    Turn,
    row_of,
)

NAME = "boot"
LESSON, ARM = "02-grace-periods", "srcu"
COPY = "a copy of a parked guest"
COLD = "a cold guest"
VNG = "virtme-ng"
CASE = "request to first decoded event: {ours}"


def run(bench: Bench) -> Iterator[Result]:
    """Yield the two comparisons, and the time of a copy."""
    try:
        spec = read_request(LESSON, ARM, "", "wall", [])
        with asyncio.Runner() as runner:
            yield from _copies(bench, runner, spec)
            yield _vng(bench, runner, spec)
    except DuetError as error:
        yield Skipped(NAME, CASE.format(ours=COPY), f"{error.sentence} {error.remedy}")


def _copies(bench: Bench, runner: asyncio.Runner, spec: RunSpec) -> Iterator[Result]:
    copies, colds = [], []
    runner.run(kernel_sources(spec.folder, (ARM,), KernelSettings.default()))
    templates = Templates(TEMPLATE_BYTES, prepare=prepare_copy)
    runner.run(templates.__aenter__())
    try:
        runner.run(first_event(spec, ARM, templates))  # afterwards a guest is parked
        for _ in range(bench.pairs):
            runner.run(wait_parked(templates))
            copies.append(_start(runner, spec, templates))
            runner.run(wait_parked(templates))
            colds.append(_start(runner, spec, None))
    finally:
        runner.run(templates.__aexit__(None, None, None))
    row = _row(COPY, COLD, copies, colds)
    yield row
    times = sorted(turn.wall_s for turn in copies)
    yield Figure(NAME, row.case, row.wall_s, "s", spread=(times[0], times[-1]))


def _vng(bench: Bench, runner: asyncio.Runner, spec: RunSpec) -> Result:
    case = CASE.format(ours=COLD)
    if bench.smoke:
        return Skipped(NAME, case, "A boot with virtme-ng takes 7 s, too long for a smoke run.")
    try:
        find_vng()
    except DuetError as error:
        return Skipped(NAME, case, f"{error.sentence} {error.remedy}")
    ours, theirs = [], []
    for _ in range(bench.pairs):
        ours.append(_start(runner, spec, None))
        with environment_variable("DUET_GUEST", "vng"):
            theirs.append(_start(runner, spec, None))
    return _row(COLD, VNG, ours, theirs)


class Costed(FirstEvent):
    """Also notes the CPU time of all our processes, guests included, at the first event."""

    cpu_s = 0.0

    def on_batch(self, arm: str, new: Batch) -> None:
        first = not self.seen.is_set()
        super().on_batch(arm, new)
        if first:
            self.cpu_s = tree_cpu_s()


def _start(runner: asyncio.Runner, spec: RunSpec, templates: Templates | None) -> Turn:
    """Start a lane and end it; with templates, the guest must be a copy.

    Raises:
        InfraError: no event came, or no guest was copied.
    """
    sink, before = Costed(), tree_cpu_s()
    start = runner.run(first_event(spec, ARM, templates, sink))
    if start.ms is None:
        raise InfraError(f"a lane sent no event: {start.why}", remedy="Run: ./duet doctor --deep")
    if templates is not None and not start.cloned:
        raise InfraError("no guest was parked, so none was copied.", remedy="Try again.")
    return Turn(start.ms / 1e3, sink.cpu_s - before)


def _row(ours: str, peer: str, mine: list[Turn], theirs: list[Turn]) -> Row:
    return row_of(
        NAME, CASE.format(ours=ours), peer, mine, theirs, work=1, unit="guests", clock="wall",
        note="CPU time is of this process and of the guest, until the first event.",
    )  # fmt: skip


STAGE = Stage(NAME, "from a request to the first decoded event", run, 40)
