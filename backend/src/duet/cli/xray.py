# SPDX-License-Identifier: GPL-2.0-or-later
"""`duet xray`: run a workload on one arm and read a structure of its kernel meanwhile."""

from __future__ import annotations

import asyncio
from dataclasses import asdict, dataclass, field

import numpy as np

from duet.base.errors import DuetError, InfraError
from duet.cli.arguments import Request, read_request
from duet.cli.measuring import ConsoleSink
from duet.cli.output import emit, note
from duet.cli.results.lenses import XrayResult
from duet.guests import Accel, Clock, GuestOptions, GuestSpec, ensure_root, open_guest
from duet.guests.boot import kvm_refusal
from duet.kernels import KernelImage, KernelSettings, lookup, plan
from duet.kernels.arms import arm_specs
from duet.lenses import LensState, Sample, Wanted, probe_names
from duet.lenses.registry import no_probe
from duet.lessons import load as lessons
from duet.lessons.load import load
from duet.lessons.plan import workload_of
from duet.runs.sources import kernel_sources
from duet.session import Lanes, RunSession, RunSpec

CHOICE = "the last of the largest"
STEADY = 10
"""So many looks at a workload that holds still, alike in size, are enough: it is ended then."""
SHOWN_ROWS = 24
DTYPES = {"f8": "<f8", "i4": "<i4", "u1": "u1", "u4": "<u4", "i2": "<i2"}


@dataclass
class Taken(ConsoleSink):
    """Keeps the samples of one lane."""

    samples: list[tuple[Sample, float]] = field(default_factory=list)
    lens: LensState = field(default_factory=LensState)
    steady: asyncio.Event = field(default_factory=asyncio.Event)

    def on_sample(self, arm: str, sample: Sample, t_ns: float) -> None:
        """Keep it; of equal ones only what is needed: memory is bounded by the transcript's."""
        self.samples.append((sample, t_ns))
        last = {_size(pair) for pair in self.samples[-STEADY:] if pair[1] > 0}
        if len(self.samples) > STEADY and len(last) == 1:
            self.steady.set()

    def on_lens(self, arm: str, state: LensState) -> None:
        """The newest counts."""
        if state.state == "on" and self.lens.state != "on":
            note(f"{arm}: the x-ray is attached (by {state.route})")
        self.lens = state


def xray(
    given: tuple[str, str, str, str, list[str]], probe: str, hz: float, of: str, as_json: bool
) -> int:
    """See `duet xray --help`; `given` is what read_request takes."""
    known = probe_names(load(given[0]).slug)
    if probe not in known:
        raise no_probe(probe, known)
    request = read_request(*_holding(given))
    taken = asyncio.run(look(request, Wanted(probe, hz, of, given[0])))
    tree = result_tree(request, taken)
    if as_json:
        emit(tree)
    else:
        print_sample(tree, chosen(taken)[0])
    return 0


def _holding(
    given: tuple[str, str, str, str, list[str]],
) -> tuple[str, str, str, str, list[str]]:
    """With no workload and no clock named: one that waits for a command, if there is one."""
    lesson, arm, workload, clock, settings = given
    held = (name for name, one in load(lesson).lesson.workloads.items() if one.input)
    name = "" if workload or clock else next(held, "")
    return (lesson, arm, name, str(Clock.WALL), settings) if name else given


async def look(request: Request, wanted: Wanted) -> Taken:
    """Run the workload once, with markers as its only events, and sample all along.

    Raises:
        DuetError: the lane failed, or the lens saw nothing.
    """
    (arm,) = request.arms
    sources = await kernel_sources(request.folder, request.arms, KernelSettings.default())
    taken = Taken()
    spec = RunSpec(
        run_id="xray",
        folder=request.folder,
        arms=request.arms,
        workload=request.workload,
        params=request.params,
        clock=request.clock,
        probes=frozenset(),
        xray=(wanted,),
    )
    async with Lanes() as lanes:
        session = RunSession(lanes, spec, sources, taken)
        holds = workload_of(request.folder.lesson, request.workload).input
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
            taken.lens.message or "the workload was over before the x-ray had looked once.",
            remedy=taken.lens.remedy or "Give it more to do with --set, or sample faster (--hz).",
        )
    return taken


async def end_when_steady(taken: Taken, session: RunSession) -> None:
    """A workload that would hold still for long has been seen."""
    await taken.steady.wait()
    await session.stop()


def chosen(taken: Taken) -> tuple[Sample, float]:
    """One sample of the run: while everything stood, as late as possible."""
    largest = max(map(_size, taken.samples))
    return [pair for pair in taken.samples if _size(pair) == largest][-1]


def _size(pair: tuple[Sample, float]) -> int:
    return sum(len(column) for column in pair[0].columns.values())


def result_tree(request: Request, taken: Taken) -> dict[str, object]:
    """What `--json` prints: facts of the probe, then XrayResult."""
    sample, t_ns = chosen(taken)
    took = np.array([one.took_ns for one, _ in taken.samples]) / 1e6
    facts = {name: int(v) if v == int(v) else v for name, v in sample.facts.items()}
    found = XrayResult(
        lesson=request.folder.slug,
        arm=request.arms[0],
        workload=request.workload,
        clock=str(request.clock),
        params=request.params,
        probe=sample.probe,
        chosen=CHOICE,
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
    """For people: what was counted, then the first rows."""
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


# Does KVM work here? Only a guest that has really booted under it says so.


def kvm_works() -> tuple[bool, str]:
    """Whether a guest boots under KVM, and if not, why. The answer is kept by duet.guests."""
    if why := kvm_refusal():
        return False, f"{why} Guests are emulated."
    image = _any_image()
    if image is None:
        return False, "not probed yet, since no kernel is built"
    try:
        works = asyncio.run(_boots(image))
    except DuetError as error:
        return False, f"the probe guest did not come up: {error.sentence}"
    return (
        works,
        "" if works else "/dev/kvm opens, but no guest boots under it: guests are emulated",
    )


def _any_image() -> KernelImage | None:
    settings = KernelSettings.default()
    for slug in lessons.slugs():
        for spec in arm_specs(lessons.load(slug)).values():
            try:
                image = lookup(plan(spec, settings), settings)
            except DuetError:
                continue
            if image is not None:
                return image
    return None


async def _boots(image: KernelImage) -> bool:
    root = await ensure_root()
    spec = GuestSpec("probe", image.bzimage, root.image, vcpus=1, memory_mib=256)
    async with open_guest("qemu", spec, GuestOptions(policy="auto")) as guest:
        return guest.facts.accel is Accel.KVM
