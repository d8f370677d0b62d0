# SPDX-License-Identifier: GPL-2.0-or-later
"""One person's attempts in one lab, their score, and what the person may see."""

from __future__ import annotations

from dataclasses import dataclass

from duet.base.errors import InputError
from duet.lessons import load as lesson_cache
from duet.plugins.labs.evidence import recorded_choice
from duet.plugins.labs.files import LabFile
from duet.plugins.labs.grades import LabScore, TaskScore
from duet.plugins.labs.records import Attempt, Grade
from duet.plugins.labs.schema import Predict, Task
from duet.plugins.labs.scoring import Key, key_of, lab_score, prediction_of
from duet.plugins.labs.showing import Shown, shown


@dataclass(frozen=True, slots=True)
class Work:
    """One person's attempts and grades in one lab, and their score."""

    file: LabFile
    keys: dict[str, Key]
    attempts: list[Attempt]
    grades: dict[int, Grade]
    score: LabScore

    def made(self, task: str) -> list[Attempt]:
        return [one for one in self.attempts if one.task == task]

    def score_of(self, task: str) -> TaskScore:
        return next(one for one in self.score.tasks if one.task == task)

    def shown(self, task: str, now_s: float) -> Shown:
        """Return what this person may see of a task."""
        lab = self.file.lab
        made = len(self.made(task))
        return shown(lab, lab.tasks[task], made, self.score_of(task), now_s)


def keys_of(file: LabFile) -> dict[str, Key]:
    """Return the right answer for each task. Blocking: it may read recordings.

    Raises:
        InputError: a lesson or its recordings cannot be read.
    """
    return {name: key_for(file, task) for name, task in file.lab.tasks.items()}


def key_for(file: LabFile, task: Task) -> Key:
    """Return the right answer for one task."""
    folder = lesson_cache.find(file.lesson_of(task))
    recorded = None
    if isinstance(task, Predict) and task.right is None:
        prediction = prediction_of(task, folder.lesson)
        recorded = None if prediction is None else recorded_choice(prediction, folder)
    return key_of(task, folder.lesson, recorded)


def work_of(
    file: LabFile, keys: dict[str, Key], person: str, attempts: list[Attempt], grades: list[Grade]
) -> Work:
    """Compute a person's score from attempts and grades."""
    given = {grade.attempt: grade for grade in grades}
    score = lab_score(file.slug, file.lab, person, attempts, given, keys)
    return Work(file, keys, attempts, given, score)


def graded(
    work: Work, person: str, number: int, points: float, comment: str, by: str, at_s: float
) -> Grade:
    """Make a grade for an attempt.

    Raises:
        InputError: there is no such attempt, or it cannot get that many points.
    """
    attempt = next((one for one in work.attempts if one.number == number), None)
    task = None if attempt is None else work.file.lab.tasks.get(attempt.task)
    if task is None:
        raise InputError(
            f"{person:.20} made no attempt {number} in the lab {work.file.slug}.",
            remedy="Reload the attempts of the lab: some may have been deleted.",
        )
    if not 0 <= points <= task.points:
        raise InputError(
            f"the task '{task.title}' allows 0 to {task.points:g} points, but {points:g} were "
            "given.",
            remedy="Give points within that range.",
        )
    return Grade(work.file.slug, person, number, points, comment, by, at_s)
