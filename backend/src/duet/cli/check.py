# SPDX-License-Identifier: GPL-2.0-or-later
"""`duet check`: stress-tests patches on a kernel with debug options that find bugs."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from duet.base import files as durable
from duet.base.settings import repo_root, trials_dir
from duet.cli.keys import key, keys_text
from duet.cli.options import Json
from duet.cli.output import BAD, GOOD, UNKNOWN, document, emit, note
from duet.cli.trial import (
    Commits,
    Config,
    Patches,
    Paths,
    Repo,
    TrialBase,
    TriedPatch,
    TriedSource,
    With,
)

if TYPE_CHECKING:
    from duet.guests import GuestRoot
    from duet.kernels import KernelImage, KernelSettings
    from duet.lessons.load import LessonFolder
    from duet.trials.ask import Asked
    from duet.trials.check.chosen import Plan
    from duet.trials.check.races import SortedRaces
    from duet.trials.check.report import Checked
    from duet.trials.spec import Trial, TrialArm


@dataclass(frozen=True, slots=True)
class CheckedSuite:
    """Test results of one KUnit suite."""

    suite: str
    passed: int = key()
    skipped: int = key()
    failed: Sequence[str] = key(shape="[test: reason]")
    ended: bool = key()


@dataclass(frozen=True, slots=True)
class CheckedArm:
    """Results of one kernel."""

    arm: str
    clean: bool
    judged: bool = key(
        "false: the kernel did not boot and gave no reason, or the command never ran"
    )
    found: str = key("the result in words")
    patches: Sequence[str] = key(shape="[subject]")
    kernel: str = key("version")
    image: str = key("key of the debug kernel")
    exercised: Sequence[str] = key(shape="[path prefix]")
    not_exercised: Sequence[str] = key(shape="[file]")
    stressors: Sequence[str] = key("options of stress-ng")
    scripts: Sequence[str] = key()
    kunit: Sequence[CheckedSuite] = key()
    selftests_not_run: Sequence[str] = key(shape="[folder of tools/testing/selftests]")
    kunit_silent: Sequence[str] = key("suites that should have run but gave no result")
    rounds: int | None = key("null: the guest did not reach its end")
    work: Mapping[str, int] = key(shape="{what: number}")
    complaints: Sequence[str] = key(shape="[line of the kernel]")
    failures: Sequence[str] = key(shape="[line of a program]")
    races_of_base: Sequence[str] = key("not counted; only with --kcsan")
    races_elsewhere: Sequence[str] = key("not counted: in files that no patch changes")
    console: str = key("path")
    source: TriedSource | None = key("null: the plain source of the base")
    made_of: Sequence[TriedPatch] = key()


@dataclass(frozen=True, slots=True)
class CheckResult:
    name: str
    clean: bool
    command: str | None = key("null without --run")
    seconds: int = key()
    arms: Sequence[CheckedArm] = key()
    report: str = key("path")


KEYS = keys_text(
    CheckResult,
    "Exit code, for `git bisect run`: 0: clean; 1: found a problem; 125: undecided (a kernel does "
    "not build or boot, or the host failed); 255: the command line is not usable.",
)


def check(
    patches: Patches = None,
    run: Annotated[
        str,
        typer.Option(
            "--run", help="Run this in turn with the stress: a command line, a program or a folder."
        ),
    ] = "",
    base: TrialBase = "",
    tree: Annotated[
        Paths,
        typer.Option(
            "--tree",
            help="A source tree, or DIR@COMMIT: the base of the patches. A second tree is checked.",
        ),
    ] = None,
    with_: With = None,
    config: Config = None,
    commits: Commits = None,
    repo: Repo = Path(),
    seconds: Annotated[
        int,
        typer.Option("--seconds", min=10, max=86400, help="Length of the stress on each kernel."),
    ] = 180,
    name: Annotated[
        str, typer.Option("--name", help="Name of the check; default: that of its first file.")
    ] = "",
    kcsan: Annotated[
        bool,
        typer.Option(
            "--kcsan",
            help="Look for data races instead, on a kernel with KCSAN.",
        ),
    ] = False,
    as_json: Json = False,
) -> int:
    """Test your patch under KASAN, lockdep or KCSAN, with stress. The stress exercises the files
    that the patch changes.
    """
    from duet.trials.ask import Asked

    asked = Asked(
        run=run,
        patches=tuple(patches or ()),
        commits=tuple(commits or ()),
        repository=repo,
        base=base,
        trees=tuple(tree or ()),
        shared=tuple(with_ or ()),
        config=tuple(config or ()),
        name=name,
    )
    return check_kernels(CheckRequest(asked, seconds, as_json, kcsan))


# Choose the debug kernels that a check builds, and the stress that exercises the patched files.


def settings_of(trial: Trial, folder: Path, *, races: bool = False) -> KernelSettings:
    """Return the settings of the debug kernels, with the KUnit suites for all patched files.

    Args:
        folder: the trial's folder; the suites' config options are written there.
        races: enable KCSAN instead of KASAN and lockdep.
    """
    from duet.kernels import KernelSettings
    from duet.trials.check.chosen import fitting, fragment

    settings = replace(KernelSettings.default(debug=True), races=races)
    suites = fitting(touched_files(trial.arms[1:]))
    if not suites:
        return settings
    options = folder / "kunit.config"
    durable.write(options, fragment(suites).encode())
    return replace(settings, more=(options,))


def plan_of(arm: TrialArm) -> Plan:
    """Return the stress that exercises the files that an arm's patches change."""
    from duet.trials.check.chosen import plan

    return plan(touched_files([arm]))


