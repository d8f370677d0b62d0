# SPDX-License-Identifier: GPL-2.0-or-later
"""Checks a browser's commands `start`, `measure` and `judge` against the lesson."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from duet import messages as m
from duet.base.access import Action, Visitor
from duet.base.errors import InfraError, InputError
from duet.lessons.load import LessonFolder
from duet.runs.sources import JudgeRequest
from duet.server.interfaces import Kernels
from duet.server.own_arms import OwnLessons
from duet.session import RunSpec, check_run, lesson_shift
from duet.trials.challenge import groups, limits

NO_GUESTS = "this server shows only recordings, because its guests are switched off."


def refuse_guests(command: m.Command) -> None:
    """Refuse a command that needs a guest, on a server that boots no guests.

    Raises:
        InputError: the command needs a guest.
    """
    if command.boots:
        raise InputError(
            NO_GUESTS,
            remedy="Start a server without --no-guests to run live.",
        )


def read_start(command: m.Start | m.Measure, own: OwnLessons, kernels: Kernels) -> RunSpec:
    """Turn a command into a run, whose arms may be visitors' changes. Raises the same errors as
    check_start()."""
    folder = own.lesson(command.lesson, command.arms)
    ready = kernels.ready(folder.slug) | own.ready(folder)
    return check_start(command, folder, ready, all_ready=isinstance(command, m.Measure))


def read_judge(command: m.Judge, own: OwnLessons, kernels: Kernels) -> JudgeRequest:
    """Return what a challenge measures.

    The arm may be a visitor's change. Raises the same errors as check_judge().
    """
    folder = own.lesson(command.lesson, [command.arm])
    return check_judge(command, folder, kernels.ready(folder.slug) | own.ready(folder))


def check_start(
    command: m.Start | m.Measure,
    folder: LessonFolder,
    ready: Mapping[str, bool],
    all_ready: bool = False,
) -> RunSpec:
    """Check a command and fill in defaults.

    Args:
        folder: the lesson that the command names.
        ready: whether each arm's kernel is built.
        all_ready: refuse the command unless the kernels of all arms are built.

    Raises:
        InputError: an arm, workload, parameter or clock is unknown, or a value is out of range.
        InfraError: no kernel of the command is built yet. With `all_ready`: a kernel is not built.
    """
    if isinstance(command, m.Start) and folder.lesson.view is None:
        raise InputError(
            f"lesson {folder.slug} has no picture yet, so there is nothing to watch.",
            remedy=f"Measure the lesson in a terminal with ./duet measure {folder.slug}.",
        )
    run = check_run(folder, command.arms, command.workload, command.clock, command.params)
    there = tuple(arm for arm in command.arms if ready[arm])
    missing = tuple(arm for arm in command.arms if not ready[arm])
    if not there or (missing and all_ready):
        raise not_built_error(missing)
    shift = lesson_shift(folder, run.clock)
    return replace(run, arms=there, missing=missing, shift=shift)


def check_judge(command: m.Judge, folder: LessonFolder, ready: Mapping[str, bool]) -> JudgeRequest:
    """Return what a challenge measures, with the arms that it compares.

    Args:
        folder: the lesson that the command names.
        ready: whether each arm's kernel is built.

    Raises:
        InputError: there is no such challenge or arm.
        InfraError: a kernel is not built yet.
    """
    known = folder.lesson.challenges
    if command.challenge not in known:
        raise InputError(
            f"lesson {folder.slug} has no challenge '{command.challenge:.60}'.",
            remedy=f"Choose from: {', '.join(known) or 'none'}.",
        )
    folder.arm(command.arm)
    claims = [goal.claim(command.arm) for _, goal in limits(known[command.challenge])]
    plans = [group.plan for group in groups(folder, claims)]
    arms = tuple(dict.fromkeys((command.arm, *(arm for plan in plans for arm in plan.arms))))
    missing = tuple(arm for arm in arms if not ready.get(arm))
    if missing:
        raise not_built_error(missing)
    workload = plans[0].workload if plans else next(iter(folder.lesson.workloads))
    params = plans[0].params if plans else folder.check_params({}, "count")
    shift = lesson_shift(folder, "count")
    run = RunSpec(folder, arms, workload, params, "count", shift=shift)
    return JudgeRequest(run, command.challenge, command.arm)


def not_built_error(missing: tuple[str, ...]) -> InfraError:
    """Make the error for arms whose kernels are not built."""
    error = InfraError(
        f"the kernel of {' and '.join(missing)} is not built yet.",
        remedy="Wait for its progress bar to end, or run ./duet build.",
    )
    error.code = "not-built"
    return error


def denied(visitor: Visitor) -> dict[m.ActionName, str]:
    """Return the permissions that a visitor lacks, each with the reason, for the page."""
    names: dict[m.ActionName, Action] = {
        "watch": Action.WATCH,
        "run": Action.RUN,
        "change": Action.CHANGE,
        "answer": Action.ANSWER,
        "control_others": Action.CONTROL_OTHERS,
        "teach": Action.TEACH,
        "measure": Action.MEASURE,
        "delete_others": Action.DELETE_OTHERS,
    }
    return {
        name: visitor.refusal(action).sentence
        for name, action in names.items()
        if not visitor.may(action)
    }
