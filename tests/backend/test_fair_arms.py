# SPDX-License-Identifier: GPL-2.0-or-later
"""Fair arms: the kernels of a lesson differ by their own patches and by nothing else.

Lessons and arms are found by looking, as lesson.yaml names them.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from duet.kernels import ArmSpec, BuildInputs, KernelSettings, inputs
from duet.kernels.arms import arm_specs
from duet.kernels.recipe import PatchInput, arm_patches, patched_files, shared_patches
from duet.kernels.source import own_source
from duet.kernels.tree import WorkTree
from duet.lessons import load as lessons

ARMS = [arm for slug in lessons.slugs() for arm in arm_specs(lessons.load(slug)).values()]


def unfair(needs: Mapping[str, BuildInputs], shared: int, lesson: str) -> list[str]:
    """What sets the arms of a lesson apart beyond their own patches, in words.

    Args:
        needs: name of an arm -> all that decides what the compiler makes of it.
        shared: how many patches of the folders both/ come first in each.
        lesson: whose own folder the rest must come from.
    """
    found: list[str] = []
    first, *others = needs
    common = replace(needs[first], patches=needs[first].patches[:shared])
    for name in (first, *others):
        need = needs[name]
        if replace(need, patches=need.patches[:shared]) != common:
            found.append(f"{name} is built unlike {first}: source, config, tools or both/")
        foreign = [p.path for p in need.patches[shared:] if not p.path.startswith(f"{lesson}/")]
        found += [f"{name} carries {path}" for path in foreign]
    keys: dict[str, str] = {}
    for name, need in needs.items():
        if (earlier := keys.setdefault(need.key(), name)) != name:
            found.append(f"{name} is the same kernel as {earlier}")
    return found


@pytest.fixture(scope="module", params=[False, True], ids=["lean", "debug"])
def settings(request: pytest.FixtureRequest) -> KernelSettings:
    house = KernelSettings.default(debug=bool(request.param))
    if not own_source(house.base, house.cache).is_file():
        pytest.skip(f"the source of Linux {house.base.series} is not here: ./duet build fetches it")
    return house


@pytest.mark.parametrize("slug", lessons.slugs())
def test_arms_differ_by_their_own_patches_alone(slug: str, settings: KernelSettings) -> None:
    """On each base that is installed; arms on different bases are no pair."""
    arms = [arm for arm in ARMS if arm.lesson == slug]
    for base, config in {(arm.base, arm.config) for arm in arms}:
        some = [arm for arm in arms if (arm.base, arm.config) == (base, config)]
        own = settings.base_of(some[0])
        if not own.tarball.is_file():
            continue
        needs = {arm.name: inputs(arm, settings) for arm in some}
        (shared,) = {shared_patches(arm, settings.patches, own) for arm in some}
        assert unfair(needs, len(shared), slug) == []


def test_an_unfair_arm_is_seen() -> None:
    """The judge itself: every input but an own patch makes an arm unfair."""
    both = PatchInput("both/0001.patch", "both", "b")
    own = PatchInput("02-toy/srcu.patch", "srcu", "s")
    stock = BuildInputs("tar", "config", (both,), "gcc 12", "ld 2")
    fair = replace(stock, patches=(both, own))
    assert unfair({"stock": stock, "srcu": fair}, 1, "02-toy") == []
    wrong = [
        replace(fair, tarball_sha256="other"),
        replace(fair, config_sha256="other"),
        replace(fair, compiler="gcc 13"),
        replace(fair, linker="ld 3"),
        replace(fair, patches=(replace(both, sha256="other"), own)),
        replace(fair, patches=(own,)),
        replace(fair, patches=(both, replace(own, path="03-other/wait.patch"))),
        stock,
    ]
    for arm in wrong:
        assert unfair({"stock": stock, "srcu": arm}, 1, "02-toy") != [], arm


@pytest.mark.parametrize("arm", ARMS, ids=lambda arm: f"{arm.lesson}-{arm.name}")
def test_patches_of_an_arm_fit_in_order(arm: ArmSpec, tmp_path: Path) -> None:
    """Those of both folders both/ and its own, without fuzz, on the originals of the base."""
    house = KernelSettings.default()
    base = house.base_of(arm)
    unpacked = sorted(house.cache.glob(f"tree/{base.package}-*/src/Makefile"))
    if not unpacked:
        pytest.skip(f"the source of {base.name} is not unpacked yet (./duet build does it)")
    src = unpacked[0].parent
    patches = arm_patches(arm, house.patches, base)
    names = {name for path in patches for name in patched_files(path.read_text())}
    work = WorkTree(tmp_path / "tree")
    for name in names:
        kept = src.parent / "pristine" / name
        original = kept if kept.exists() else src / name
        if original.exists() and not kept.with_name(kept.name + ".absent").exists():
            (work.src / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(original, work.src / name)
    assert set(work.switch(patches)) == names
