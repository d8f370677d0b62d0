# SPDX-License-Identifier: GPL-2.0-or-later
"""Kernels: from kernel-patches/ to stored, bootable images, built once and kept by content."""

from duet.kernels.builder import KernelSettings, build, inputs, lookup, plan
from duet.kernels.image import KernelImage, Manifest, PatchRecord
from duet.kernels.progress import BuildProgress, Phase
from duet.kernels.recipe import ArmSpec, BuildInputs, KernelKey

__all__ = [
    "ArmSpec",
    "BuildInputs",
    "BuildProgress",
    "KernelImage",
    "KernelKey",
    "KernelSettings",
    "Manifest",
    "PatchRecord",
    "Phase",
    "build",
    "inputs",
    "lookup",
    "plan",
]
