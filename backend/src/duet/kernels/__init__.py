# SPDX-License-Identifier: GPL-2.0-or-later
"""Kernels: from kernel-patches/ to stored, bootable images, built once and kept by content."""

from duet.kernels.builder import build, inputs, lookup, plan
from duet.kernels.image import KernelImage, Manifest, PatchRecord
from duet.kernels.kernel_settings import KernelSettings
from duet.kernels.made_of import MadeOf, changes, made_of
from duet.kernels.progress import BuildProgress, Phase
from duet.kernels.readying import make_ready
from duet.kernels.recipe import ArmSpec, BuildInputs, KernelKey

__all__ = [
    "ArmSpec",
    "BuildInputs",
    "BuildProgress",
    "KernelImage",
    "KernelKey",
    "KernelSettings",
    "MadeOf",
    "Manifest",
    "PatchRecord",
    "Phase",
    "build",
    "changes",
    "inputs",
    "lookup",
    "made_of",
    "make_ready",
    "plan",
]