def touched_files(arms: Iterable[TrialArm]) -> list[str]:
    """Return the files that the arms' patches change, without duplicates."""
    from duet.kernels.recipe import patched_files

    patches = (patch for arm in arms for patch in arm.patches)
    return list(dict.fromkeys(name for one in patches for name in patched_files(one.diff)))


def check_result(
    trial: Trial, command: str, seconds: int, report: Path, arms: Sequence[Checked]
) -> CheckResult:
    known = {arm.name: arm for arm in trial.arms}
    rows = [_row(one, known[one.arm]) for one in arms]
    clean = all(one.clean for one in rows)
    return CheckResult(trial.name, clean, command or None, seconds, rows, str(report))


def _row(one: Checked, arm: TrialArm) -> CheckedArm:
    from duet.cli.trial_run import tried_patch, tried_source
    from duet.trials.check.report import headline, silent

    suites = [
        CheckedSuite(suite.name, suite.passed, suite.skipped, list(suite.failed), suite.ended)
        for suite in one.verdict.suites
    ]
    return CheckedArm(
        arm=one.arm,
        clean=one.verdict.clean,
        judged=one.judged,
        found=headline(one),
        patches=[patch.subject for patch in arm.patches],
        kernel=one.kernel,
        image=one.key,
        exercised=list(one.plan.prefixes),
        not_exercised=list(one.plan.unmatched),
        stressors=list(one.plan.stressors),
        scripts=list(one.plan.scripts),
        kunit=suites,
        selftests_not_run=list(one.selftests),
        kunit_silent=silent(one),
        rounds=one.verdict.rounds,
        work=one.verdict.work,
        complaints=list(one.verdict.complaints),
        failures=list(one.verdict.failures),
        races_of_base=list(one.races.known),
        races_elsewhere=list(one.races.elsewhere),
        console=str(one.console),
        source=tried_source(arm.source),
        made_of=[tried_patch(patch) for patch in arm.patches],
    )


NOTHING = "sleep 0"
"""Placeholder for the command of a trial that has no command. The placeholder is not run."""


@dataclass(frozen=True, slots=True)
class CheckRequest:
    """The options of a check.

    Args:
        asked: the options of a trial; the command may be empty.
        seconds: duration of the stress on each kernel.
        races: use kernels with KCSAN.
    """

    asked: Asked
    seconds: int
    as_json: bool = False
    races: bool = False


def check_kernels(what: CheckRequest) -> int:
    """Build the kernels, stress them, and report. output.py maps errors to bisection exit codes."""
    from duet.cli.trial_run import Notes, add_folder, built, prepare
    from duet.guests import ensure_root
    from duet.kernels.arms import arm_spec
    from duet.lessons import load as lessons
    from duet.trials.kernels import unchecked
    from duet.trials.tracing import Tracing
    from duet.trials.write import Times, write_trial

    trial = read_check(what.asked)
    for sentence in trial.said:
        note(f"{sentence}.")
    folder = trials_dir() / trial.name
    write_trial(folder, trial, Tracing(), Times())
    add_folder(folder)
    settings = settings_of(trial, folder, races=what.races)
    found = lessons.load(trial.slug)
    arms = [arm.name for arm in trial.arms if what.races or arm is not trial.arms[0]]
    specs = {arm.name: arm_spec(found, arm.name) for arm in trial.arms}
    prepare([specs[name] for name in arms], settings, Notes())
    refuse_unchecked(trial, unchecked(trial, specs, settings))
    note("building a debug kernel; the first build takes 15 minutes")
    images = built(found, {name: specs[name] for name in arms}, settings)
    refuse_unchecked(trial, unchecked(trial, specs, settings, images))
    root = asyncio.run(ensure_root())
    tree = settings.source_tree(arm_spec(found, arms[-1]))
    return finish(
        what, trial, folder, images, lambda a, p: _boot(what, found, root, images[a], p), tree
    )


def refuse_unchecked(trial: Trial, found: Mapping[str, tuple[str, str]]) -> None:
    """Print which kernels contain no code of their patches.

    Raises:
        SameKernel: no kernel contains code of its patches.
    """
    from duet.trials.kernels import same_error

    for name, (reason, option) in found.items():
        if len(found) == len(trial.arms) - 1:
            raise same_error([trial.arms[0].name, name], reason, option)
        note(f"{name}: the stress does not test its patches, because {reason}")


