# SPDX-License-Identifier: GPL-2.0-or-later
"""The repository's own patches: form and style (tests/backend/test_fair_arms.py has the rest).

Found by looking, so a new lesson's patches are covered without touching this file.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from duet.base.settings import repo_root
from duet.kernels import ArmSpec, KernelImage, KernelSettings, lookup, plan
from duet.kernels.arms import arm_spec
from duet.kernels.bases import BASES, base_folders, find_base
from duet.kernels.recipe import message_faults, patched_files, read_options
from duet.kernels.source import own_source
from duet.lessons import load as lessons

PATCHES = repo_root() / "kernel-patches"
ALL = sorted(PATCHES.rglob("*.patch"))
LESSONS = sorted(path for path in PATCHES.iterdir() if path.is_dir() and path.name != BASES)
NAMES = [path.relative_to(PATCHES).as_posix() for path in ALL]


@pytest.fixture(scope="module")
def tree() -> Path:
    """The unpacked kernel, when there is one."""
    settings = KernelSettings.default()
    found = sorted(settings.cache.glob(f"tree/{settings.base.package}-*/src/scripts/checkpatch.pl"))
    if not found:
        pytest.skip("the kernel source is not unpacked yet (./duet build does it)")
    return found[0].parents[1]


@pytest.mark.parametrize("path", ALL, ids=NAMES)
def test_patch_is_in_format_patch_form_and_its_message_is_whole(path: Path) -> None:
    text = path.read_text()
    assert re.match(r"From [0-9a-f]{40} Mon Sep 17 00:00:00 2001\nFrom: \S", text)
    assert list(message_faults(text)) == []
    assert patched_files(text)


IDEAS = [path for path in ALL if path.parent.parent == PATCHES and path.parent.name[0].isdigit()]
"""Patches that make arms; what only watches is ours."""


@pytest.mark.parametrize("path", IDEAS, ids=lambda path: str(path.name))
def test_patch_says_whose_idea_it_is(path: Path) -> None:
    message = path.read_text().partition("\n---\n")[0]
    assert re.search(r"^Based-on: \S.*(?:\n .*)*\nLink: https?://\S+$", message, re.MULTILINE)


@pytest.mark.parametrize("path", ALL, ids=NAMES)
def test_patch_is_checkpatch_clean(path: Path, tree: Path) -> None:
    script = tree / "scripts" / "checkpatch.pl"
    done = subprocess.run(
        ["perl", script, "--no-tree", "--no-signoff", "--terse", path],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda path: str(path.name))
def test_arms_leave_trace_headers_to_both(lesson: Path) -> None:
    """An event in one arm only would make the arms unequal to their observer."""
    known = {find_base(name, PATCHES).both for name in base_folders(PATCHES)}
    assert {path.name for path in lesson.iterdir() if path.is_dir()} <= known
    for path in lesson.glob("*.patch"):
        files = patched_files(path.read_text())
        assert not [name for name in files if name.startswith("include/trace/")], path.name


def test_config_asks_for_what_the_lessons_stand_on() -> None:
    asked = read_options((PATCHES / "bases/6.1/base.config").read_text())
    names = [
        "XFS_FS",
        "EXT4_FS",
        "BLK_DEV_LOOP",
        "MEMCG",
        "SHRINKER_DEBUG",
        "FUNCTION_TRACER",
        "KPROBES",
        "KPROBE_EVENTS_ON_NOTRACE",
        "HIST_TRIGGERS",
        "KALLSYMS_ALL",
        "RCU_TRACE",
        "VIRTIO_PCI",
        "VIRTIO_BLK",
        "VIRTIO_CONSOLE",
        "9P_FS",
        "OVERLAY_FS",
        "KEXEC",
        "FW_CFG_SYSFS",
        "DEBUG_INFO_DWARF_TOOLCHAIN_DEFAULT",
        "HZ_250",
        "PREEMPT_NONE",
        "NO_HZ_IDLE",
    ]
    assert {name: asked.get(f"CONFIG_{name}") for name in names} == dict.fromkeys(names, "y")
    off = [
        "JUMP_LABEL",
        "RANDOMIZE_BASE",
        "LRU_GEN",
        "TRANSPARENT_HUGEPAGE",
        "SECURITY",
        "DEBUG_SPINLOCK",
    ]
    assert {name: asked.get(f"CONFIG_{name}") for name in off} == dict.fromkeys(off, "n")


def test_the_x_ray_is_given_vmcoreinfo_on_every_base() -> None:
    """The fw_cfg driver has it from KEXEC until 6.9, from PROC_KCORE or CRASH_DUMP since then."""
    for name, wanted in (("6.1", "KEXEC"), ("6.12", "PROC_KCORE")):
        fragments = find_base(name, PATCHES).fragments
        asked = read_options("".join(path.read_text() for path in fragments))
        assert (asked[f"CONFIG_{wanted}"], asked["CONFIG_FW_CFG_SYSFS"]) == ("y", "y")


def test_every_group_of_options_says_why() -> None:
    groups = (PATCHES / "bases/6.1/base.config").read_text().split("\n\n")
    assert all(group.startswith("# ") and len(group.split("\n")[0]) > 20 for group in groups)


def test_a_kernel_version_stands_in_base_only() -> None:
    version = re.compile(r"\b6\.1\.\d+\b")
    own = [PATCHES, repo_root() / "backend" / "src" / "duet" / "kernels"]
    suffixes = (".py", ".config", ".yaml")
    files = [path for top in own for path in top.rglob("*") if path.suffix in suffixes]
    assert [path.name for path in files if version.search(path.read_text())] == []
    assert {find_base(name, PATCHES).series for name in base_folders(PATCHES)} >= {"6.1", "6.12"}


def stored(arm: ArmSpec) -> KernelImage:
    settings = KernelSettings.default()
    if not own_source(settings.base, settings.cache).is_file():
        pytest.skip(
            f"the source of Linux {settings.base.series} is not here: ./duet build fetches it"
        )
    image = lookup(plan(arm, settings), settings)
    if image is None:
        pytest.skip(f"the kernel of {arm.lesson} {arm.name} is not built yet (./duet build)")
    return image


@pytest.mark.parametrize("name", lessons.load("02-grace-periods").usual_arms)
def test_functions_that_lesson_02_probes_are_symbols_in_its_kernels(name: str) -> None:
    own = lessons.load("02-grace-periods").patch_files(name)
    symbols = stored(ArmSpec("02-grace-periods", name, own)).symbols()
    probed = [
        "__synchronize_srcu",
        "synchronize_srcu",
        "synchronize_srcu_expedited",
        "unregister_shrinker",
        "rwsem_down_write_slowpath",
        "rwsem_down_read_slowpath",
        "synchronize_rcu_expedited",
        "shrink_slab",
        "path_umount",
        "path_mount",
        "wakeme_after_rcu",
        "deactivate_locked_super",
        "process_srcu",
        "srcu_invoke_callbacks",
    ]
    assert [symbol for symbol in probed if symbol not in symbols] == []
    assert ("shrinker_srcu" in symbols) == (name not in ("rwsem", "refcount-rcu"))


def test_instrumentation_of_one_lesson_is_in_its_kernels_alone() -> None:
    """Event -> the lesson whose both/ defines it; shrink_slab stays a symbol in all (both/)."""
    events = {
        "srcu_gp_state": "02-grace-periods",
        "shrinker_visit": "01-shrinker-bitmaps",
        "xfs_inode_reuse": "03-inode-recycling",
        "ext4_es_visit": "04-extent-shrinker",
    }
    for slug in lessons.slugs():
        folder = lessons.load(slug)
        for arm in (arm_spec(folder, name) for name in folder.usual_arms):
            symbols = stored(arm).symbols()
            carried = {name for name in events if f"__tracepoint_{name}" in symbols}
            assert carried == {name for name, owner in events.items() if owner == slug}, arm
            assert ("lockref_events" in symbols) == (slug == "05-cacheline-pingpong"), arm
            assert "shrink_slab" in symbols, arm
