# SPDX-License-Identifier: GPL-2.0-or-later
"""Where lanes come from: the kernel store and a kind of guest, or a recording."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

from duet.api.kernel_builds import find_image
from duet.bundle import Bundle
from duet.guests import (
    Guest,
    GuestOptions,
    GuestRoot,
    GuestSpec,
    default_kind,
    ensure_root,
    open_guest,
)
from duet.guests.replay import ReplayGuest
from duet.kernels import KernelImage, KernelSettings
from duet.lessons.load import LessonFolder
from duet.session import GuestWish, LaneSource, needed_symbols


def image_source(
    arm: str, image: KernelImage, symbols: dict[str, int], root: GuestRoot, lesson: str = ""
) -> LaneSource:
    """A lane that boots a stored kernel in the kind of guest that $DUET_GUEST names."""

    def guest(wish: GuestWish) -> Guest:
        spec = GuestSpec(
            arm=wish.arm,
            bzimage=image.bzimage,
            initrd=root.image,
            vcpus=wish.vcpus,
            memory_mib=wish.memory_mb,
            disks_mib=(wish.scratch_mb,) if wish.scratch_mb else (),
            cmdline=wish.cmdline,
            clock=wish.clock,
            icount_shift=wish.shift,
            seed=wish.seed,
            boot_plan=wish.boot_plan,
        )
        return open_guest(default_kind(), spec, GuestOptions(programs=root.programs))

    return LaneSource(arm, symbols, guest, vmlinux=image.vmlinux, lesson=lesson)


async def house_sources(
    folder: LessonFolder, arms: Iterable[str], settings: KernelSettings
) -> dict[str, LaneSource]:
    """Lanes of stored kernels.

    Raises:
        InfraError: a kernel is not built, or the guests' root cannot be made.
    """
    images = {arm: await asyncio.to_thread(find_image, folder, arm, settings) for arm in arms}
    root = await ensure_root()
    sources: dict[str, LaneSource] = {}
    for arm, image in images.items():
        symbols = await asyncio.to_thread(lesson_symbols, folder, image)
        sources[arm] = image_source(arm, image, symbols, root, folder.slug)
    return sources


_symbols: dict[tuple[str, str], dict[str, int]] = {}


def lesson_symbols(folder: LessonFolder, image: KernelImage) -> dict[str, int]:
    """Addresses that the lesson mentions; a System.map has 100,000 lines, so they are kept."""
    key = (folder.slug, str(image.key))
    if key not in _symbols:
        needed = needed_symbols(folder.lesson)
        found = image.symbols()
        _symbols[key] = {name: found[name] for name in sorted(needed) if name in found}
    return _symbols[key]


def bundle_sources(bundle: Bundle) -> dict[str, LaneSource]:
    """Lanes of a recording, played as fast as they can be read."""

    def source(arm: str) -> LaneSource:
        def guest(_: GuestWish) -> Guest:
            return ReplayGuest(bundle.records(arm))

        return LaneSource(arm, bundle.manifest.arm(arm).symbols, guest)

    return {entry.name: source(entry.name) for entry in bundle.manifest.arms}