def read_check(asked: Asked) -> Trial:
    """Convert a check's options to a trial. The trial's name begins with `check-`.

    Raises:
        InputError: an option is wrong.
    """
    from duet.cli.trial_run import known_programs
    from duet.trials.ask import read_trial
    from duet.trials.check.machine import TURN_S
    from duet.trials.spec import plain_name

    asked = replace(asked, run=asked.run or NOTHING, timeout=TURN_S)
    patches = repo_root() / "kernel-patches"
    trial = read_trial(asked, trials_dir(), patches, known_programs())
    return replace(trial, name=plain_name(f"check-{trial.name}"))


def _boot(
    what: CheckRequest, found: LessonFolder, root: GuestRoot, image: KernelImage, program: str
) -> str:
    from duet.lessons.plan import boot_cmdline
    from duet.trials.check.machine import boot

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
    what: CheckRequest,
    trial: Trial,
    folder: Path,
    images: Mapping[str, KernelImage],
    run: Callable[[str, str], str],
    tree: Path = Path(),
) -> int:
    """Run each patched kernel under stress, and write the report.

    Args:
        run: boots an arm's kernel with the given program as init, and returns its console output.
        tree: the kernels' source, in which a file's functions are found.

    Returns:
        BAD if any kernel has a problem, otherwise UNKNOWN if any kernel did not boot, otherwise
        GOOD.
    """
    from duet.trials.check.chosen import about, fitting, script
    from duet.trials.check.console import judge
    from duet.trials.check.machine import first_program, has_begun
    from duet.trials.check.races import SortedRaces, counted, excerpt
    from duet.trials.check.report import Checked, headline, markdown
    from duet.trials.kernels import origins

    arms = []
    for arm in trial.arms[1:]:
        fits = plan_of(arm)
        beside = {n: script(n) for n in fits.scripts}
        program = first_program(turns_of(what, trial, fits), beside, what.seconds)
        note(f"{arm.name}: {what.seconds} s of stress, after a slow boot")
        console = run(arm.name, program)
        path = folder / f"{arm.name}.console"
        durable.write(path, console.encode())
        verdict, races = judge(console), SortedRaces()
        if what.races:
            races = _races(
                trial, arm, folder, console, partial(run, trial.arms[0].name, program), tree
            )
            verdict = replace(verdict, complaints=tuple(counted(verdict.complaints, races)))
        manifest = images[arm.name].manifest
        one = Checked(
            arm=arm.name,
            about=arm.about,
            kernel=manifest.kernel_version,
            key=str(images[arm.name].key),
            plan=fits,
            verdict=verdict,
            console=path,
            excerpt="" if verdict.clean else excerpt(console, races),
            suites=fitting(touched_files([arm])),
            selftests=tuple(about(touched_files([arm]))),
            races=races,
            made_of=origins(arm),
            began=has_begun(console),
        )
        arms.append(one)
        note(f"{arm.name}: {headline(one)}")
    result = check_result(trial, what.asked.run, what.seconds, folder / "check.md", arms)
    text = markdown(what.asked.run, what.seconds, arms, races=what.races)
    durable.write(folder / "check.md", text.encode())
    durable.write(folder / "check.json", document(result).encode())
    if what.as_json:
        emit(result)
    else:
        print(text)
        print(f"Report: {folder / 'check.md'}, and check.json next to it.")
    if any(one.judged and not one.verdict.clean for one in arms):
        return BAD
    return GOOD if result.clean else UNKNOWN


def _races(
    trial: Trial,
    arm: TrialArm,
    folder: Path,
    console: str,
    run_base: Callable[[], str],
    tree: Path,
) -> SortedRaces:
    """Sort an arm's races into new and known.

    The base kernel runs the same stress, but only if a race may be new.
    """
    from duet.trials.check.races import functions_of, sort
    from duet.trials.check.races import read as read_races

    found, touched = read_races(console), functions_of(arm.patches, tree)
    if not sort(found, (), touched).new:
        return sort(found, (), touched)
    note(f"{trial.arms[0].name}: the same stress; races of the base do not count")
    beside = run_base()
    durable.write(folder / f"{arm.name}-base.console", beside.encode())
    return sort(found, read_races(beside), touched)


def turns_of(what: CheckRequest, trial: Trial, fits: Plan) -> list[str]:
    """Return the commands to run one after another: the user's command, if any, then stressors."""
    from duet.lessons import load as lessons
    from duet.trials.check.machine import turn

    turns = [f"stressors {text}" for text in fits.stressors]
    if not what.asked.run:
        return turns
    found = lessons.load(trial.slug)
    return [*turn(found, next(iter(found.lesson.workloads)), {}), *turns]
