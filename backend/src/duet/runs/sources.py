# SPDX-License-Identifier: GPL-2.0-or-later
"""Where lanes come from: the kernel store and a kind of guest, or a recording."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from duet.base.errors import InputError
from duet.bundle import Bundle, Record
from duet.bundle.archive import HEAD
from duet.guests import (
    Clock,
    Guest,
    GuestOptions,
    GuestRoot,
    GuestSpec,
    Microscope,
    default_kind,
    ensure_root,
    open_guest,
)
from duet.guests.clones import CloneableGuest, Templates
from duet.guests.qemu import qemu_version
from duet.guests.replay import ReplayGuest
from duet.kernels import KernelImage, KernelSettings
from duet.kernels.arms import arm_spec, find_image
from duet.kernels.links import find_layouts
from duet.lenses.scope.client import plugin_library
from duet.lenses.scope.symbols import functions_text
from duet.lessons.load import LessonFolder
from duet.lessons.schema import ClockName
from duet.measure import MeasurePlan
from duet.session import GuestRequest, LaneSource, MicroscopeRequest, needed_symbols

SWITCH = "__switch_to_asm"
"""Where one task's stack becomes another's (arch/x86/entry/entry_64.S)."""


def image_source(
    arm: str,
    image: KernelImage,
    symbols: dict[str, int],
    root: GuestRoot,
    lesson: str = "",
    templates: Templates | None = None,
) -> LaneSource:
    """A lane that boots a stored kernel in the kind of guest that $DUET_GUEST names.

    Args:
        templates: of parked guests; a copy then stands for a boot where there is one.
    """

    def spec_of(request: GuestRequest) -> GuestSpec:
        return GuestSpec(
            arm=request.arm,
            bzimage=image.bzimage,
            initrd=root.image,
            vcpus=request.vcpus,
            memory_mib=request.memory_mb,
            disks_mib=(request.scratch_mb,) if request.scratch_mb else (),
            cmdline=(*request.cmdline, *image.cmdline),
            clock=request.clock,
            icount_shift=request.shift,
            sharing=request.vcpus if request.clock is Clock.COUNT else 1,
            seed=request.seed,
            boot_plan=request.boot_plan,
            plan=request.plan,
            microscope=request.microscope,
        )

    def guest(request: GuestRequest) -> Guest:
        options = GuestOptions(programs=root.programs, templates=templates)
        return open_guest(default_kind(), spec_of(request), options)

    def parked(request: GuestRequest) -> bool:
        return templates is not None and templates.has(spec_of(request))

    async def park(request: GuestRequest, later: bool) -> None:
        if isinstance(lane := guest(request), CloneableGuest):
            await lane.park(later)

    async def scope(request: MicroscopeRequest) -> Microscope:
        plugin = await asyncio.to_thread(plugin_library, await qemu_version())
        text = await asyncio.to_thread(
            functions_text,
            image.vmlinux,
            request.functions,
            request.operation or None,
            SWITCH,
            request.until or None,
        )
        return Microscope(plugin, text)

    return LaneSource(
        arm,
        symbols,
        guest,
        vmlinux=image.vmlinux,
        lesson=lesson,
        scope=scope,
        content=f"{image.key} {root.key}",
        parked=parked,
        park=park,
    )


async def kernel_sources(
    folder: LessonFolder,
    arms: Iterable[str],
    settings: KernelSettings,
    templates: Templates | None = None,
) -> dict[str, LaneSource]:
    """Lanes of stored kernels; with `templates` they are copies where a guest is parked.

    Raises:
        InfraError: a kernel is not built, or the guests' root cannot be made.
    """
    images = {arm: await asyncio.to_thread(find_image, folder, arm, settings) for arm in arms}
    root = await ensure_root()
    sources: dict[str, LaneSource] = {}
    for arm, image in images.items():
        symbols = await asyncio.to_thread(lesson_symbols, folder, image)
        sources[arm] = image_source(arm, image, symbols, root, folder.slug, templates)
    return sources


_symbols: dict[tuple[str, frozenset[str]], dict[str, int]] = {}


def lesson_symbols(folder: LessonFolder, image: KernelImage) -> dict[str, int]:
    """Addresses that the lesson mentions; a System.map has 100,000 lines, so they are kept."""
    needed = frozenset(needed_symbols(folder.lesson))
    key = (str(image.key), needed)
    if key not in _symbols:
        found = image.symbols()
        _symbols[key] = {name: found[name] for name in sorted(needed) if name in found}
    return _symbols[key]


def bundle_sources(
    bundle: Bundle, tell: Callable[[str, int], None] = lambda arm, length: None
) -> dict[str, LaneSource]:
    """Lanes of a recording, played as fast as they can be read.

    Args:
        tell: called with lane and length of each record once it was taken.
    """

    def fed(arm: str) -> Iterator[Record]:
        for record in bundle.records(arm):
            yield record
            tell(arm, HEAD.size + len(record.payload))

    def source(arm: str) -> LaneSource:
        def guest(_: GuestRequest) -> Guest:
            return ReplayGuest(fed(arm))

        return LaneSource(arm, bundle.manifest.arm(arm).symbols, guest)

    return {entry.name: source(entry.name) for entry in bundle.manifest.arms}


# What is to be run or measured, checked against the lesson.


@dataclass(frozen=True, slots=True)
class RunRequest:
    """A checked `start`: what is to run.

    Args:
        params: every knob, defaults filled in.
        missing: arms that were asked for but whose kernel is not built yet.
    """

    folder: LessonFolder
    arms: tuple[str, ...]
    workload: str
    params: dict[str, int]
    clock: ClockName
    missing: tuple[str, ...] = ()

    @property
    def shift(self) -> int:
        """2^shift ns an instruction, as the lesson wants it on the count clock."""
        return self.folder.lesson.shift if self.clock == "count" else 0


@dataclass(frozen=True, slots=True)
class MeasureRequest:
    """A checked `measure`."""

    run: RunRequest
    repeats: int


@dataclass(frozen=True, slots=True)
class JudgeRequest:
    """A checked `judge`.

    Args:
        run: with all arms that are measured; its workload and knobs are those of the goals.
        challenge: by name.
        arm: that is judged.
    """

    run: RunRequest
    challenge: str
    arm: str


def only(request: RunRequest, arms: Sequence[str]) -> RunRequest:
    """Some lanes of a run.

    Raises:
        InputError: the run has no such lane.
    """
    for arm in arms:
        if arm not in request.arms:
            raise InputError(
                f"the run has no lane '{arm:.60}'.",
                remedy=f"Choose from: {', '.join(request.arms)}.",
            )
    return replace(request, arms=tuple(arms), missing=())


Job = RunRequest | MeasureRequest | JudgeRequest
"""What can be queued."""


def run_of(job: Job) -> RunRequest:
    """What runs."""
    return job if isinstance(job, RunRequest) else job.run


# Lanes of further links of the kernels that a measurement compares.


async def layout_sources(
    plan: MeasurePlan, settings: KernelSettings
) -> dict[tuple[str, int], LaneSource]:
    """(arm, number) -> a lane of that layout of the arm; none where none were asked for.

    Raises:
        InfraError: a layout is not linked, or the guests' root cannot be made.
    """
    sources: dict[tuple[str, int], LaneSource] = {}
    for arm in plan.arms if plan.layouts else ():
        spec = arm_spec(plan.folder, arm)
        images = await asyncio.to_thread(find_layouts, spec, plan.layouts, settings)
        root = await ensure_root()
        for number, image in enumerate(images, 1):
            symbols = await asyncio.to_thread(lesson_symbols, plan.folder, image)
            sources[arm, number] = image_source(arm, image, symbols, root, plan.folder.slug)
    return sources
