# SPDX-License-Identifier: GPL-2.0-or-later
"""Links a kernel's objects again in other orders, and stores what comes of it.

The tree is brought to the arm as for a build, which compiles nothing where it stands there; its
default link must give the stored kernel, so that all that differs in a layout is the link. A link
is make's own, with another linker script: symbols, tables and the compressed image follow it.
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

# Further layouts of a kernel's code: in which order the text of its objects is linked. Pure.
#
# An effect of a patch may be one of addresses: what shares a line, a page or a slot of a predictor
# (Mytkowicz et al., Producing Wrong Data Without Doing Anything Obviously Wrong, ASPLOS 2009). The
# linker script of a layout names the `.text` of each object in another order, behind a gap. Nothing
# else moves: the order of the objects themselves is that of the initcalls, of tables and of data.
#
# A layout is its number: the same number orders the objects of every arm alike, as far as they have
# the same.

MIN_LAYOUTS = 5
"""Fewer relinks say nothing about a spread."""
MAX_LAYOUTS = 30
SCHEME = 1
"""Rises when a number comes to mean another order."""
ARCHIVE = "vmlinux.a"
"""The thin archive of all objects that kbuild links the kernel from (scripts/link-vmlinux.sh)."""
TEXT = ".text .text.fixup"
"""Sections of the objects' code, as include/asm-generic/vmlinux.lds.h names them (TEXT_TEXT)."""
GAP_STEP = 16
"""Bytes: functions are aligned to 16, so that a gap of a part of it would be rounded up."""
PAGE = 4096


def layout_key(key: KernelKey, number: int) -> KernelKey:
    """The name in the store of a layout of a kernel; 0 is the kernel itself."""
    return KernelKey(f"{key}-layout{SCHEME}.{number}") if number else key


def layout_order(names: Iterable[str], number: int) -> list[str]:
    """The objects in the order of a layout; one that is new or gone moves no other."""
    return sorted(names, key=lambda name: _draw(number, name))


def layout_gap(number: int) -> int:
    """Bytes before the first object's code: what follows all objects moves by it, too."""
    return int.from_bytes(_draw(number, "gap")[:4], "big") % PAGE // GAP_STEP * GAP_STEP


def layout_script(script: str, names: Iterable[str], number: int) -> str:
    """The kernel's linker script for a layout.

    Args:
        script: arch/x86/kernel/vmlinux.lds as kbuild made it.
        names: the objects, as `ar t` lists them.

    Raises:
        KernelError: the script does not have the one place where objects' code goes.
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
    """Random, and the same each time."""
    return hashlib.sha256(f"{SCHEME} {number} {name}".encode()).digest()


SCRIPT = "arch/x86/kernel/vmlinux.lds"
LAYOUT_SCRIPT = ".layout.lds"
"""In the tree, since link-vmlinux.sh puts ./ before the script's name."""
LAYOUT_BYTES = 100_000_000
"""A stored layout takes 40 MB: its vmlinux has symbols and no DWARF."""


def relink(
    arms: Sequence[ArmSpec],
    count: int,
    settings: KernelSettings,
    *,
    on_progress: ProgressSink = lambda progress: None,
    stop: Event | None = None,
) -> dict[str, tuple[KernelImage, ...]]:
    """Layouts 1 to `count` of each arm, by its name; those that are stored are not made again.

    Raises:
        KernelError: the objects give another kernel than the stored one, or cannot be reordered.
        DuetError: see build().
    """
    build(arms, settings, product=Layouts(count), on_progress=on_progress, stop=stop)
    return {arm.name: find_layouts(arm, count, settings) for arm in arms}


def find_layouts(arm: ArmSpec, count: int, settings: KernelSettings) -> tuple[KernelImage, ...]:
    """The stored layouts 1 to `count` of an arm.

    Raises:
        InfraError: one is not there.
    """
    key = plan(arm, settings)
    found = [lookup(layout_key(key, number), settings) for number in range(1, count + 1)]
    there = tuple(image for image in found if image is not None)
    if len(there) < count:
        raise InfraError(
            f"{len(there)} of {count} layouts of {arm.name} are stored.",
            remedy="Measure again: what is missing is linked.",
        )
    return there


class Layouts(Product):
    """Layouts 1 to `count` of an arm, beside the kernel itself."""

    def __init__(self, count: int) -> None:
        self._numbers = range(1, count + 1)

    def there(self, key: KernelKey, settings: KernelSettings) -> KernelImage | None:
        """The kernel, if all its layouts are stored, too."""
        keys = [layout_key(key, number) for number in self._numbers]
        if any(lookup(each, settings) is None for each in keys):
            return None
        return lookup(key, settings)

    def take(self, arm: ArmSpec, need: BuildInputs, settings: KernelSettings) -> KernelImage:
        """Refuse: there are no objects to link."""
        raise InputError(
            f"{arm.lesson}, {arm.name}: a kernel that was built elsewhere has no other layouts.",
            remedy="Measure it without --layouts.",
        )

    def store_files(
        self, files: Mapping[str, Path], manifest: Manifest, settings: KernelSettings
    ) -> KernelImage:
        """Refuse: the objects went with the box."""
        raise InputError(
            "a kernel that is built in a sandbox has no other layouts.",
            remedy="Measure it without --layouts, or set DUET_BUILD_SANDBOX=off.",
        )

    def store(
        self, made: Made, manifest: Manifest, settings: KernelSettings, tell: Callable[[str], None]
    ) -> KernelImage:
        """Link and store what is not there yet; the tree is left without any link."""
        key = KernelKey(manifest.key)
        image = lookup(key, settings) or Product().store(made, manifest, settings, tell)
        if build_ids(image.vmlinux) != build_ids(made.src / "vmlinux"):
            raise KernelError(
                f"wanted other links of the kernel {key}, but its objects now give another one.",
                remedy=f"Delete the folder kernels/{key} of the cache, and build again.",
            )
        made.marker.touch()
        durable.sync_folder(made.marker.parent)
        for number in self._numbers:
            if lookup(layout_key(key, number), settings) is None:
                tell(f"link {number} of {len(self._numbers)} in another order")
                check_space(settings.cache, LAYOUT_BYTES, "to store a kernel")
                self._one(made, image, number, settings)
        drop_links(made.src)  # make would take the last one for the arm's kernel
        made.marker.unlink()
        return image

    def _one(self, made: Made, image: KernelImage, number: int, settings: KernelSettings) -> None:
        """One layout: link, look whether it is one, store."""
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
                "wanted to link the kernel in another order, but it came out as before.",
                remedy="Leave --layouts out: this configuration links one object (such as with "
                "CONFIG_X86_KERNEL_IBT).",
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
    """The symbols by address."""
    return [line.rpartition(" ")[2] for line in system_map.read_text(encoding="ascii").splitlines()]


def objects_of(src: Path) -> list[str]:
    """The objects that the kernel in `src` is linked from, in their order."""
    command = ["ar", "t", ARCHIVE]
    done = subprocess.run(command, cwd=src, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise KernelError(
            f"wanted the objects of the kernel, but {ARCHIVE} cannot be read.",
            remedy="Delete the folder tree of the cache, and build again.",
            detail=done.stderr[-2000:],
        )
    return done.stdout.split()


def without_dwarf(vmlinux: Path) -> Path:
    """A copy in the same folder, for untraced runs: of 130 MB 110 are DWARF."""
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
