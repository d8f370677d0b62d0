# SPDX-License-Identifier: GPL-2.0-or-later
"""What the tree asks of an arm's kernel: its patches and its config options.

Unlike `inputs()` this needs neither the source nor a compiler, and does not change when the host
updates one of them.
"""

from __future__ import annotations

from dataclasses import dataclass

from duet.kernels.kernel_settings import KernelSettings
from duet.kernels.recipe import ArmSpec, arm_patches, options_sha256, read_fragments, read_patch


@dataclass(frozen=True, slots=True)
class MadeOf:
    """Patches and config of a kernel.

    Args:
        config_sha256: of the options; "" where nobody wrote it down.
        patches: path below kernel-patches/ -> SHA-256 of its diff, in order.
    """

    config_sha256: str
    patches: dict[str, str]


def made_of(arm: ArmSpec, settings: KernelSettings) -> MadeOf:
    """Of an arm, as its files stand now.

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


def changes(recorded: MadeOf, now: MadeOf) -> tuple[str, ...]:
    """What differs, in words: 'srcu.patch has changed'; empty when nothing does.

    A patch that was moved or renamed is the same patch.
    """
    if not recorded.config_sha256:
        return ("it does not say of what it was made",)
    same = set(recorded.patches.values()) & set(now.patches.values())
    before = {path: sha for path, sha in recorded.patches.items() if sha not in same}
    after = {path: sha for path, sha in now.patches.items() if sha not in same}
    found = [f"{path} has changed" for path in after if path in before]
    found += [f"{path} is new" for path in after if path not in before]
    found += [f"{path} is gone" for path in before if path not in after]
    if recorded.config_sha256 != now.config_sha256:
        found.append("the config has changed")
    return tuple(found)
