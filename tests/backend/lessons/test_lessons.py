# SPDX-License-Identifier: GPL-2.0-or-later
"""Lessons are data, checked strictly; bad ones get one clear sentence."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from duet.base.errors import InputError, KernelError
from duet.lessons.load import LessonFolder, load, slugs
from duet.lessons.plan import boot_cmdline, command, plan_text, substitute
from duet.lessons.schema import Lesson

SYMBOLS = {
    "shrinker_srcu": 0xFFFFFFFF82000000,
    "shrinker_rwsem": 0xFFFFFFFF82000100,
    "namespace_sem": 0xFFFFFFFF82000200,
}


def copy_of(root: Path, tmp_path: Path) -> Path:
    shutil.copytree(root / "lessons/02-grace-periods", tmp_path / "lessons/02-grace-periods")
    return tmp_path / "lessons/02-grace-periods/lesson.yaml"


def test_lessons_are_found_by_looking(root: Path, tmp_path: Path) -> None:
    path = copy_of(root, tmp_path)
    shutil.copytree(path.parent, tmp_path / "lessons/06-new-question")
    shutil.copytree(path.parent, tmp_path / "lessons/_template")
    assert slugs(tmp_path) == ["02-grace-periods", "06-new-question"]


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"hogs": 0}, "parameter 'hogs' must be from 1 to 9, not 0."),
        ({"hogs": 10**6}, "parameter 'hogs' must be from 1 to 9, not 1000000."),
        ({"hogs": "nine"}, "parameter 'hogs' must be a whole number, not 'nine'."),
        ({"hogs": True}, "parameter 'hogs' must be a whole number, not True."),
        ({"exp_holdoff": 7}, "parameter 'exp_holdoff' must be one of 25000, 0, not 7."),
        ({"hog": 3}, "lesson 02-grace-periods has no parameter 'hog' (did you mean 'hogs'?)."),
    ],
)
def test_bad_parameters_are_named(
    lesson02: LessonFolder, given: dict[str, object], sentence: str
) -> None:
    with pytest.raises(InputError) as caught:
        lesson02.check_params(given)
    assert caught.value.sentence == sentence
    assert caught.value.remedy


def test_unknown_lesson_names_the_nearest() -> None:
    with pytest.raises(InputError) as caught:
        load("02-grace-period")
    assert "did you mean '02-grace-periods'?" in caught.value.sentence


def test_unknown_arm_lists_the_arms(lesson02: LessonFolder) -> None:
    with pytest.raises(InputError) as caught:
        lesson02.arm("srcu-expedite")
    assert "did you mean 'srcu-expedited'?" in caught.value.sentence
    assert "rwsem, srcu, srcu-expedited" in caught.value.remedy


def test_arms_differ_in_the_plan_only_by_the_probes_they_can_have(lesson02: LessonFolder) -> None:
    params = lesson02.check_params({})
    plans = {
        arm: set(plan_text(lesson02.lesson, arm, "storm", params, SYMBOLS).splitlines())
        for arm in ("rwsem", "srcu", "srcu-expedited")
    }
    assert plans["srcu"] == plans["srcu-expedited"]
    assert not plans["rwsem"] - plans["srcu"]
    assert all("srcu" in line for line in plans["srcu"] - plans["rwsem"])


def test_plan_of_a_measure_run_is_untraced(lesson02: LessonFolder) -> None:
    plan = plan_text(lesson02.lesson, "srcu", "storm", lesson02.check_params({}), {}, traced=False)
    assert "trace off" in plan
    assert "probe" not in plan
    assert "event" not in plan


def test_plan_on_the_count_clock_needs_no_host(lesson02: LessonFolder) -> None:
    params = lesson02.check_params({})
    plan = plan_text(lesson02.lesson, "srcu", "storm", params, SYMBOLS, at_boot=True)
    assert "drain end\n" in plan
    assert "autostart\n" in plan


def prepared(lesson02: LessonFolder, **more: object) -> Lesson:
    """Lesson 02, with a workload that needs a disk."""
    data = lesson02.lesson.model_dump()
    data["workloads"]["storm"] |= {
        "setup": ("duet-scratch xfs 400", "true {hogs}"),
        "writes": ("/proc/sys/vm/dirty_ratio {hogs}",),
        "scratch_mb": 400,
    }
    return Lesson.model_validate(data | more)


def test_a_run_is_prepared_alike_traced_or_not(lesson02: LessonFolder) -> None:
    lesson, params = prepared(lesson02), lesson02.check_params({"hogs": 7})
    for traced in (True, False):
        plan = plan_text(lesson, "srcu", "storm", params, SYMBOLS, traced=traced)
        assert (
            "setup duet-scratch xfs 400\nsetup true 7\nwrite /proc/sys/vm/dirty_ratio 7\n" in plan
        )


@pytest.mark.parametrize(("memory_mb", "kept_mb"), [(408, 8), (512, 28), (1424, 256), (8192, 256)])
def test_a_kept_buffer_fits_the_memory_that_the_disk_leaves(
    lesson02: LessonFolder, memory_mb: int, kept_mb: int
) -> None:
    lesson, params = prepared(lesson02, memory_mb=memory_mb), lesson02.check_params({})
    plan = plan_text(lesson, "srcu", "storm", params, SYMBOLS, at_boot=True)
    assert f"buffer_kb {kept_mb * 1024}\n" in plan
    live = plan_text(lesson, "srcu", "storm", params, SYMBOLS)
    assert "buffer_kb 8192\n" in live


def test_probes_that_explain_are_on_unless_others_are_named(lesson02: LessonFolder) -> None:
    data = lesson02.lesson.model_dump()
    first, second = (probe["name"] for probe in data["probes"][:2])
    data["probes"][0]["explain"] = False
    lesson, params = Lesson.model_validate(data), lesson02.check_params({})

    def events(probes: frozenset[str] | None) -> set[str]:
        plan = plan_text(lesson, "srcu", "storm", params, SYMBOLS, probes=probes)
        return {line.split()[1] for line in plan.splitlines() if line.startswith("event ")}

    named = {probe.name: probe.event for probe in lesson.probes}
    assert named[first] not in events(None)
    assert named[second] in events(None)
    assert events(frozenset({first})) == {named[first]}
    assert events(frozenset()) == set()


def test_optional_words_come_only_with_their_knob(lesson02: LessonFolder) -> None:
    storm = lesson02.lesson.workloads["storm"]
    assert command(storm, lesson02.check_params({})) == "storm --hogs 3 --seconds 3"
    with_reader = command(storm, lesson02.check_params({"reclaim_ms": 20}))
    assert with_reader == "storm --hogs 3 --seconds 3 --reclaim-ms 20"


def test_boot_knobs_become_kernel_parameters(lesson02: LessonFolder) -> None:
    params = lesson02.check_params({"exp_holdoff": 0})
    assert boot_cmdline(lesson02.lesson, params) == ("srcutree.exp_holdoff=0",)


def test_the_count_clock_has_one_vcpu_and_says_so(lesson02: LessonFolder) -> None:
    assert lesson02.check_params({"vcpus": 4}, "wall")["vcpus"] == 4
    assert lesson02.check_params({"vcpus": 4}, "count")["vcpus"] == 1


def test_missing_symbol_is_the_kernels_trouble_and_named() -> None:
    with pytest.raises(KernelError, match="no symbol 'gone'"):
        substitute("ssp == {sym:gone}", SYMBOLS)


def test_the_template_is_a_valid_lesson(root: Path, tmp_path: Path) -> None:
    shutil.copytree(root / "lessons/_template", tmp_path / "lessons/06-new-question")
    folder = load("06-new-question", tmp_path)
    assert folder.check_params({}) == {"sleepers": 2, "naps": 200}
    assert all(f"## {scene.id}\n" in folder.content() for scene in folder.lesson.scenes)
