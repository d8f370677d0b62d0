# SPDX-License-Identifier: GPL-2.0-or-later
"""Patches that cannot be read, and instrumentation that no kernel carries."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from duet.kernels.recipe import patch_subject
from duet.lessons.load import load
from tests.support.planted import SLUG, line_of, plant, problems


def test_a_spoilt_patch_is_named_for_each_arm_that_has_it(copy: Path) -> None:
    path = copy / "kernel-patches" / SLUG / "srcu.patch"
    path.write_text(path.read_text().replace("diff --git", "diff"))
    found = [one for one in problems() if one.where.startswith("arm ")]
    arms = [arm.name for arm in load(SLUG).lesson.arms if "srcu.patch" in arm.patches]
    assert [one.where for one in found] == [f"arm {name}" for name in arms] and len(arms) > 1
    assert {(one.sentence, one.file) for one in found} == {
        (
            "the patch srcu.patch is not in the form of git format-patch",
            f"kernel-patches/{SLUG}/srcu.patch",
        )
    }


MESSAGES = {
    "Subject: [PATCH] mm: vmscan: ": (
        "Subject: [PATCH] Vmscan ", "the subject 'Vmscan {}' names no subsystem"),
    "\n---\n": ("\n--\n", "no line '---' ends the message"),
    "\nLink: ": ("\nAcked-by: Me\nLink: ", "the patch has a line 'Acked-by:'"),
}  # fmt: skip


@pytest.mark.parametrize("old", MESSAGES)
def test_a_commit_message_that_lacks_something_is_named(copy: Path, old: str) -> None:
    path = copy / "kernel-patches" / SLUG / "srcu.patch"
    text = path.read_text()
    new, sentence = MESSAGES[old]
    assert old in text
    path.write_text(text.replace(old, new, 1))
    rest = patch_subject(path.read_text()).partition(" ")[2]
    assert sentence.format(rest) in [one.sentence for one in problems()]


def test_a_long_subject_and_a_short_message_are_named(copy: Path) -> None:
    path = copy / "kernel-patches" / SLUG / "srcu.patch"
    text = path.read_text()
    head, _, diff = text.partition("\n---\n")
    subject = head.partition("Subject: ")[0] + "Subject: [PATCH] mm: " + "x" * 80
    line = "word " * 16
    path.write_text(
        f"{subject}\n\n{line}\n\nBased-on: a mail\nLink: https://a.example\n---\n{diff}"
    )
    said = [one.sentence for one in problems() if one.where == "srcu.patch"]
    assert said == [
        "the subject has 84 characters, more than 75",
        f"a line of the message has 80 characters: '{line[:30]}...'",
        "the message has 21 words, fewer than 40",
    ]


def test_instrumentation_that_no_kernel_carries(copy: Path) -> None:
    plant(copy, "\narms:", "\ninstrumentation: none\narms:")
    both = copy / "kernel-patches" / SLUG / "both"
    names = sorted(path.name for path in both.glob("*.patch"))
    assert names
    assert [one.sentence for one in problems() if one.where == "instrumentation"] == [
        f"no kernel carries both/{name}, because the lesson has no instrumentation"
        for name in names
    ]
    shutil.rmtree(both)
    assert problems() == []


def on(copy: Path, arm: str, line: str) -> None:
    """Add a line to an arm of the lesson."""
    plant(copy, f"  - name: {arm}\n", f"  - name: {arm}\n    {line}\n")


def test_a_base_and_a_configuration_that_do_not_exist_are_named(copy: Path) -> None:
    on(copy, "srcu", 'base: "6.2"')
    on(copy, "srcu-expedited", "config: hz-100")
    found = [one for one in problems() if one.where in ("arm srcu", "arm srcu-expedited")]
    assert [line_of(copy, one).strip() for one in found] == ['base: "6.2"', "config: hz-100"]
    assert "there is no kernel base '6.2'" in found[0].sentence
    assert "has no configuration 'hz-100' (did you mean 'hz-1000'?)" in found[1].sentence


def test_arms_on_another_base_are_no_unfair_pair(copy: Path) -> None:
    """Other source, config and both/ are what another base is; a pair stands on one."""
    on(copy, "srcu-expedited", "config: hz-1000")
    assert problems() == []
    plant(copy, "    patches: [srcu-expedited.patch]\n", "    patches: [srcu.patch]\n")
    same = "the arms srcu-expedited and srcu-hz1000 are the same kernel: they have the same patches"
    assert same in [one.sentence for one in problems()]


LISTS, GENERATIONS = (f'writes: ["/sys/kernel/mm/lru_gen/enabled {n}"]' for n in (0, 7))


def said_of_pair(copy: Path, first: str, second: str) -> list[str]:
    """Give two arms one patch and these settings; return what is said of the pair."""
    plant(copy, "    patches: [srcu-expedited.patch]\n", "    patches: [srcu.patch]\n")
    for arm, line in (("srcu", first), ("srcu-expedited", second)):
        if line:
            on(copy, arm, line)
    found = [one.sentence for one in problems()]
    return [said for said in found if "same kernel" in said or "leaves it as it is" in said]


def test_arms_with_one_kernel_may_differ_by_a_setting(copy: Path) -> None:
    assert said_of_pair(copy, LISTS, GENERATIONS) == []


def test_arms_with_one_kernel_and_one_setting_are_the_same(copy: Path) -> None:
    assert said_of_pair(copy, LISTS, LISTS) == [
        "the arms srcu and srcu-expedited are the same kernel: "
        "they have the same patches with the same settings"
    ]


def test_a_setting_of_one_arm_is_not_left_to_chance_in_the_other(copy: Path) -> None:
    assert said_of_pair(copy, "", GENERATIONS) == [
        "the arm srcu-expedited writes /sys/kernel/mm/lru_gen/enabled, and srcu leaves it as it is"
    ]


def test_a_lesson_has_two_arms_that_are_one_patch_apart(copy: Path) -> None:
    for number, arm in enumerate(load(SLUG).lesson.arms):
        folder = copy / "kernel-patches" / "bases" / f"b{number}"
        folder.mkdir()
        (folder / "base.yaml").write_text(
            "about: x\nseries: '6.1'\nlike: '6.1'\nsource: {tree: /x}\n"
        )
        if arm.base is None:
            on(copy, arm.name, f"base: b{number}")
    found = [one.sentence for one in problems() if one.where == "arms"]
    assert found == ["no two arms have the same base, so none differ by one patch"]
