# SPDX-License-Identifier: GPL-2.0-or-later
"""Build bootable kernels from kernel-patches/, and store each under a hash of its inputs."""

from __future__ import annotations

from duet.kernels.arms import MadeOf, arm_made_of, changes_since, made_of
from duet.kernels.builder import build, inputs, lookup, make_ready, plan
from duet.kernels.changes import (
    BroughtChanges,
    Change,
    Changes,
    Region,
    Source,
    arm_source,
    brought,
    read_change,
)
from duet.kernels.compiler import BuildProgress, Phase
from duet.kernels.image import KernelImage, Manifest, PatchRecord
from duet.kernels.recipe import ArmSpec, BuildInputs, KernelKey
from duet.kernels.settings import KernelSettings

__all__ = [
    "ArmSpec",
    "BroughtChanges",
    "BuildInputs",
    "BuildProgress",
    "Change",
    "Changes",
    "KernelImage",
    "KernelKey",
    "KernelSettings",
    "MadeOf",
    "Manifest",
    "PatchRecord",
    "Phase",
    "Region",
    "Source",
    "arm_made_of",
    "arm_source",
    "brought",
    "build",
    "changes_since",
    "inputs",
    "lookup",
    "made_of",
    "make_ready",
    "plan",
    "read_change",
]
