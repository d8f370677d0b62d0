# SPDX-License-Identifier: GPL-2.0-or-later
"""The kernels of a lesson's arms: what each is made of, and whether it is built."""

from __future__ import annotations

from duet.errors import DuetError, InfraError
from duet.kernels.builder import lookup, plan
from duet.kernels.image import KernelImage
from duet.kernels.kernel_settings import KernelSettings
from duet.kernels.recipe import ArmSpec
from duet.lessons.load import LessonFolder


def arm_specs(folder: LessonFolder) -> dict[str, ArmSpec]:
    """What the kernel store needs to know of each arm."""
    return {arm.name: arm_spec(folder, arm.name) for arm in folder.lesson.arms}


def arm_spec(folder: LessonFolder, name: str) -> ArmSpec:
    """The same of one arm.

    Raises:
        InputError: the lesson has no such arm.
    """
    names = [arm.name for arm in folder.lesson.arms]
    return ArmSpec(
        folder.slug,
        name,
        tuple(folder.patch_dir / patch for patch in folder.arm(name).patches),
        folder.patch_dir,
        instrumented=folder.lesson.instrumentation == "patches",
        base=folder.arm(name).base,
        config=folder.arm(name).config,
        change=folder.changes.get(name),
        position=names.index(name),
    )


def find_image(folder: LessonFolder, arm: str, settings: KernelSettings) -> KernelImage:
    """The built kernel of an arm.

    Raises:
        InfraError: it is not built.
    """
    image = lookup(plan(arm_specs(folder)[arm], settings), settings)
    if image is None:
        error = InfraError(
            f"the kernel of {arm} is not built yet.",
            remedy=f"Run ./duet build {folder.slug}.",
        )
        error.code = "not-built"
        raise error
    return image


def ready_arms(folder: LessonFolder, settings: KernelSettings) -> dict[str, bool]:
    """arm -> its kernel is built; all False where not even a compiler is there."""
    ready: dict[str, bool] = {}
    for name, spec in arm_specs(folder).items():
        try:
            ready[name] = lookup(plan(spec, settings), settings) is not None
        except DuetError:
            ready[name] = False
    return ready
