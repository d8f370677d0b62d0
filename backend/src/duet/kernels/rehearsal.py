# SPDX-License-Identifier: GPL-2.0-or-later
"""Check, before any kernel is compiled, that patches fit and which options the sources lack.

Compiling takes minutes, but this check of an unpacked source takes a second. So a patch that does
not fit is reported immediately, even if its kernel would be built last. In the tree, only
.config changes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from duet.kernels.bases import ASKED, OF_TOOLS, Base
from duet.kernels.builder import LOCK, lookup, plan
from duet.kernels.compiler import Lost, Make, OptionLost, check_tools, configure
from duet.kernels.diffs import PatchFails
from duet.kernels.image import KernelImage
from duet.kernels.kbuild import known_options, new_options
from duet.kernels.recipe import (
    ArmSpec,
    arm_patches,
    patched_files,
    read_fragments,
    read_options,
    unmet_options,
)
from duet.kernels.settings import KernelSettings
from duet.kernels.source import check_space, unpack
from duet.kernels.tree import WorkTree, build_lock

REMEDY: Final = (
    "Give the patches that it depends on with --with, or the source that it was made for with "
    "--base or --tree."
)
SHOWN = 6
"""Largest number of options that a sentence lists."""
PREEMPTION: Final = tuple(
    f"CONFIG_PREEMPT{end}" for end in ("_NONE", "_VOLUNTARY", "_LAZY", "_RT", "")
)
"""Options of kernel/Kconfig.preempt; exactly one of them is on."""


def rehearse(
    arms: Sequence[ArmSpec], settings: KernelSettings, say: Callable[[str], None]
) -> list[str]:
    """Try to apply the patches of all arms whose kernels are not built yet.

    Args:
        say: called with a sentence before each slow step.

    Returns:
        Sentences about options that the sources lack.

    Raises:
        PatchFails, PatchRefused: a patch does not fit.
        OptionLost: a required option is lost.
        DuetError: the source cannot be unpacked.
    """
    todo = [arm for arm in arms if settings.base_of(arm).source.kind != "image"]
    todo = [arm for arm in todo if lookup(plan(arm, settings), settings) is None]
    said: dict[str, None] = {}
    places: dict[tuple[str, str | None], list[ArmSpec]] = {}
    for arm in todo:
        base = settings.base_of(arm)
        tree = _unpacked(arm, base, settings, say)
        try:
            tree.changes(arm_patches(arm, settings.patches, base))
        except PatchFails as error:
            error.remedy = REMEDY
            raise
        places.setdefault((base.name, arm.config), []).append(arm)
    for some in places.values():
        _refuse_unknown(some, settings)
        arm = some[0]
        base = settings.base_of(arm)
        if base.lenient and (words := lost_words(base, _configured(arm, base, settings, say))):
            said[words] = None
    return list(said)


def _refuse_unknown(arms: Sequence[ArmSpec], settings: KernelSettings) -> None:
    """Check that the source, or a patch of any of the arms, defines each option of --config.

    Raises:
        OptionLost: an option is defined neither in the source nor by a patch.
    """
    base = settings.base_of(arms[0])
    named = read_fragments([one for one in settings.fragments(arms[0]) if one.name == ASKED])
    names = {name for name, value in named.items() if value != "n"}
    if not names:
        return
    tree = settings.tree(base, arms[0].config, settings.tarball(base).sha256)
    names -= known_options(tree.src, names)
    for patches in (arm_patches(arm, settings.patches, base) for arm in arms):
        files = {name for path in patches for name in patched_files(path.read_bytes().decode())}
        kconfig = [name for name in files if name.rpartition("/")[2].startswith("Kconfig")]
        for text in tree.texts(patches, kconfig).values() if kconfig else ():
            names -= set(new_options("", text))
    if names:
        raise OptionLost(
            f"--config names {', '.join(sorted(names))}, but neither the source of {base.name} nor"
            " the patches define it.",
            remedy="Correct the name, or leave it out.",
        )


def lost_options(arm: ArmSpec, image: KernelImage, settings: KernelSettings) -> str:
    """Return the sentence of lost_words() for a built kernel, or "" if it lost no option."""
    asked = read_fragments(settings.fragments(arm))
    got = read_options(image.config.read_text(encoding="utf-8", errors="replace"))
    return lost_words(settings.base_of(arm), (unmet_options(asked, got), got))


def lost_words(base: Base, found: Lost) -> str:
    """Return a sentence about lost config options, or "" if there are none to report."""
    lost, got = found
    # Options of modules and tools are not reported.
    own = [one for one in lost if one[1] != "m" and OF_TOOLS.match(one[0]) is None]
    shown = [_one(*one, got) for one in own]
    if not shown:
        return ""
    more = f" and {len(shown) - SHOWN} others" if len(shown) > SHOWN else ""
    options = "1 option" if len(shown) == 1 else f"{len(shown)} options"
    return (
        f"{base.about.rstrip('.')} is built without {options} of its configuration, which its "
        f"source lacks or sets differently: {', '.join(shown[:SHOWN])}{more}"
    )


def _one(name: str, wanted: str, got: str, options: dict[str, str]) -> str:
    short = name.removeprefix("CONFIG_")
    if name in PREEMPTION and wanted == "y":
        other = next((one for one in PREEMPTION if options.get(one) == "y"), "")
        if other:
            return f"{short} (it has {other.removeprefix('CONFIG_')})"
    return short if got == "n" else f"{short} (it is {got}, not {wanted})"


def _unpacked(
    arm: ArmSpec, base: Base, settings: KernelSettings, say: Callable[[str], None]
) -> WorkTree:
    """Return the arm's tree, and unpack the source first if necessary."""
    tarball = settings.tarball(base)
    tree = settings.tree(base, arm.config, tarball.sha256)
    if tree.src.is_dir():
        return tree
    check_tools()
    with build_lock(settings.cache / LOCK, wait_s=settings.lock_wait_s, on_wait=_once(say)) as lock:
        if not tree.src.is_dir():
            check_space(settings.cache, settings.tree_bytes, "to unpack and compile a kernel")
            say(f"unpacking the source of {base.name}, to try the patches on it")
            unpack(tarball, base, tree.src, lock_fd=lock)
    return tree


def _configured(
    arm: ArmSpec, base: Base, settings: KernelSettings, say: Callable[[str], None]
) -> Lost:
    """Configure the tree without patching it; return the lost options and the configuration."""
    check_tools()
    src = settings.tree(base, arm.config, settings.tarball(base).sha256).src
    log = settings.cache / "logs" / f"configure-{base.name}.log"
    ccache = settings.beside("ccache", base)
    with build_lock(settings.cache / LOCK, wait_s=settings.lock_wait_s, on_wait=_once(say)) as lock:
        make = Make(src, log, jobs=settings.jobs, lock_fd=lock, ccache=ccache)
        more = read_fragments(settings.more)
        fragments = settings.fragments(arm)
        return configure(make, src, fragments, lenient=base.lenient, dispensable=more)


def _once(say: Callable[[str], None]) -> Callable[[str], None]:
    said: set[str] = set()

    def tell(sentence: str) -> None:
        if sentence not in said:
            said.add(sentence)
            say(sentence.rstrip("."))

    return tell
