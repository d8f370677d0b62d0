# SPDX-License-Identifier: GPL-2.0-or-later
"""lab.yaml: what is wrong is named with its line, and the labs of the lessons are right."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import pytest

from duet import messages as m
from duet.base.access import Role, Visitor
from duet.lessons import load as lessons
from duet.lessons.document import LessonError
from duet.lessons.load import LessonFolder
from duet.lint.lessons import of_plugins
from duet.plugins.labs import files
from duet.plugins.labs.labs import Labs
from duet.plugins.labs.rules import lab_faults
from duet.server.services import Services

LABS = [slug for slug in lessons.slugs() if (lessons.load(slug).folder / files.FILE).is_file()]


def write(folder: Path, text: str) -> Path:
    place = folder / "labs/mine"
    place.mkdir(parents=True, exist_ok=True)
    (place / files.FILE).write_text(text)
    return place / files.FILE


@pytest.mark.parametrize("slug", LABS)
def test_the_labs_of_the_lessons_have_nothing_wrong(slug: str) -> None:
    assert of_plugins(slug) == []
    kinds = {task.kind for task in files.find(slug).lab.tasks.values()}
    assert kinds == set(files.KINDS)


@pytest.mark.parametrize(
    ("task", "said"),
    [
        ("{kind: predict, title: x, prediction: p, akt: 2}", "6: tasks.one.akt: there is no"),
        ("{kind: guess, title: x}", "6: tasks.one.kind: there is no such kind"),
        ("{title: x}", "6: tasks.one.kind: a task needs a `kind`"),
        (
            "{kind: explain, title: x, ask: w, points: 2, rubric: [{says: y, points: 1}]}",
            "points add up to 1, but `points` is 2",
        ),
        ("{kind: predict, title: x, ask: w, choices: [a, b], right: 3}", "`right` must be 1 to 2"),
        ("{kind: predict, title: x}", "6: tasks.one: the task asks nothing"),
        (
            "{kind: measure, title: x, ask: w, limits: [{metric: m, arm: a}]}",
            "6: tasks.one.limits[0].metric: no bound is given",
        ),
    ],
)
def test_a_mistake_is_one_sentence_with_its_line(tmp_path: Path, task: str, said: str) -> None:
    path = write(tmp_path, f"title: t\n\nlesson: 02-grace-periods\n\ntasks:\n  one: {task}\n")
    with pytest.raises(LessonError) as raised:
        files.read_lab(path)
    assert said in str(raised.value.problems[0]), raised.value.problems
    assert raised.value.problems[0].file == "labs/mine/lab.yaml"


@pytest.mark.parametrize(
    ("task", "said"),
    [
        ("{kind: predict, title: x, prediction: three-hog}", "no prediction 'three-hog'"),
        ("{kind: predict, title: x, prediction: three-hogs, right: 3}", "choice 1 is right"),
        ("{kind: point, title: x, question: 9}", "5 questions"),
        ("{kind: challenge, title: x, challenge: one-wort}", "no challenge 'one-wort'"),
        (
            "{kind: predict, title: x, lesson: 01-shrinker-bitmaps, prediction: third-call}",
            "only the page can compute it",
        ),
        (
            "{kind: measure, title: x, ask: w, limits: [{metric: umounts, arm: r, at_least: 1}]}",
            "no metric of lines 'umounts'",
        ),
        ("{kind: challenge, title: x, challenge: one-word, lesson: 99-no}", "no lesson '99-no'"),
    ],
)
def test_a_task_refers_to_what_its_lesson_has(tmp_path: Path, task: str, said: str) -> None:
    path = write(tmp_path, f"title: t\nlesson: 02-grace-periods\ntasks:\n  one: {task}\n")
    file = files.LabFile("mine", path, files.read_lab(path), None)
    faults = list(lab_faults(file))
    assert said in faults[0].sentence, faults
    assert files.placing(path)(faults[0]).line == 4


def test_a_recording_that_cannot_be_read_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = tmp_path / "broken.duet"
    broken.write_bytes(b"PK")
    monkeypatch.setattr(LessonFolder, "recordings", lambda folder: (broken,))
    task = "{kind: predict, title: x, prediction: three-hogs}"
    path = write(tmp_path, f"title: t\nlesson: 02-grace-periods\ntasks:\n  one: {task}\n")
    (fault,) = lab_faults(files.LabFile("mine", path, files.read_lab(path), None))
    assert fault.place == ("tasks", "one", "prediction")
    assert "broken.duet" in fault.sentence and fault.remedy


def test_a_student_may_have_judged_what_a_lab_asks_for() -> None:
    services = Services()
    services.append(Labs(None, cast(Any, None), 1))
    student = Visitor("0" * 16, Role.STUDENT)
    for challenge, may in (("one-word", True), ("wait-for-nobody", False)):
        command = m.Judge(
            type="judge", lesson="02-grace-periods", challenge=challenge, arm="own-srcu-0"
        )
        assert student.may(services.needs(command)) is may
    viewer = Visitor("1" * 16, Role.VIEWER)
    command = m.Judge(type="judge", lesson=LABS[1], challenge="one-word", arm="own-srcu-0")
    assert not viewer.may(services.needs(command))
