# SPDX-License-Identifier: GPL-2.0-or-later
"""Which kernels of a trial are left to be compared: each that is not the build of one before it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from duet.kernels import KernelImage, KernelSettings
from duet.kernels.bases import Base
from duet.kernels.edited import Edited, edited_files
from duet.kernels.recipe import ArmSpec, read_options
from duet.kernels.sameness import same_kernel
from duet.trials.sameness import same_error, same_source, same_words, unbuilt, why_same
from duet.trials.spec import Trial

Find = Callable[[str, str], tuple[bool, str, str]]
"""Two arms -> whether they are one kernel, why, and the option that would tell them apart."""


def by_source(specs: Mapping[str, ArmSpec], settings: KernelSettings) -> Find:
    """What is known before anything is built."""

    def find(one: str, other: str) -> tuple[bool, str, str]:
        if specs[one].base != specs[other].base:
            return False, "", ""
        reason = same_source(edited_files(specs[other], specs[one], settings))
        return bool(reason), reason, ""

    return find


def by_build(
    specs: Mapping[str, ArmSpec], images: Mapping[str, KernelImage], settings: KernelSettings
) -> Find:
    """What the kernels themselves say."""

    def find(one: str, other: str) -> tuple[bool, str, str]:
        if not same_kernel(images[one], images[other]):
            return False, "", ""
        spec, image = specs[other], images[other]
        edited: Sequence[Edited] = edited_files(spec, specs[one], settings)
        config = read_options(image.config.read_text(encoding="utf-8", errors="replace"))
        built_here = settings.base_of(spec).source.kind != "image"
        tree = settings.tree(*_place(spec, settings)) if built_here else None
        return True, *why_same(edited, tree, config)

    return find


def unchecked(
    trial: Trial,
    specs: Mapping[str, ArmSpec],
    settings: KernelSettings,
    images: Mapping[str, KernelImage] | None = None,
) -> dict[str, tuple[str, str]]:
    """Kernels that have nothing of their patches in them, with why and the option that would help.

    Args:
        images: of the kernels; None: they are not built yet.
    """
    found = {}
    for arm in trial.arms[1:]:
        spec = specs[arm.name]
        edited = edited_files(spec, specs[trial.arms[0].name], settings)
        reason, option = same_source(edited), ""
        if not reason and edited and images is not None:
            text = images[arm.name].config.read_text(encoding="utf-8", errors="replace")
            tree = settings.tree(*_place(spec, settings))
            reason, option = unbuilt(edited, tree, read_options(text))
        if reason:
            found[arm.name] = (reason, option)
    return found


def _place(spec: ArmSpec, settings: KernelSettings) -> tuple[Base, str | None, str]:
    base = settings.base_of(spec)
    return base, spec.config, settings.tarball(base).sha256


def distinct(trial: Trial, find: Find) -> Trial:
    """The trial without kernels that are another's build; its `said` says which.

    Raises:
        SameKernel: none is left to be compared with the first.
    """
    kept = [trial.arms[0]]
    said: list[str] = []
    first: tuple[str, str] | None = None
    for arm in trial.arms[1:]:
        for one in kept:
            same, reason, option = find(one.name, arm.name)
            if same:
                said.append(f"{same_words([one.name, arm.name], reason)}; {arm.name} is left out")
                first = first or (reason, option)
                break
        else:
            kept.append(arm)
    if len(kept) < 2 and first is not None:
        raise same_error([arm.name for arm in trial.arms], *first)
    return replace(trial, arms=tuple(kept), said=(*trial.said, *said)) if said else trial
