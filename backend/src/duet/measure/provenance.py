# SPDX-License-Identifier: GPL-2.0-or-later
"""What a measurement was made of and where: kernels, patches, the machine."""

from __future__ import annotations

import os
import platform
from pathlib import Path

from duet.kernels import KernelSettings, inputs, lookup
from duet.kernels.arms import arm_spec
from duet.kernels.recipe import is_shared
from duet.lessons.load import LessonFolder
from duet.lessons.schema import Arm
from duet.measure.model import ArmFacts, PatchOrigin, SourceFacts


def host_fingerprint() -> dict[str, str]:
    """The machine as far as it matters for times; nothing that names it.

    QEMU's version and accelerator are added by whoever boots a guest.
    """
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2**20
    return {
        "cpu": _cpu_model() or platform.machine(),
        "cpus": str(len(os.sched_getaffinity(0))),
        "memory_mib": str(memory),
        "os": _os_name(),
        "kernel": platform.release(),
    }


def arm_facts(folder: LessonFolder, arm: str, kernels: KernelSettings) -> ArmFacts:
    """What an arm's kernel is made of, from the same inputs that decide its build.

    `kernel` is the version of the stored image, "" when it is not built; a guest knows better.

    Raises:
        InputError: there is no such arm, or a patch or the base config cannot be read.
        NoSource, ToolMissing: see duet.kernels.
    """
    one = folder.arm(arm)
    spec = arm_spec(folder, arm)
    made_of = inputs(spec, kernels)
    key = made_of.key()
    image = lookup(key, kernels)
    patches = [(patch.path, patch.sha256) for patch in made_of.patches]
    own = [patch for patch in made_of.patches if not is_shared(patch.path)]
    return ArmFacts(
        name=one.name,
        title=one.title,
        role=one.role,
        kernel=image.manifest.kernel_version if image else "",
        key=str(key),
        config_sha256=made_of.config_sha256,
        patches=tuple(p for p in patches if not is_shared(p[0])),
        both=tuple(p for p in patches if is_shared(p[0])),
        compiler=made_of.compiler,
        base=kernels.base_of(spec).name,
        config=spec.config or "",
        origins=tuple(PatchOrigin(patch.subject, patch.commit) for patch in own),
        source=source_facts(one),
    )


def source_facts(arm: Arm) -> SourceFacts | None:
    """The source tree that a lesson names for an arm."""
    return SourceFacts(**arm.source.model_dump()) if arm.source is not None else None


def _cpu_model() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return ""
    return next((x.partition(":")[2].strip() for x in lines if x.startswith("model name")), "")


def _os_name() -> str:
    try:
        return platform.freedesktop_os_release().get("PRETTY_NAME", platform.system())
    except OSError:
        return platform.system()
