# SPDX-License-Identifier: GPL-2.0-or-later
"""`duet build`: builds the missing kernels, with a progress bar."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from duet.base.errors import InputError
from duet.cli.keys import key, keys_text
from duet.cli.options import Base, Json, MaybeLesson, Source
from duet.cli.output import emit, note

if TYPE_CHECKING:
    from duet.kernels import ArmSpec
    from duet.lessons.load import LessonFolder


@dataclass(frozen=True, slots=True)
class BuiltKernel:
    lesson: str
    arm: str
    key: str
    folder: str
    kernel_version: str
    built: bool


@dataclass(frozen=True, slots=True)
class BuildResult:
    built: int = key("int")
    seconds: float = key()
    kernels: Sequence[BuiltKernel] = key()


KEYS = keys_text(BuildResult)


def build(
    lesson: MaybeLesson = None,
    source: Source = None,
    base: Base = None,
    arm: Annotated[
        list[str] | None, typer.Option("--arm", help="Only this arm; may be repeated.")
    ] = None,
    debug: Annotated[
        bool, typer.Option("--debug", help="Use debug.config: KASAN, lockdep. For stress only.")
    ] = False,
    optional: Annotated[
        bool, typer.Option("--optional", help="Also build arms that a lesson marks optional.")
    ] = False,
    as_json: Json = False,
) -> int:
    """Build the kernels that are missing.

    With --base and no lesson, build only that base: its source with the patches in the base's
    subfolder `both/`. Arms that a lesson marks optional need --arm or --optional.
    """
    from duet.cli.building import build_with_bar, install_sources
    from duet.kernels import ArmSpec, KernelSettings, lookup, plan
    from duet.lessons import load as lessons

    only = arm or []
    if only and not lesson:
        raise InputError("--arm needs the arm's lesson.", remedy="Name the lesson first.")
    began = time.monotonic()
    settings = KernelSettings.default(source, debug=debug, base=base)
    if base and not lesson:
        specs = [ArmSpec(settings.base.name, "stock")]
    else:
        folders = [lessons.load(slug) for slug in ([lesson] if lesson else lessons.slugs())]
        specs = wanted_arms(folders, only, optional=optional)
        if not only and not optional:
            _tell_left_out(folders)
    install_sources(specs, settings)
    keys = [plan(spec, settings) for spec in specs]
    before = [lookup(key, settings) for key in keys]
    todo = [spec for spec, image in zip(specs, before, strict=True) if image is None]
    if todo:
        build_with_bar(todo, settings)
    images = [lookup(key, settings) for key in keys] if todo else before
    rows = [
        BuiltKernel(
            lesson=spec.lesson,
            arm=spec.name,
            key=str(image.key),
            folder=str(image.folder),
            kernel_version=image.manifest.kernel_version,
            built=former is None,
        )
        for spec, image, former in zip(specs, images, before, strict=True)
        if image is not None
    ]
    seconds = round(time.monotonic() - began, 2)
    if as_json:
        emit(BuildResult(len(todo), seconds, rows))
    elif todo:
        print(f"Built {len(todo)} kernels in {seconds:.0f} s.")
    else:
        print(f"All {len(rows)} kernels are built already.")
    return 0


def wanted_arms(
    folders: Sequence[LessonFolder], only: list[str], *, optional: bool = False
) -> list[ArmSpec]:
    """Return the arms to build.

    Args:
        only: names of arms; if empty, all arms except optional ones.
        optional: include the optional arms if `only` is empty.

    Raises:
        InputError: an arm is unknown.
    """
    from duet.kernels.arms import arm_spec

    specs: list[ArmSpec] = []
    for folder in folders:
        usual = [arm.name for arm in folder.lesson.arms] if optional else folder.usual_arms
        names = only or usual
        specs += [arm_spec(folder, name) for name in names]
    return specs


def _tell_left_out(folders: Sequence[LessonFolder]) -> None:
    """Print which optional arms are not built."""
    for folder in folders:
        later = ", ".join(arm.name for arm in folder.lesson.arms if arm.optional)
        if later:
            note(f"{folder.slug}: optional and left out: {later} (--optional builds them)")
