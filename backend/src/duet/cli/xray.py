# SPDX-License-Identifier: GPL-2.0-or-later
"""`duet xray`: runs a workload on one arm, and reads a structure of the arm's kernel meanwhile."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Annotated

import typer

from duet.base.errors import InfraError
from duet.cli.keys import key, keys_text
from duet.cli.options import ClockOption, Json, Set, Slug, Workload
from duet.cli.output import emit

if TYPE_CHECKING:
    from duet.cli.sinks import SampleSink
    from duet.lenses import Sample, Wanted
    from duet.session import RunSession, RunSpec


@dataclass(frozen=True, slots=True)
class XrayResult:
    """Keys that are printed after the probe's facts."""

    lesson: str
    arm: str
    workload: str
    clock: str
    params: Mapping[str, int]
    probe: str
    largest_sample: str = key("which sample is shown")
    rows: int = key()
    t_ms: float = key()
    error_ms: float = key()
    time_by: str = key("host, guest")
    sample_ms: float = key("reads of the sample shown")
    sample_ms_p50: float = key()
    sample_ms_p95: float = key()
    samples: int = key()
    torn: int = key()
    failed: int = key()
    dropped: int = key()
    route: str = key("memory, qmp, unknown")


KEYS = keys_text(
    XrayResult,
    "The probe's own facts come before these. docs/PROBES.md describes those of generic probes, "
    "each file in a lesson's probes/ its own.",
)


def xray(
    lesson: Slug,
    probe: Annotated[str, typer.Argument(help="What to read; docs/PROBES.md lists it.")],
    arm: Annotated[str, typer.Option("--arm", help="The arm whose kernel to read.")],
    workload: Workload = "",
    clock: ClockOption = "",
    set: Set = None,
    hz: Annotated[float, typer.Option(min=0.1, max=30, help="Samples per second.")] = 30,
    of: Annotated[
        str,
        typer.Option(
            "--of",
            help="Which object to read, if there are several; the probe's own file explains it.",
        ),
    ] = "",
    as_json: Json = False,
) -> int:
    """Read a structure of a running kernel with drgn. Boot an arm and run the workload.

    The guest is not stopped. The verb shows the largest sample, which has the most memcgs and
    shrinkers, inodes or extents. A workload removes at its end what it created, so the last sample
    would be small. Of equally large samples, the verb shows the last.
    """
    from duet.cli.arguments import read_request
    from duet.lenses import Wanted, probe_names
    from duet.lenses.registry import no_probe
    from duet.lessons.load import load

    given = (lesson, arm, workload, clock, set or [])
    known = probe_names(load(given[0]).slug)
    if probe not in known:
        raise no_probe(probe, known)
    spec = read_request(*_holding(given))
    taken = asyncio.run(sample_run(spec, Wanted(probe, hz, of, given[0])))
    tree = result_tree(spec, taken)
    if as_json:
        emit(tree)
    else:
        print_sample(tree, largest_sample(taken)[0])
    return 0


CHOICE = "the last of the largest"
SHOWN_ROWS = 24
DTYPES = {"f8": "<f8", "i4": "<i4", "u1": "u1", "u4": "<u4", "i2": "<i2"}


def _holding(
    given: tuple[str, str, str, str, list[str]],
) -> tuple[str, str, str, str, list[str]]:
    """If neither workload nor clock was named, choose a workload that waits for a command."""
    from duet.lessons.load import load

    lesson, arm, workload, clock, settings = given
    held = (name for name, one in load(lesson).lesson.workloads.items() if one.input)
    name = "" if workload or clock else next(held, "")
    return (lesson, arm, name, "wall", settings) if name else given


