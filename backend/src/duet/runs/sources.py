# SPDX-License-Identifier: GPL-2.0-or-later
"""Sources of lanes. A source boots a stored kernel in a guest, or replays a recording."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace

from duet.base.errors import InputError
from duet.bundle import Bundle, Record
from duet.bundle.archive import HEAD
from duet.guests import (
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
from duet.kernels.vmlinux.ask import read
from duet.lenses.scope.client import plugin_library
from duet.lenses.scope.symbols import functions_text
from duet.lessons.load import LessonFolder
from duet.measure import MeasurePlan
from duet.session import GuestRequest, LaneSource, MicroscopeRequest, RunSpec, needed_symbols

SWITCH = "__switch_to_asm"
"""Function that switches between the stacks of two tasks (arch/x86/entry/entry_64.S)."""


def image_source(
    arm: str,
    image: KernelImage,
    symbols: dict[str, int],
    root: GuestRoot,
    lesson: str = "",
    templates: Templates | None = None,
) -> LaneSource:
    """Return a source that boots a stored kernel in a guest. $DUET_GUEST chooses the guest's kind.

    Args:
        templates: templates to copy instead of booting; None if every guest boots.
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
            sharing=request.vcpus if request.clock == "count" else 1,
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
    """Return sources of stored kernels, by arm.

    Args:
        templates: templates to copy instead of booting; None if every guest boots.

    Raises:
        InfraError: a kernel is not built, or the guests' root cannot be built.
    """
    images = {arm: await asyncio.to_thread(find_image, folder, arm, settings) for arm in arms}
    root = await ensure_root()
    sources: dict[str, LaneSource] = {}
    for arm, image in images.items():
        symbols = await asyncio.to_thread(lesson_symbols, folder, arm, image)
        sources[arm] = image_source(arm, image, symbols, root, folder.slug, templates)
    return sources


_symbols: dict[tuple[str, frozenset[str]], dict[str, int]] = {}


def lesson_symbols(folder: LessonFolder, arm: str, image: KernelImage) -> dict[str, int]:
    """Return the values of the kernel that the arm's probes need; see plan.kernel_values().

    Values that the kernel lacks are left out. The result is cached, because System.map has 100,000
    lines.
    """
    needed = needed_symbols(folder.lesson, arm)
    key = (str(image.key), needed)
    if key not in _symbols:
        found = image.symbols()
        for name in needed:
            if ":" in name and name not in found:
                with suppress(InputError):
                    found[name] = read(image.vmlinux, _layout(name))
        _symbols[key] = {name: found[name] for name in sorted(needed) if name in found}
    return _symbols[key]


def _layout(name: str) -> str:
    """Return 'offsetof struct shrinker.id' for 'offset:shrinker.id'."""
    what, _, path = name.partition(":")
    return f"{'offsetof' if what == 'offset' else what} struct {path}"


def bundle_sources(
    bundle: Bundle, tell: Callable[[str, int], None] = lambda arm, length: None
) -> dict[str, LaneSource]:
    """Return sources that replay a recording without pauses.

    Args:
        tell: called for each consumed record, with the lane and the record's length in bytes.
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


# Jobs in a server's queue, checked against the lesson.


@dataclass(frozen=True, slots=True)
class MeasureRequest:
    """A checked command `measure`."""

    run: RunSpec
    repeats: int


@dataclass(frozen=True, slots=True)
class JudgeRequest:
    """A checked command `judge`.

    Args:
        run: a run with all arms to measure, and with the workload and knobs of the challenge's
            goals.
        challenge: name of the challenge.
        arm: arm to judge.
    """

    run: RunSpec
    challenge: str
    arm: str


Job = RunSpec | MeasureRequest | JudgeRequest
"""A job that can be queued."""


def with_run_id(job: Job, run_id: str) -> Job:
    if isinstance(job, RunSpec):
        return replace(job, run_id=run_id)
    return replace(job, run=replace(job.run, run_id=run_id))


def run_of(job: Job) -> RunSpec:
    return job if isinstance(job, RunSpec) else job.run


async def layout_sources(
    plan: MeasurePlan, settings: KernelSettings
) -> dict[tuple[str, int], LaneSource]:
    """Return (arm, layout number) -> source that boots the arm's kernel in that layout.

    Raises:
        InfraError: a layout is not linked, or the guests' root cannot be built.
    """
    sources: dict[tuple[str, int], LaneSource] = {}
    for arm in plan.arms if plan.layouts else ():
        spec = arm_spec(plan.folder, arm)
        images = await asyncio.to_thread(find_layouts, spec, plan.layouts, settings)
        root = await ensure_root()
        for number, image in enumerate(images, 1):
            symbols = await asyncio.to_thread(lesson_symbols, plan.folder, arm, image)
            sources[arm, number] = image_source(arm, image, symbols, root, plan.folder.slug)
    return sources
