# SPDX-License-Identifier: GPL-2.0-or-later
"""Which kernels a trial compares: bases, source trees, kernels built elsewhere, patches on them."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import yaml

from duet.errors import InputError
from duet.kernels import KernelSettings
from duet.kernels.bases import FILE, base_folders, find_base
from duet.trials.configs import config_words, read_config
from duet.trials.mails import Patch, read_patches
from duet.trials.prebuilt import built_kernels
from duet.trials.spec import TrialArm, TrialBase, plain_name
from duet.trials.trees import (
    TreeStore,
    check_source,
    folder_and_ref,
    nearest_fragments,
    path_name,
    tarball_base,
    tree_base,
)

MOST_SHOWN = 3
"""Options that the name of a base says."""


@dataclass(frozen=True, slots=True)
class Named:
    """Kernels as the command line names them; see `duet try --help`."""

    base: str = ""
    trees: tuple[Path, ...] = ()
    kernels: tuple[Path, ...] = ()
    vmlinux: tuple[Path, ...] = ()
    shared: tuple[Path, ...] = ()
    """Patches that every kernel carries."""
    config: tuple[str, ...] = ()
    """Options that every kernel has, or files of them."""


def trial_kernels(
    asked: Named,
    series: list[tuple[str, tuple[Patch, ...]]],
    folder: Path,
    patches_dir: Path,
    say: Callable[[str], None],
) -> tuple[list[TrialBase], list[TrialArm]]:
    """The bases of the trial's own, and the arms, that without a patch first.

    Args:
        series: name and patches of each kernel that the patches make.
        folder: of all trials.
        patches_dir: kernel-patches of the checkout.
        say: gets sentences about what was read.

    Raises:
        InputError: a source cannot be used, or two of them contradict each other.
    """
    if asked.base and asked.trees:
        raise InputError("--base and --tree both name the source.", remedy="Leave one of them out.")
    if (series or asked.shared) and asked.kernels:
        raise InputError(
            "a patch needs source, but --kernel names a kernel that is built.",
            remedy="Name its source with --tree, or leave the patch out.",
        )
    if asked.config and asked.kernels:
        raise InputError(
            "an option needs source, but --kernel names a kernel that is built.",
            remedy="Name its source with --tree, or leave --config out.",
        )
    bases, arms = _sources(asked, folder, patches_dir, say)
    if options := tuple(sorted(read_config(asked.config).items())):
        bases = bases or [_own_base(asked.base, patches_dir, options)]
        bases = [replace(base, asked=options) for base in bases]
        arms = [replace(arm, base=arm.base or bases[0].name) for arm in arms]
    shared = tuple(patch for path in asked.shared for patch in read_patches(path, say))
    arms = [replace(arm, patches=(*arm.patches, *shared)) for arm in arms]
    base = arms[0].base
    for stem, patches in series:
        title = _arm_name(stem, arms)
        about = patches[0].subject if len(patches) == 1 else f"{len(patches)} patches"
        whole = (*arms[0].patches, *patches)
        arms.append(TrialArm(title, title, about[:120], whole, base, arms[0].source))
    return bases, arms


def _sources(
    asked: Named, folder: Path, patches_dir: Path, say: Callable[[str], None]
) -> tuple[list[TrialBase], list[TrialArm]]:
    """What --base, --tree and --kernel name: kernels without the patches of the command line."""
    bases: list[TrialBase] = []
    arms: list[TrialArm] = []
    if asked.base or not (asked.trees or asked.kernels):
        bases, arms = _named_base(asked.base, patches_dir)
    elif asked.trees:
        bases, arms = _trees(asked, folder, patches_dir, say)
    for base, arm in built_kernels(asked.kernels, asked.vmlinux, folder / "sources"):
        name = _arm_name(arm.name, arms)
        bases.append(base)
        arms.append(replace(arm, name=name))
    return bases, arms


def _trees(
    asked: Named, folder: Path, patches_dir: Path, say: Callable[[str], None]
) -> tuple[list[TrialBase], list[TrialArm]]:
    """What --tree names; the first tree stands without the patches."""
    for path in asked.trees:
        check_source(path)
    home, _ = folder_and_ref(asked.trees[0])
    store = TreeStore(folder / "sources" / f"{path_name(home)}.git")
    trees = [store.add(path) for path in asked.trees]
    first = trees[0]
    bases = [tree_base(first, store, patches_dir)]
    own = store.own_changes(first)
    name, facts = _arm_name(first.name, []), first.facts(len(own))
    arms = [TrialArm(name, first.name, first.about, own, bases[0].name, facts)]
    for path, tree in zip(asked.trees[1:], trees[1:], strict=True):
        arm = _arm_name(tree.name, arms)
        if tree.series == first.series:
            patches = (*own, store.patch(first, tree))
            facts = tree.facts(len(patches))
            arms.append(TrialArm(arm, arm, tree.about, patches, bases[0].name, facts))
            if sentence := config_words(first, tree, nearest_fragments(first.series, patches_dir)):
                say(sentence)
        else:
            own_name = path_name(tree.folder)
            if any(base.name == own_name for base in bases):  # another release of one repository
                own_name = f"{own_name}-{tree.series.replace('.', '-')}"
            other = TreeStore(folder / "sources" / f"{own_name}.git")
            tree = other.add(path)
            bases.append(replace(tree_base(tree, other, patches_dir), name=own_name))
            patches = other.own_changes(tree)
            facts = tree.facts(len(patches))
            arms.append(TrialArm(arm, arm, tree.about, patches, bases[-1].name, facts))
    return bases, arms


def _named_base(given: str, patches_dir: Path) -> tuple[list[TrialBase], list[TrialArm]]:
    path = Path(given).expanduser() if given else None
    if given in ("", *base_folders(patches_dir)):
        base = find_base(given or None, patches_dir)
        about = base.about.rstrip(".")
        return [], [TrialArm("stock", f"stock {base.series}", about, (), given or None)]
    assert path is not None
    if path.is_file():
        own = tarball_base(path, patches_dir)
        return [own], [TrialArm("stock", f"stock {own.series}", own.about, (), own.name)]
    raise InputError(
        f"there is no base and no tarball '{given:.80}'.",
        remedy=f"Choose from {', '.join(base_folders(patches_dir))}, or name a linux-*.tar.xz; "
        "a source tree is named with --tree.",
    )


def _own_base(given: str, patches_dir: Path, options: tuple[tuple[str, str], ...]) -> TrialBase:
    """A base of ours with options: the same source, so also the same tree."""
    base = find_base(given or None, patches_dir)
    folder = base_folders(patches_dir)[base.name]
    source = yaml.safe_load((folder / FILE).read_text(encoding="utf-8"))["source"]
    source[base.source.kind] = str(KernelSettings.default().given(base) or base.source.path)
    words = ", ".join(f"{name}={value}" for name, value in options[:MOST_SHOWN])
    more = " and others" if len(options) > MOST_SHOWN else ""
    digest = hashlib.sha256(repr(options).encode()).hexdigest()[:6]
    return TrialBase(
        f"{plain_name(base.name)}-{digest}",
        f"{base.about.rstrip('.')}, with {words}{more}",
        base.series,
        source,
        tuple(path.resolve() for path in base.fragments),
        like=base.folder.name,
    )


def _arm_name(text: str, arms: list[TrialArm]) -> str:
    """A name that no other arm has."""
    name = plain_name(text)
    while any(arm.name == name for arm in arms):
        name += "-2"
    return name
