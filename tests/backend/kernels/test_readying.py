# SPDX-License-Identifier: GPL-2.0-or-later
"""A tree is brought to an arm ahead of a change, and gives way to whoever builds."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from threading import Event

import pytest

from duet.kernels import ArmSpec, KernelSettings, build, make_ready
from duet.kernels import box_build as boxing
from duet.kernels import builder as readying
from duet.kernels.builder import MARKER
from duet.kernels.tree import BuildBusy, BuildStopped, build_lock, wanted_at
from tests.support import miniature
from tests.support.small_tree import NEEDS_BOX

STOCK = ArmSpec("02-toy", "stock")
SRCU = ArmSpec("02-toy", "srcu", (Path("srcu.patch"),))


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> KernelSettings:
    monkeypatch.setattr(boxing, "NEAR_OBJECTS", 0)
    return miniature.make_settings(tmp_path, miniature.REAL_FILES)


def folder(settings: KernelSettings) -> Path:
    return settings.tree(settings.base, None, settings.tarball(settings.base).sha256).folder


def stands_at_srcu(settings: KernelSettings) -> bool:
    return "srcu\n" in (folder(settings) / "src/mm/vmscan.c").read_text()


def test_the_tree_then_stands_at_the_arm_once(settings: KernelSettings) -> None:
    assert not make_ready(SRCU, settings, Event()), "the first kernel is not compiled ahead"
    build([STOCK], settings)
    assert make_ready(SRCU, settings, Event()) and stands_at_srcu(settings)
    assert not make_ready(SRCU, settings, Event()), "it stands there"


def test_nothing_is_begun_while_somebody_builds(settings: KernelSettings) -> None:
    build([STOCK], settings)
    lock = settings.cache / "build.lock"
    with (
        build_lock(lock, wait_s=0, on_wait=lambda note: None),
        pytest.raises(BuildBusy),
    ):
        make_ready(SRCU, settings, Event())
    assert not stands_at_srcu(settings)
    assert wanted_at(lock) == 0, "it asks nobody to give way"


def test_who_waits_for_the_lock_is_seen(settings: KernelSettings) -> None:
    lock = settings.cache / "build.lock"
    with (
        build_lock(lock, wait_s=0, on_wait=lambda note: None),
        pytest.raises(BuildBusy),
        build_lock(lock, wait_s=0.1, on_wait=lambda note: None),
    ):
        pass
    assert wanted_at(lock) > 0


@NEEDS_BOX
def test_it_ends_when_a_build_is_wanted_and_that_build_goes_on_from_there(
    settings: KernelSettings, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    build([STOCK], settings)
    moments = iter(range(100))
    with monkeypatch.context() as patched:
        patched.setattr(readying, "wanted_at", lambda lock: next(moments))
        with pytest.raises(BuildStopped):
            make_ready(SRCU, settings, Event())
    assert (folder(settings) / MARKER).exists(), "objects are missing, although the files are there"
    patch = tmp_path / "change.patch"
    diff = miniature.replace("mm/vmscan.c", miniature.VMSCAN, 20, "changed")
    patch.write_text(miniature.patch("a change", diff))
    (made,) = build([replace(SRCU, name="own", change=patch)], settings)
    assert b"changed\n" in made.bzimage.read_bytes()
    assert not (folder(settings) / MARKER).exists(), "the arm itself was compiled first, outside"
    assert not make_ready(SRCU, settings, Event())
