# SPDX-License-Identifier: GPL-2.0-or-later
"""Debug kernels: own keys, own tree, and the lean ones know nothing of them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from duet.base.settings import repo_root
from duet.kernels import ArmSpec, KernelSettings, build, inputs, plan
from duet.kernels.compiler import OptionLost
from duet.kernels.recipe import options_sha256, read_fragments, read_options, write_options
from tests.support import miniature

STOCK = ArmSpec("02-toy", "stock")
PATCHES = repo_root() / "kernel-patches"


@pytest.fixture
def lean(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> KernelSettings:
    monkeypatch.setenv("HOME", str(tmp_path))
    made = miniature.make_settings(tmp_path)
    (made.patches / "stress.config").write_text("# why\nCONFIG_LOCKDEP=y\n")
    (made.patches / "debug.config").write_text("# why\nCONFIG_KASAN=y\n")
    (made.patches / "kcsan.config").write_text("# why\nCONFIG_KCSAN=y\n")
    return made


def test_later_fragment_overrides_and_is_written_as_it_was_read(lean: KernelSettings) -> None:
    options = read_fragments(replace(lean, debug=True).fragments(STOCK))
    assert options == {"CONFIG_SMP": "y", "CONFIG_LOCKDEP": "y", "CONFIG_KASAN": "y"}
    off = options | {"CONFIG_SMP": "n"}
    assert read_options(write_options(off)) == off


def test_lean_key_does_not_know_the_debug_config(lean: KernelSettings) -> None:
    before = plan(STOCK, lean)
    debug = plan(STOCK, replace(lean, debug=True))
    (lean.patches / "debug.config").write_text("CONFIG_KASAN=y\nCONFIG_DEBUG_LIST=y\n")
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


def test_kernel_for_races_has_neither_the_tree_nor_the_options_of_the_other(
    lean: KernelSettings,
) -> None:
    debug = replace(lean, debug=True)
    races = replace(debug, races=True)
    options = read_fragments(races.fragments(STOCK))
    assert options["CONFIG_KCSAN"] == "y" == options["CONFIG_LOCKDEP"]
    assert options["CONFIG_KASAN"] == "n", "they exclude each other"
    base = lean.base
    assert races.tree(base, None, "0" * 64) != debug.tree(base, None, "0" * 64)
    assert plan(STOCK, races) != plan(STOCK, debug)


def test_further_options_are_asked_for_and_may_be_lost(
    lean: KernelSettings, tmp_path: Path
) -> None:
    debug = replace(lean, debug=True)
    more = tmp_path / "kunit.config"
    more.write_text("CONFIG_LIST_KUNIT_TEST=y\nCONFIG_LOST=y\n")
    kunit = replace(debug, more=(more,))
    assert plan(STOCK, kunit) != plan(STOCK, debug)
    got = build([STOCK], kunit)[0]
    options = read_options(got.config.read_text())
    assert options["CONFIG_LIST_KUNIT_TEST"] == "y" and "CONFIG_LOST" not in options
    base = lean.base
    trees = {one.tree(base, None, "0" * 64).folder for one in (lean, debug, kunit)}
    assert len(trees) == 3, "the tree of the debug kernel stays as it is"


@pytest.mark.parametrize("own", ["debug.config", "kcsan.config"])
def test_our_configs_of_the_stress_ask_for_what_it_stands_on(own: str) -> None:
    files = [PATCHES / "bases/6.1/base.config", PATCHES / "stress.config", PATCHES / own]
    options = read_fragments(files)
    names = ["DETECT_HUNG_TASK", "XFS_FS", "DEBUG_INFO_NONE"]
    if own == "debug.config":
        names += ["KASAN_GENERIC", "PROVE_LOCKING", "DEBUG_LIST", "SLUB_DEBUG_ON"]
    else:
        assert options["CONFIG_KASAN"] == "n", "they exclude each other"
        names += ["KCSAN", "KUNIT", "KCSAN_EARLY_ENABLE", "KCSAN_REPORT_VALUE_CHANGE_ONLY"]
    assert {options[f"CONFIG_{name}"] for name in names} == {"y"}
    for file in files[1:]:
        groups = file.read_text().split("\n\n")
        assert all(group.startswith("# ") and len(group.split("\n")[0]) > 20 for group in groups)
