# SPDX-License-Identifier: GPL-2.0-or-later
"""Link a kernel's objects again in other orders, and store the resulting kernels.

The tree is switched to the arm as for a build; if the tree already contains the arm, nothing is
compiled. Linking in the default order must reproduce the stored kernel, so that layouts differ only
in the link order. For each layout, make runs with another linker script, and also regenerates
symbols, tables and the compressed image.
"""

from __future__ import annotations

import hashlib
import subprocess
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from threading import Event
from time import monotonic

from duet.base import files as durable
from duet.base.errors import InfraError, InputError, KernelError
from duet.kernels.box_build import Made, Product
from duet.kernels.builder import build, lookup, plan
from duet.kernels.compiler import ProgressSink, drop_links
from duet.kernels.image import KernelImage, Manifest, build_ids
from duet.kernels.recipe import ArmSpec, BuildInputs, KernelKey
from duet.kernels.settings import KernelSettings
from duet.kernels.source import check_space

# Layouts of a kernel's code: the order in which the text of its objects is linked. Pure.
#
# A patch can change performance merely by moving code to other addresses, because other functions
# then share a cache line, a page or a branch predictor slot (Mytkowicz et al., Producing Wrong Data
# Without Doing Anything Obviously Wrong, ASPLOS 2009). The linker script of a layout lists the
# `.text` of each object in another order, after a gap. Initcalls, tables and data keep the order of
# the objects.
#
# A layout is identified by its number. Objects that several arms share have the same order in
# layouts of the same number.

MIN_LAYOUTS = 5
"""Smallest number of layouts in a measurement; fewer would say nothing about the spread."""
MAX_LAYOUTS = 30
SCHEME = 1
"""Version of the orders; it is raised when a layout number comes to mean another order."""
ARCHIVE = "vmlinux.a"
"""Thin archive of all objects that kbuild links the kernel from (scripts/link-vmlinux.sh)."""
TEXT = ".text .text.fixup"
"""Sections with the objects' code, named as in TEXT_TEXT of include/asm-generic/vmlinux.lds.h."""
GAP_STEP = 16
"""Step of the gap, in bytes. Functions are aligned to 16, so a smaller gap would be rounded up."""
PAGE = 4096


def layout_key(key: KernelKey, number: int) -> KernelKey:
    """Return the store key of a kernel's layout; layout 0 is the kernel itself."""
    return KernelKey(f"{key}-layout{SCHEME}.{number}") if number else key


def layout_order(names: Iterable[str], number: int) -> list[str]:
    """Return the objects in the order of a layout. Adding or removing an object moves no others."""
    return sorted(names, key=lambda name: _draw(number, name))


def layout_gap(number: int) -> int:
    """Return the gap in bytes before the first object's code. The gap also moves later sections."""
    return int.from_bytes(_draw(number, "gap")[:4], "big") % PAGE // GAP_STEP * GAP_STEP


def layout_script(script: str, names: Iterable[str], number: int) -> str:
    """Return the kernel's linker script for a layout.

    Args:
        script: contents of arch/x86/kernel/vmlinux.lds, as kbuild generated it.
        names: the objects, as `ar t` lists them.

    Raises:
        KernelError: the linker script has no place, or several places, for the code of objects.
    """
    place = f"*({TEXT})"
    if script.count(place) != 1:
        raise KernelError(
            f"wanted to link the kernel in another order, but its linker script names {place} "
            f"{script.count(place)} times.",
            remedy="Leave --layouts out for arms on this base.",
        )
    order = "\n".join(f"{ARCHIVE}:{name}({TEXT})" for name in layout_order(names, number))
    return script.replace(place, f". = . + {layout_gap(number)};\n{order}\n{place}")


def _draw(number: int, name: str) -> bytes:
    """Return reproducible random bytes for an object in a layout."""
    return hashlib.sha256(f"{SCHEME} {number} {name}".encode()).digest()


SCRIPT = "arch/x86/kernel/vmlinux.lds"
LAYOUT_SCRIPT = ".layout.lds"
"""Linker script in the tree; its name is relative because link-vmlinux.sh puts ./ before it."""
LAYOUT_BYTES = 100_000_000
"""Free space required per layout. A layout takes 40 MB, because its vmlinux has no DWARF."""


def relink(
    arms: Sequence[ArmSpec],
    count: int,
    settings: KernelSettings,
    *,
    on_progress: ProgressSink = lambda progress: None,
    stop: Event | None = None,
) -> dict[str, tuple[KernelImage, ...]]:
    """Link and store each arm's missing layouts from 1 to `count`; return all layouts by arm.

    Raises:
        KernelError: linking the objects does not reproduce the stored kernel, or their order cannot
            be changed.
        DuetError: see build().
    """
    build(arms, settings, product=Layouts(count), on_progress=on_progress, stop=stop)
    return {arm.name: find_layouts(arm, count, settings) for arm in arms}


