# SPDX-License-Identifier: GPL-2.0-or-later
"""Debug kernels: own keys, own tree, and the lean ones know nothing of them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from duet.kernels import ArmSpec, KernelSettings, build, inputs, plan
from duet.kernels.compiler import OptionLost
from duet.kernels.recipe import options_sha256, read_fragments, read_options, write_options
from duet.settings import repo_root
from tests.support import miniature

STOCK = ArmSpec("02-toy", "stock")
PATCHES = repo_root() / "kernel-patches"


@pytest.fixture
def lean(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> KernelSettings:
    monkeypatch.setenv("HOME", str(tmp_path))
    made = miniature.make_settings(tmp_path)
    (made.patches / "debug.config").write_text("# why\nCONFIG_KASAN=y\nCONFIG_LOCKDEP=y\n")
    return made


def test_later_fragment_overrides_and_is_written_as_it_was_read(lean: KernelSettings) -> None:
    options = read_fragments(replace(lean, debug=True).fragments(STOCK))
    assert options == {"CONFIG_SMP": "y", "CONFIG_KASAN": "y", "CONFIG_LOCKDEP": "y"}
    off = options | {"CONFIG_SMP": "n"}
    assert read_options(write_options(off)) == off


def test_lean_key_does_not_know_the_debug_config(lean: KernelSettings) -> None:
    before = plan(STOCK, lean)
    debug = plan(STOCK, replace(lean, debug=True))
    (lean.patches / "debug.config").write_text("CONFIG_KASAN=y\n")
    assert plan(STOCK, lean) == before != debug != plan(STOCK, replace(lean, debug=True))
    asked = read_options((lean.patches / "bases/6.1/base.config").read_text())
    assert inputs(STOCK, lean).config_sha256 == options_sha256(asked)


def test_debug_kernel_comes_from_a_tree_of_its_own(lean: KernelSettings) -> None:
    build([STOCK], lean)
    written = {path: path.stat().st_mtime_ns for path in lean.cache.glob("tree/*/src/mm/*")}
    debug = build([STOCK], replace(lean, debug=True))[0]
    assert "CONFIG_KASAN=y" in debug.config.read_text()
    assert debug.manifest.cold, "nothing of the lean tree was used"
    assert {path: path.stat().st_mtime_ns for path in written} == written
    trees = sorted(path.name for path in (lean.cache / "tree").iterdir())
    assert len(trees) == 2 and trees[1] == f"{trees[0]}-debug"
    assert "CONFIG_KASAN=y" not in build([STOCK], lean)[0].config.read_text()


def test_option_of_the_debug_config_that_is_lost_is_named_there(lean: KernelSettings) -> None:
    (lean.patches / "debug.config").write_text("CONFIG_LOST=y\n")
    with pytest.raises(OptionLost, match=r"debug\.config wants CONFIG_LOST=y"):
        build([STOCK], replace(lean, debug=True))


def test_our_debug_config_asks_for_what_the_stress_stands_on() -> None:
    options = read_fragments([PATCHES / "bases/6.1/base.config", PATCHES / "debug.config"])
    names = ["KASAN_GENERIC", "PROVE_LOCKING", "DEBUG_LIST", "SLUB_DEBUG_ON", "DETECT_HUNG_TASK"]
    assert {options[f"CONFIG_{name}"] for name in names} == {"y"}
    assert options["CONFIG_XFS_FS"] == "y", "base.config still holds"
    groups = (PATCHES / "debug.config").read_text().split("\n\n")
    assert all(group.startswith("# ") and len(group.split("\n")[0]) > 20 for group in groups)
