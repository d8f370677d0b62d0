# SPDX-License-Identifier: GPL-2.0-or-later
"""What is reported of kernels and machine, from the files that decide the build."""

from __future__ import annotations

import hashlib
import json
import platform
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from duet import __version__
from duet.base.errors import InputError
from duet.kernels import ArmSpec, KernelSettings, lookup, plan
from duet.kernels.recipe import patch_diff
from duet.kernels.source import own_source
from duet.lessons.load import LessonFolder
from duet.measure.provenance import (
    arm_facts,
    host_fingerprint,
    our_version,
    program_versions,
    settings_words,
)


def test_the_fingerprint_tells_the_machine_and_does_not_name_it() -> None:
    host = host_fingerprint()
    assert set(host) == {"cpu", "cpus", "memory_mib", "os", "kernel"}
    assert all(host.values())
    assert int(host["cpus"]) >= 1 and int(host["memory_mib"]) > 256
    assert platform.node() not in json.dumps(host)


@pytest.fixture
def kernels(tmp_path: Path) -> KernelSettings:
    """The house's patches and tarball, with an empty store."""
    known = KernelSettings.default()
    source = known.source or own_source(known.base, known.cache)
    if not source.exists():
        pytest.skip("no kernel source is here (./duet build fetches it)")
    return replace(known, cache=tmp_path, source=source)


def test_an_arm_is_identified_by_the_inputs_of_its_build(
    lesson02: LessonFolder, kernels: KernelSettings, root: Path
) -> None:
    stock, srcu = (arm_facts(lesson02, arm, kernels) for arm in ("rwsem", "srcu"))
    assert stock.patches == () and stock.role == "before" and stock.kernel == ""
    ((name, sha),) = srcu.patches
    assert name == "02-grace-periods/srcu.patch"
    text = (root / "kernel-patches" / name).read_text()
    assert sha == hashlib.sha256(patch_diff(text).encode()).hexdigest()
    names = [patch for patch, _ in srcu.both]
    top = root / "kernel-patches"
    shared = [(top / "bases/6.1", "both"), (top, "02-grace-periods/both")]
    assert names == [
        path.relative_to(above).as_posix()
        for above, folder in shared
        for path in sorted((above / folder).glob("*.patch"))
    ]
    assert len(names) == 4
    # Fair: they differ in their own patch alone.
    assert (stock.both, stock.config_sha256) == (srcu.both, srcu.config_sha256)
    assert (
        stock.key
        != srcu.key
        == plan(ArmSpec("02-grace-periods", "srcu", (Path("srcu.patch"),)), kernels)
    )


def test_a_stored_kernel_tells_its_version(lesson02: LessonFolder) -> None:
    known = KernelSettings.default()
    image = lookup(plan(ArmSpec("02-grace-periods", "rwsem"), known), known)
    if image is None:
        pytest.skip("the stock kernel is not built (./duet build)")
    facts = arm_facts(lesson02, "rwsem", known)
    assert facts.kernel == image.manifest.kernel_version
    assert facts.config_sha256 == image.manifest.config_sha256
    assert image.folder.name == facts.key


def test_an_unknown_arm_is_reported(lesson02: LessonFolder, kernels: KernelSettings) -> None:
    with pytest.raises(InputError, match="no arm 'nope'"):
        arm_facts(lesson02, "nope", kernels)


def test_a_configuration_is_told_in_words(tmp_path: Path) -> None:
    config = tmp_path / "config"
    config.write_text(
        "CONFIG_HZ_250=y\nCONFIG_HZ=250\nCONFIG_PREEMPT_VOLUNTARY=y\nCONFIG_SMP=y\n"
        "# CONFIG_KASAN is not set\nCONFIG_NR_CPUS=64\n"
    )
    assert settings_words(config) == "HZ=250, PREEMPT_VOLUNTARY, NR_CPUS=64, no debug checks"
    config.write_text("CONFIG_HZ=1000\nCONFIG_PREEMPT=y\nCONFIG_KASAN=y\nCONFIG_PROVE_LOCKING=y\n")
    assert settings_words(config) == "HZ=1000, PREEMPT, no SMP, checks KASAN PROVE_LOCKING"
    assert settings_words(tmp_path / "none") == ""


def test_versions_of_programs_that_a_workload_names() -> None:
    found = program_versions("FOO=1 taskset 1 stress-ng --pipe 1\npressed-fio 5")
    said = subprocess.run(["stress-ng", "--version"], capture_output=True, text=True, check=True)
    assert list(found) == ["stress-ng"] and f"version {found['stress-ng']} " in said.stdout
    assert our_version().startswith(__version__)