async def sample_run(spec: RunSpec, wanted: Wanted) -> SampleSink:
    """Run the workload once, and take samples during the run. Only markers are traced.

    Raises:
        DuetError: the lane failed, or the lens took no sample.
    """
    from duet.cli.sinks import SampleSink
    from duet.kernels import KernelSettings
    from duet.lessons.plan import workload_of
    from duet.runs.sources import kernel_sources
    from duet.session import LaneGuests, RunSession

    (arm,) = spec.arms
    sources = await kernel_sources(spec.folder, spec.arms, KernelSettings.default())
    taken = SampleSink()
    sampled = replace(spec, run_id="xray", probes=frozenset(), xray=(wanted,))
    async with LaneGuests() as lanes:
        session = RunSession(lanes, sampled, sources, taken)
        holds = workload_of(spec.folder.lesson, spec.workload).input
        ending = asyncio.create_task(end_when_steady(taken, session)) if holds else None
        try:
            result = await session.execute()
        finally:
            if ending is not None:
                ending.cancel()
                await asyncio.gather(ending, return_exceptions=True)
    if (error := result.lanes[arm].error) is not None:
        raise error
    if not taken.samples:
        raise InfraError(
            taken.lens.message or "the workload ended before the first sample.",
            remedy=taken.lens.remedy or "Give the workload more to do with --set, or raise --hz.",
        )
    return taken


async def end_when_steady(taken: SampleSink, session: RunSession) -> None:
    """Wait until successive samples have the same size, then end the workload."""
    await taken.steady.wait()
    await session.stop()


def largest_sample(taken: SampleSink) -> tuple[Sample, float]:
    """Return the largest sample. If several are equally large, return the last of them."""
    from duet.cli.sinks import size_of

    largest = max(map(size_of, taken.samples))
    return [pair for pair in taken.samples if size_of(pair) == largest][-1]


def result_tree(spec: RunSpec, taken: SampleSink) -> dict[str, object]:
    """Return what `--json` prints: the probe's facts, then XrayResult."""
    import numpy as np

    sample, t_ns = largest_sample(taken)
    took = np.array([one.took_ns for one, _ in taken.samples]) / 1e6
    facts = {name: int(v) if v == int(v) else v for name, v in sample.facts.items()}
    found = XrayResult(
        lesson=spec.folder.slug,
        arm=spec.arms[0],
        workload=spec.workload,
        clock=spec.clock,
        params=spec.params,
        probe=sample.probe,
        largest_sample=CHOICE,
        rows=sample.n,
        t_ms=round(t_ns / 1e6, 3),
        error_ms=round(sample.error_ns / 1e6, 3),
        time_by=sample.clock,
        sample_ms=round(sample.took_ns / 1e6, 3),
        sample_ms_p50=round(float(np.percentile(took, 50)), 3),
        sample_ms_p95=round(float(np.percentile(took, 95)), 3),
        samples=len(taken.samples),
        torn=taken.lens.torn,
        failed=taken.lens.failed,
        dropped=taken.lens.dropped,
        route=taken.lens.route,
    )
    return facts | asdict(found)


def print_sample(tree: dict[str, object], sample: Sample) -> None:
    """Print the counts, then the first rows, for people."""
    import numpy as np

    print(f"{tree['lesson']}, {tree['arm']}, {tree['clock']} clock: {sample.probe}")
    print(
        f"{tree['samples']} samples by {tree['route']}, p50 {tree['sample_ms_p50']} ms, "
        f"torn {tree['torn']}, failed {tree['failed']}, dropped {tree['dropped']}; "
        f"shown: {CHOICE}, at {tree['t_ms']} +- {tree['error_ms']} ms of guest time"
    )
    print("  ".join(f"{name} {fact:g}" for name, fact in sample.facts.items()))
    columns = {
        name: np.frombuffer(body, DTYPES[sample.dtypes[name]])
        for name, body in sample.columns.items()
    }
    per_row = {name: c for name, c in columns.items() if sample.n and len(c) == sample.n}
    names = [*(["name"] if len(sample.texts) == sample.n else []), *per_row]
    rows = [names] + [
        [
            *(sample.texts[r : r + 1] if "name" in names else []),
            *(f"{c[r]:g}" for c in per_row.values()),
        ]
        for r in range(min(sample.n, SHOWN_ROWS))
    ]
    widths = [max(len(row[i]) for row in rows) for i in range(len(names))]
    for row in rows:
        print("  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)))
    if sample.n > SHOWN_ROWS:
        print(f"... and {sample.n - SHOWN_ROWS} more rows")
