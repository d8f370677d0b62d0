# SPDX-License-Identifier: GPL-2.0-or-later
"""The kernels of a lesson: patches that can be read, arms that differ, and by nothing else."""

from __future__ import annotations

from collections.abc import Iterator

from duet.errors import DuetError
from duet.kernels.arms import arm_specs
from duet.kernels.bases import BOTH, find_base
from duet.kernels.recipe import build_inputs
from duet.lessons.view import Patch, read_patch
from duet.lint.finding import Finding, NotChecked, Subject

Found = Iterator[Finding | NotChecked]


def patches(subject: Subject) -> Found:
    """Every patch that an arm names is there and readable, and every one that is there is named."""
    folder = subject.folder
    named: set[str] = set()
    for index, arm in enumerate(folder.lesson.arms):
        for number, path in enumerate(folder.patch_files(arm.name)):
            named.add(path.name)
            try:
                read_patch(path)
            except DuetError as error:
                where = f"arm {arm.name}"
                place = ("arms", index, "patches", number)
                if path.is_file():
                    yield Finding(_short(error), error.remedy, file=path, where=where)
                else:
                    yield Finding(_short(error), error.remedy, place, where=where)
    for path in sorted(folder.patch_dir.glob("*.patch")):
        if path.name not in named:
            sentence = f"no arm uses the patch {path.name}"
            yield Finding(sentence, "Name it in an arm, or remove it.", file=path, where="arms")


def differ(subject: Subject) -> Found:
    """No two arms are one kernel: the same patches on the same base with the same config."""
    first: dict[tuple[object, ...], str] = {}
    usual = _usual_base(subject)
    for index, arm in enumerate(subject.folder.lesson.arms):
        made_of = (arm.base or usual, arm.config, arm.patches)
        other = first.setdefault(made_of, arm.name)
        if other != arm.name:
            what = "both are stock" if not arm.patches else "they have the same patches"
            sentence = f"the arms {other} and {arm.name} are one kernel: {what}"
            remedy = f"Name a patch of kernel-patches/{subject.folder.slug} in one of them."
            yield Finding(sentence, remedy, ("arms", index, "patches"))


def fair(subject: Subject) -> Found:
    """The build inputs of arms on one base may differ by the arm's own patches alone.

    What they share is used: a lesson without instrumentation has no both/. Arms on other bases,
    or with another config, are no pair: measurements of the two carry a warning. Each lesson has
    a pair.

    Source and compiler are those of the machine, the same for every arm; config and shared
    patches are compared here as the builder takes them.
    """
    patches_dir, folder = subject.root / "kernel-patches", subject.folder
    common: dict[tuple[str, str | None], tuple[object, ...]] = {}
    arms: dict[tuple[str, str | None], list[str]] = {}
    for index, (name, spec) in enumerate(arm_specs(folder).items()):
        if not all(path.is_file() for path in spec.patches):
            continue
        try:
            base = find_base(spec.base, patches_dir)
        except DuetError as error:
            place = ("arms", index, "base")
            yield Finding(_short(error), error.remedy, place, where=f"arm {name}")
            continue
        try:
            base.config(spec.config)
        except DuetError as error:
            place = ("arms", index, "config")
            yield Finding(_short(error), error.remedy, place, where=f"arm {name}")
            continue
        built = build_inputs(
            spec, base, patches_dir=patches_dir, tarball_sha256="", compiler="", linker=""
        )
        shared = built.patches[: len(built.patches) - len(spec.patches)]
        stands = (base.name, spec.config)
        arms.setdefault(stands, []).append(name)
        inputs = (built.config_sha256, shared)
        if common.setdefault(stands, inputs) != inputs:
            sentence = f"arm {name} differs from the others by more than its own patches"
            remedy = "Move what is shared to both/."
            yield Finding(sentence, remedy, ("arms", index), where=f"arm {name}")
    if arms and max(map(len, arms.values())) < 2:
        sentence = "no two arms stand on one base: none are one patch apart"
        yield Finding(sentence, "Give two arms the same base.", ("arms",), where="arms")
    if folder.lesson.instrumentation == "none":
        for path in sorted((folder.patch_dir / BOTH).glob("*.patch")):
            sentence = f"no kernel carries {BOTH}/{path.name}: the lesson has no instrumentation"
            remedy = "Remove it, or the line 'instrumentation: none'."
            yield Finding(sentence, remedy, file=path, where="instrumentation")


def _usual_base(subject: Subject) -> str:
    """Name of the base of arms that name none; empty where there is no such base."""
    try:
        return find_base(None, subject.root / "kernel-patches").name
    except DuetError:
        return ""


def lit(subject: Subject) -> Found:
    """Lines that are lit stand in the patches; of an arm without one, in what others take away."""
    folder = subject.folder
    lines = {arm.name: patch_lines(subject, arm.name) for arm in folder.lesson.arms}
    others = [line for of in lines.values() for line in of or () if line[:1] in "- "]
    for index, one in enumerate(folder.lesson.lit):
        for arm in one.arms or tuple(lines):
            own = lines.get(arm)
            if own is None:
                continue  # `patches` names it
            if not any(one.match in line for line in own or others):
                sentence = f"no line of the patches of {arm} has '{one.match}'"
                remedy = "Copy the line from the patch."
                if not own:
                    remedy = "Copy a line that a patch of another arm takes away."
                yield Finding(sentence, remedy, ("lit", index, "match"), where="lit")


def patch_lines(subject: Subject, arm: str) -> list[str] | None:
    """Lines of an arm's patches with their signs; None: they cannot be read."""
    folder = subject.folder
    if all(one.name != arm for one in folder.lesson.arms):
        return None
    try:
        read: list[Patch] = [read_patch(path) for path in folder.patch_files(arm)]
    except DuetError:
        return None
    return [line for p in read for line in p.text.splitlines() if line[:1] in "+- "]


def _short(error: DuetError) -> str:
    return error.sentence.removesuffix(".")
