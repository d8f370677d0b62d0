# SPDX-License-Identifier: GPL-2.0-or-later
"""Kernels of a lesson's arms: their build inputs, and whether they are built."""

from __future__ import annotations

from dataclasses import dataclass, replace

from duet.base.errors import DuetError, InfraError
from duet.kernels.builder import lookup, plan
from duet.kernels.image import KernelImage
from duet.kernels.recipe import ArmSpec, arm_patches, options_sha256, read_fragments, read_patch
from duet.kernels.settings import KernelSettings
from duet.lessons.load import LessonFolder


def arm_specs(folder: LessonFolder) -> dict[str, ArmSpec]:
    """Return the build spec of each arm, by arm name."""
    return {arm.name: arm_spec(folder, arm.name) for arm in folder.lesson.arms}


def arm_spec(folder: LessonFolder, name: str) -> ArmSpec:
    """Return the build spec of one arm.

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
    """Return the built kernel of an arm.

    Raises:
        InfraError: the kernel is not built.
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
    """Return whether each arm's kernel is built, by arm name; all False without a compiler."""
    ready: dict[str, bool] = {}
    for name, spec in arm_specs(folder).items():
        try:
            ready[name] = lookup(plan(spec, settings), settings) is not None
        except DuetError:
            ready[name] = False
    return ready


# Patches and config options: the inputs of a kernel that come from the checkout.
#
# Unlike `inputs()`, this part requires no source and no compiler. Updating source or compiler does
# not change it.


@dataclass(frozen=True, slots=True)
class MadeOf:
    """The patches and the config from which an arm's kernel is built, and the arm's settings.

    Args:
        config_sha256: digest of the config options; "" if the recording does not name it.
        patches: path below kernel-patches/ -> SHA-256 of its diff, in order.
        writes: what the guest writes before a workload ('PATH VALUE'), in order.
    """

    config_sha256: str
    patches: dict[str, str]
    writes: tuple[str, ...] = ()


def made_of(arm: ArmSpec, settings: KernelSettings) -> MadeOf:
    """Read an arm's patches and config from the files in their current state.

    Raises:
        InputError: a config or a patch cannot be read.
    """
    base = settings.base_of(arm)
    paths = arm_patches(arm, settings.patches, base)
    read = [read_patch(path, settings.patches, base.folder) for path in paths]
    return MadeOf(
        options_sha256(read_fragments(settings.fragments(arm))),
        {patch.path: patch.sha256 for patch in read},
    )


def arm_made_of(folder: LessonFolder, name: str, settings: KernelSettings) -> MadeOf:
    """Read an arm's patches, config and settings from the files in their current state.

    Raises:
        InputError: there is no such arm, or a config or a patch cannot be read.
    """
    made = made_of(arm_spec(folder, name), settings)
    return replace(made, writes=folder.arm(name).writes)


def changes_since(recorded: MadeOf, now: MadeOf) -> tuple[str, ...]:
    """Return the differences as sentences, such as 'srcu.patch has changed'.

    A patch that was moved or renamed counts as the same patch.
    """
    if not recorded.config_sha256:
        return ("the recording does not name its patches and config",)
    same = set(recorded.patches.values()) & set(now.patches.values())
    before = {path: sha for path, sha in recorded.patches.items() if sha not in same}
    after = {path: sha for path, sha in now.patches.items() if sha not in same}
    found = [f"{path} has changed" for path in after if path in before]
    found += [f"{path} is new" for path in after if path not in before]
    found += [f"{path} is gone" for path in before if path not in after]
    if recorded.config_sha256 != now.config_sha256:
        found.append("the config has changed")
    if recorded.writes != now.writes:
        found.append(f"its settings were {_listed(recorded.writes)}, now {_listed(now.writes)}")
    return tuple(found)


def _listed(writes: tuple[str, ...]) -> str:
    return ", ".join(f"'{line}'" for line in writes) or "none"