def find_layouts(arm: ArmSpec, count: int, settings: KernelSettings) -> tuple[KernelImage, ...]:
    """Return the stored layouts 1 to `count` of an arm.

    Raises:
        InfraError: a layout is missing.
    """
    key = plan(arm, settings)
    found = [lookup(layout_key(key, number), settings) for number in range(1, count + 1)]
    there = tuple(image for image in found if image is not None)
    if len(there) < count:
        raise InfraError(
            f"wanted {count} layouts of {arm.name}, but only {len(there)} are stored.",
            remedy="Measure again: missing layouts are linked.",
        )
    return there


class Layouts(Product):
    """Layouts 1 to `count` of an arm, in addition to the kernel itself."""

    def __init__(self, count: int) -> None:
        self._numbers = range(1, count + 1)

    def find_stored(self, key: KernelKey, settings: KernelSettings) -> KernelImage | None:
        """Return the kernel if all its layouts are also stored."""
        keys = [layout_key(key, number) for number in self._numbers]
        if any(lookup(each, settings) is None for each in keys):
            return None
        return lookup(key, settings)

    def store_built_elsewhere(
        self, arm: ArmSpec, need: BuildInputs, settings: KernelSettings
    ) -> KernelImage:
        """Refuse, because a kernel that was built elsewhere has no objects to link."""
        raise InputError(
            f"{arm.lesson}, {arm.name}: a kernel that was built elsewhere has no other layouts.",
            remedy="Measure it without --layouts.",
        )

    def store_files(
        self, files: Mapping[str, Path], manifest: Manifest, settings: KernelSettings
    ) -> KernelImage:
        """Refuse, because the objects were deleted with the sandbox."""
        raise InputError(
            "wanted layouts of a kernel, but it is built in a sandbox, which keeps no objects.",
            remedy="Measure it without --layouts, or set DUET_BUILD_SANDBOX=off.",
        )

    def store(
        self, made: Made, manifest: Manifest, settings: KernelSettings, tell: Callable[[str], None]
    ) -> KernelImage:
        """Link and store missing layouts; leave the tree without a linked kernel."""
        key = KernelKey(manifest.key)
        image = lookup(key, settings) or Product().store(made, manifest, settings, tell)
        if build_ids(image.vmlinux) != build_ids(made.src / "vmlinux"):
            raise KernelError(
                f"wanted to relink the kernel {key}, but its objects now give a different kernel.",
                remedy=f"Delete the folder kernels/{key} in the cache folder, and build again.",
            )
        made.marker.touch()
        durable.sync_folder(made.marker.parent)
        for number in self._numbers:
            if lookup(layout_key(key, number), settings) is None:
                tell(f"layout {number} of {len(self._numbers)}: linking in another order")
                check_space(settings.cache, LAYOUT_BYTES, "to store a kernel")
                self._one(made, image, number, settings)
        # Otherwise make would treat the last layout as the arm's linked kernel.
        drop_links(made.src)
        made.marker.unlink()
        return image

    def _one(self, made: Made, image: KernelImage, number: int, settings: KernelSettings) -> None:
        """Link one layout, check that its order differs, and store it."""
        began = monotonic()
        src = made.src
        script = layout_script((src / SCRIPT).read_text(), objects_of(src), number)
        drop_links(src)
        (src / LAYOUT_SCRIPT).write_text(script)
        try:
            made.make.run("bzImage", f"KBUILD_LDS={LAYOUT_SCRIPT}", stop=made.stop)
        finally:
            (src / LAYOUT_SCRIPT).unlink()
        if _order(src / "System.map") == _order(image.system_map):
            raise KernelError(
                "wanted to link the kernel in another order, but its order did not change.",
                remedy="Leave --layouts out: this configuration links a single object (for example "
                "with CONFIG_X86_KERNEL_IBT).",
            )
        manifest = image.manifest.model_copy(
            update={
                "key": layout_key(image.key, number),
                "built_at": datetime.now(UTC).isoformat(timespec="seconds"),
                "seconds": round(monotonic() - began, 1),
                "objects": 0,
                "cold": False,
            }
        )
        settings.store.publish(made.files() | {"vmlinux": without_dwarf(src / "vmlinux")}, manifest)


def _order(system_map: Path) -> list[str]:
    """Return the symbols in address order."""
    return [line.rpartition(" ")[2] for line in system_map.read_text(encoding="ascii").splitlines()]


def objects_of(src: Path) -> list[str]:
    """Return the objects from which the kernel in `src` is linked, in link order."""
    command = ["ar", "t", ARCHIVE]
    done = subprocess.run(command, cwd=src, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise KernelError(
            f"wanted the objects of the kernel, but {ARCHIVE} cannot be read.",
            remedy="Delete the folder tree in the cache folder, and build again.",
            detail=done.stderr[-2000:],
        )
    return done.stdout.split()


def without_dwarf(vmlinux: Path) -> Path:
    """Make a copy without DWARF (110 of 130 MB) in the same folder, for untraced runs."""
    copy = vmlinux.with_name(".layout.vmlinux")
    command = ["objcopy", "--strip-debug", str(vmlinux), str(copy)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise KernelError(
            "wanted a linked kernel without DWARF, but objcopy failed.",
            remedy="Make room on the disk, and measure again.",
            detail=done.stderr[-2000:],
        )
    return copy
