# SPDX-License-Identifier: GPL-2.0-or-later
"""`duet check`: patches on a kernel that looks for its own mistakes, under stress."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from duet import durable
from duet.cli.output import document, emit, fail, note
from duet.cli.results.checking import CheckedArm, CheckResult
from duet.cli.trial_run import add_folder, build_arms, known_programs
from duet.errors import DuetError
from duet.guests import GuestRoot, ensure_root
from duet.kernels import KernelImage, KernelSettings
from duet.kernels.recipe import patched_files
from duet.lessons import load as lessons
from duet.lessons.load import LessonFolder
from duet.lessons.plan import boot_cmdline
from duet.settings import repo_root, trials_dir
from duet.trials.ask import Asked, read_trial
from duet.trials.check.console import first_complaint, judge
from duet.trials.check.machine import boot
from duet.trials.check.program import first_program, turn
from duet.trials.check.report import Checked, headline, markdown
from duet.trials.check.table import Plan, plan, script
from duet.trials.spec import Trial, TrialArm, plain_name
from duet.trials.story import Times
from duet.trials.tracing import Tracing
from duet.trials.write import write_trial

CLEAN, FOUND, UNBUILT = 0, 1, 125
"""Exit codes, as `git bisect run` takes them (git-bisect(1), "Bisect run")."""
NOTHING = "sleep 0"
"""The command of a trial without one; it is not run."""


@dataclass(frozen=True, slots=True)
class Check:
    """What was asked for.

    Args:
        asked: its command may be empty.
        seconds: of stress on each kernel.
    """

    asked: Asked
    seconds: int
    as_json: bool = False


def check(what: Check) -> int:
    """See `duet check --help`."""
    trial = read_check(what.asked)
    folder = trials_dir() / trial.name
    write_trial(folder, trial, Tracing(), Times())
    add_folder(folder)
    settings = KernelSettings.default(debug=True)
    found = lessons.load(trial.slug)
    try:
        images = _build(found, trial, settings)
    except DuetError as error:  # neither clean nor not
        fail(error, what.as_json)
        return UNBUILT
    root = asyncio.run(ensure_root())
    return finish(what, trial, folder, images, lambda a, p: _boot(what, found, root, images[a], p))


def read_check(asked: Asked) -> Trial:
    """The trial of a check, under a name of its own.

    Raises:
        InputError: its subclasses say what was wanted and what came.
    """
    asked = replace(asked, run=asked.run or NOTHING)
    patches = repo_root() / "kernel-patches"
    trial = read_trial(asked, trials_dir(), patches, known_programs())
    return replace(trial, name=plain_name(f"check-{trial.name}"))


def _build(found: LessonFolder, trial: Trial, settings: KernelSettings) -> dict[str, KernelImage]:
    """The debug kernels of the patched arms; the first arm is the base of the others."""
    note("building with debug.config; the first time takes a quarter of an hour")
    return build_arms(found, [arm.name for arm in trial.arms[1:]], settings)


def _boot(
    what: Check, found: LessonFolder, root: GuestRoot, image: KernelImage, program: str
) -> str:
    lesson = found.lesson
    return boot(
        image.bzimage,
        root.image,
        program,
        seconds=what.seconds,
        memory_mb=lesson.memory_mb,
        options=boot_cmdline(lesson, found.check_params({}, "wall")),
    )


def finish(
    what: Check,
    trial: Trial,
    folder: Path,
    images: dict[str, KernelImage],
    run: Callable[[str, str], str],
) -> int:
    """Run each patched kernel, and report.

    Args:
        run: boots the kernel of an arm with a first program, and gives its console.
    """
    arms = []
    for arm in trial.arms[1:]:
        fitting = plan_of(arm)
        program = first_program(
            turns_of(what, trial, fitting), {n: script(n) for n in fitting.scripts}, what.seconds
        )
        note(f"{arm.name}: {what.seconds} s of stress, and a slow boot")
        console = run(arm.name, program)
        path = folder / f"{arm.name}.console"
        durable.write(path, console.encode())
        manifest, verdict = images[arm.name].manifest, judge(console)
        arms.append(
            Checked(
                arm.name,
                arm.about,
                manifest.kernel_version,
                str(images[arm.name].key),
                fitting,
                verdict,
                path,
                "" if verdict.clean else first_complaint(console),
            )
        )
        note(f"{arm.name}: {headline(arms[-1])}")
    result = _result(what, trial, folder / "check.md", arms)
    text = markdown(what.asked.run, what.seconds, arms)
    durable.write(folder / "check.md", text.encode())
    durable.write(folder / "check.json", document(result).encode())
    if what.as_json:
        emit(result)
    else:
        print(text)
        print(f"Report: {folder / 'check.md'} and check.json beside.")
    return CLEAN if result.clean else FOUND


def plan_of(arm: TrialArm) -> Plan:
    """What fits the files that the patches of an arm touch."""
    return plan(dict.fromkeys(name for one in arm.patches for name in patched_files(one.diff)))


def turns_of(what: Check, trial: Trial, fitting: Plan) -> list[str]:
    """The command, if there is one, then the stressors."""
    turns = [f"stressors {text}" for text in fitting.stressors]
    if not what.asked.run:
        return turns
    found = lessons.load(trial.slug)
    return [*turn(found, next(iter(found.lesson.workloads)), {}), *turns]


def _result(what: Check, trial: Trial, path: Path, arms: list[Checked]) -> CheckResult:
    subjects = {arm.name: [patch.subject for patch in arm.patches] for arm in trial.arms}
    rows = [
        CheckedArm(
            arm=one.arm,
            clean=one.verdict.clean,
            found=headline(one),
            patches=subjects[one.arm],
            kernel=one.kernel,
            image=one.key,
            exercised=list(one.plan.prefixes),
            not_exercised=list(one.plan.unmatched),
            stressors=list(one.plan.stressors),
            scripts=list(one.plan.scripts),
            rounds=one.verdict.rounds,
            work=one.verdict.work,
            complaints=list(one.verdict.complaints),
            failures=list(one.verdict.failures),
            console=str(one.console),
        )
        for one in arms
    ]
    clean = all(one.clean for one in rows)
    return CheckResult(trial.name, clean, what.asked.run or None, what.seconds, rows, str(path))
