# SPDX-License-Identifier: GPL-2.0-or-later
"""Provenance of a measurement: its kernels, their patches, and the machine."""

from __future__ import annotations

import json
import os
import platform
import re
import subprocess
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import Any

from duet import __version__
from duet.base import files as durable
from duet.base.settings import cache_dir, repo_root
from duet.kernels import KernelSettings, inputs, lookup
from duet.kernels.arms import arm_spec
from duet.kernels.recipe import is_shared, read_options
from duet.lessons.load import LessonFolder
from duet.lessons.schema import Arm
from duet.measure.model import ArmFacts, PatchOrigin, SourceFacts

PREEMPTION = ("PREEMPT_RT", "PREEMPT_LAZY", "PREEMPT", "PREEMPT_VOLUNTARY", "PREEMPT_NONE")
CHECKS = (
    *("KASAN", "KCSAN", "KFENCE", "UBSAN", "PROVE_LOCKING", "DEBUG_OBJECTS", "DEBUG_LIST"),
    *("SLUB_DEBUG_ON", "DEBUG_PAGEALLOC", "DEBUG_ATOMIC_SLEEP", "LOCK_STAT"),
)
"""Debug options that slow a kernel down."""
PROGRAMS = ("stress-ng", "fio")
SAID_S = 10.0


def host_fingerprint() -> dict[str, str]:
    """Return the facts about this machine that affect times and do not identify the machine.

    The code that boots a guest adds QEMU's version and accelerator.
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
    """Return the provenance of an arm's kernel, from the inputs of its build.

    Its `kernel` is the version of the stored image, or "" if the kernel is not built. A guest
    reports the exact release later.

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
        tarball_sha256=made_of.tarball_sha256,
        settings=settings_words(image.folder / "config") if image else "",
        writes=one.writes,
    )


def settings_words(config: Path) -> str:
    """Describe a kernel config, as in 'HZ=250, PREEMPT_NONE, NR_CPUS=64, no debug checks'."""
    try:
        read = read_options(config.read_text(encoding="utf-8"))
    except OSError:
        return ""
    options = {name.removeprefix("CONFIG_"): value for name, value in read.items()}
    on = {name for name, value in options.items() if value == "y"}
    words = [f"HZ={options['HZ']}"] if "HZ" in options else []
    words += [name for name in PREEMPTION if name in on][:1]
    words += [f"NR_CPUS={options['NR_CPUS']}" if "SMP" in on else "no SMP"]
    checks = [name for name in CHECKS if name in on]
    return ", ".join([*words, f"checks {' '.join(checks)}" if checks else "no debug checks"])


@lru_cache(maxsize=1)
def our_version() -> str:
    """Return '0.1.0, commit 0123456789ab', and append '-dirty' if the checkout has changes."""
    words = ["git", "-C", str(repo_root()), "describe", "--always", "--dirty", "--exclude=*"]
    said = _said([*words, "--abbrev=12"])
    return f"{__version__}, commit {said}" if said else __version__


def program_versions(commands: str) -> dict[str, str]:
    """Return the versions of the PROGRAMS that the commands name.

    The guests' root contains copies of these host programs, so guests run the same versions.

    Args:
        commands: shell lines.
    """
    named = [name for name in PROGRAMS if re.search(rf"(?<![\w-]){name}(?![\w-])", commands)]
    return {name: version for name in named if (version := _program_version(name))}


@lru_cache(maxsize=8)
def _program_version(name: str) -> str:
    match = re.search(r"\d+\.\d[\w.]*", _said([name, "--version"]))
    return match[0] if match else ""


def _said(words: list[str]) -> str:
    try:
        done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=SAID_S)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


def source_facts(arm: Arm) -> SourceFacts | None:
    """Return facts about the arm's own source tree, or None if the arm uses its base's source."""
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


# The stored result of `duet selftest --kvm` on this host, and what reports say about it.

_SAME = ("cpu", "kernel")
"""Keys of the host fingerprint that must be unchanged for the result to be valid."""


def result_file() -> Path:
    """Return the path of the newest self-test result."""
    return cache_dir() / "tools" / "selftest-kvm.json"


def remember(result: Mapping[str, Any]) -> Path:
    """Store a self-test result with today's date."""
    path = result_file()
    path.parent.mkdir(parents=True, exist_ok=True)
    day = datetime.now(UTC).date().isoformat()
    tree = {**result, "file": str(path), "at": day}
    durable.write(path, json.dumps(tree, indent=1).encode())
    return path


def tested_words(host: Mapping[str, str]) -> str:
    """Return what reports say about KVM guests and the result of the self-test.

    Args:
        host: the report's host fingerprint, including `qemu`.
    """
    try:
        tree = json.loads(result_file().read_text())
        fits = tree["qemu"] == host.get("qemu", "")
        fits = fits and all(tree["host"][name] == host.get(name, "") for name in _SAME)
        ended = "passed" if tree["ok"] else "failed"
        day = str(tree["at"])
    except (OSError, ValueError, KeyError, TypeError):
        fits = False
    if not fits:
        return "measured on hardware, without a self-test of this host (duet selftest --kvm)"
    return f"measured on hardware; the self-test of this host {ended} on {day}"
