# SPDX-License-Identifier: GPL-2.0-or-later
"""Which arm the work tree was last switched to: from there the way to the next one is counted."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from duet import durable
from duet.kernels.bases import Base
from duet.kernels.recipe import ArmSpec, arm_patches, read_patch

Content = Mapping[str, tuple[str, ...]]
"""What an arm is made of: SHA-256 of each patch's diff -> the files that the patch touches."""


@dataclass(frozen=True, slots=True)
class Standing:
    """An arm and what it is made of."""

    lesson: str
    arm: str
    content: Content

    @classmethod
    def of(cls, arm: ArmSpec, patches_dir: Path, base: Base) -> Standing:
        """Read the arm's patches.

        Raises:
            InputError: one of them is missing or has no diff.
        """
        paths = arm_patches(arm, patches_dir, base)
        read = (read_patch(path, patches_dir, base.folder) for path in paths)
        return cls(arm.lesson, arm.name, {patch.sha256: patch.files for patch in read})


def read_standing(folder: Path) -> Standing | None:
    """Where the tree in `folder` stands; None: nothing says, or a switch was cut off."""
    try:
        found = json.loads((folder / "stands.json").read_bytes())
        content = {str(key): tuple(map(str, files)) for key, files in found["content"].items()}
        return Standing(str(found["lesson"]), str(found["arm"]), content)
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def write_standing(folder: Path, standing: Standing | None) -> None:
    """Write down where the tree stands; None: between two arms."""
    path = folder / "stands.json"
    if standing is None:
        path.unlink(missing_ok=True)
    else:
        durable.write(path, json.dumps(asdict(standing)).encode())
