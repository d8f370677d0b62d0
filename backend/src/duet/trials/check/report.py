# SPDX-License-Identifier: GPL-2.0-or-later
"""Write the report of a check in Markdown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event

from duet.guests import GuestRoot
from duet.lessons.load import LessonFolder
from duet.lessons.plan import boot_cmdline
from duet.trials.check.chosen import Plan, Suite, script
from duet.trials.check.console import BESIDE, Verdict
from duet.trials.check.console import judge as judge_console
from duet.trials.check.machine import boot, first_program, turn
from duet.trials.check.races import SortedRaces

MEMORY_LEFT = "nor were data races searched for (option --kcsan)"
RACES_LEFT = "nor were memory and lock errors searched for (they need a check without --kcsan)"
SHOWN = 20
"""Maximum number of complaints per kernel in the report. The console has all of them."""


@dataclass(frozen=True, slots=True)
class Checked:
    """Result of the check of one kernel.

    Args:
        arm: name of the arm.
        about: the kernel's patches in one line.
        kernel: version of the kernel.
        console: file with the whole console.
        excerpt: the first complaint and the lines after it, or the console's end for a hung guest.
        suites: KUnit suites that fit the patches.
        races: data races from KCSAN reports, sorted.
        selftests: folders of kernel selftests that fit the patches. They were not run.
        made_of: the kernel's origin: a line for the source tree, and a line for each patch.
        began: whether the guest booted and its init script ran.
    """

    arm: str
    about: str
    kernel: str
    key: str
    plan: Plan
    verdict: Verdict
    console: Path
    excerpt: str
    suites: tuple[Suite, ...] = ()
    races: SortedRaces = field(default_factory=SortedRaces)
    selftests: tuple[str, ...] = ()
    made_of: tuple[str, ...] = ()
    began: bool = True

    @property
    def judged(self) -> bool:
        """Whether the verdict counts, because the command ran or a failure was found."""
        ran = self.began and not self.verdict.never_ran
        return ran or bool(self.verdict.complaints or self.verdict.failures)


def markdown(command: str, seconds: int, arms: Sequence[Checked], *, races: bool = False) -> str:
    """Format the report of a check.

    Args:
        command: the user's command, which ran in addition to the stress; "" for no command.
        races: whether the kernels had KCSAN instead of the other checks.
    """
    what = "KCSAN" if races else "KASAN, lockdep and debug objects"
    lines = [f"# Check on a kernel with {what}", ""]
    for one in arms:
        lines += _arm(one, command, seconds)
    lines += [
        "A clean run does not prove the absence of bugs: this stress, on this emulated machine,"
        " triggered none that these checks detect. The kernel's selftests"
        f" (tools/testing/selftests) were not run, {RACES_LEFT if races else MEMORY_LEFT}.",
    ]
    return "\n".join(lines) + "\n"


def silent(one: Checked) -> list[str]:
    """Return the KUnit suites that fit the patches, but gave no result.

    Either the base lacks the suite's option, or the guest died before the suite ran.
    """
    said = {suite.name for suite in one.verdict.suites}
    return [name for fit in one.suites for name in fit.suites if name not in said]


def headline(one: Checked) -> str:
    """Summarize the result in a few words."""
    verdict = one.verdict
    if verdict.clean:
        return "clean"
    found = []
    if verdict.complaints:
        found.append(_count(len(verdict.complaints), "complaint of the kernel"))
    if verdict.failures:
        found.append(_count(len(verdict.failures), "failed program"))
    if verdict.never_ran:
        found.append(f"the command never ran ({verdict.never_ran})")
    if not one.began:
        found.append("the guest did not boot")
    elif verdict.rounds is None:
        found.append("the guest did not finish")
    elif not verdict.rounds:
        found.append("no round was finished")
    return ", ".join(found) if one.judged else f"not judged: {', '.join(found)}"


def _count(number: int, what: str) -> str:
    words = f"{what}s" if " of " not in what else what.replace(" of", "s of", 1)
    return f"1 {what}" if number == 1 else f"{number} {words}"


def _arm(one: Checked, command: str, seconds: int) -> list[str]:
    plan, verdict = one.plan, one.verdict
    work = "".join(f", {n} {what}" for what, n in verdict.work.items())
    rounds = "not finished" if verdict.rounds is None else f"{verdict.rounds} rounds"
    lines = [
        f"## {one.arm}: {headline(one)}",
        "",
        f"- {one.about} on Linux {one.kernel} (`{one.key}`)",
        f"- {seconds} s of stress: {rounds}{work}",
    ]
    lines += [f"- made of {_plain(line)}" for line in one.made_of]
    lines += [f"- command: `{command}`"] if command else []
    lines += [f"- stress-ng: `{text}`" for text in plan.stressors]
    lines += [f"- in parallel: `{name}.sh`" for name in plan.scripts]
    lines += _suites(one)
    if one.selftests:
        names = ", ".join(f"`{name}`" for name in one.selftests)
        lines.append(f"- not run: the kernel's selftests {names}")
    if plan.unmatched:
        names = ", ".join(f"`{name}`" for name in plan.unmatched)
        lines.append(f"- no stress here exercises {names}: only the command can")
    lines += _uncounted(one.races)
    lines.append(f"- console: {one.console}")
    said = [*verdict.complaints, *verdict.failures]
    if said:
        lines += ["", *(f"    {line}" for line in said[:SHOWN])]
        if len(said) > SHOWN:
            lines.append(f"    and {len(said) - SHOWN} more")
    if not verdict.clean:
        lines += ["", "The first complaint or, without one, the end of the console:", "", "```"]
        lines += [one.excerpt, "```"]
    return [*lines, ""]


def _plain(text: str) -> str:
    """Escape Markdown in a patch's text, and join its lines."""
    for sign in "\\`*_[]<>#":
        text = text.replace(sign, f"\\{sign}")
    return " ".join(text.split())


def _suites(one: Checked) -> list[str]:
    lines = []
    for suite in one.verdict.suites:
        skipped = f", {suite.skipped} skipped" if suite.skipped else ""
        failed = f", {len(suite.failed)} failed" if suite.failed else ""
        end = "" if suite.ended else ", not finished"
        lines.append(f"- KUnit `{suite.name}`: {suite.passed} passed{skipped}{failed}{end}")
    return lines + [f"- KUnit `{name}` fits, but gave no result" for name in silent(one)]


def _uncounted(races: SortedRaces) -> list[str]:
    lines = []
    for titles, why in ((races.known, "the base has it too"), (races.elsewhere, "in other files")):
        lines += [f"- not counted, {why}: {title}" for title in titles[:SHOWN]]
        if len(titles) > SHOWN:
            lines.append(f"- not counted, {why}: {len(titles) - SHOWN} more")
    return lines


# Stress for a lesson. The lesson's workloads run in a loop on a debug kernel. The lesson's
# `stress:` lists their order and knobs.


def judge(folder: LessonFolder, console: str) -> Verdict:
    return judge_console(console, {**folder.lesson.stress.work, **BESIDE})


def program(folder: LessonFolder, seconds: int) -> str:
    """Return the guest's init script, which runs all workloads repeatedly until the time is over.

    Raises:
        InputError: the lesson does not have one of the knobs.
    """
    stress = folder.lesson.stress
    turns = [
        line
        for own in stress.turns
        for name in folder.lesson.workloads
        for line in turn(folder, name, own, alone=name in stress.alone)
    ]
    beside = {stress.beside: script(stress.beside)} if stress.beside else {}
    return first_program(turns, beside, seconds)


def run(
    folder: LessonFolder,
    bzimage: Path,
    root: GuestRoot,
    seconds: int,
    stop: Event | None = None,
) -> str:
    """Boot a kernel under the lesson's stress, wait for its end, and return its console.

    Raises:
        InfraError: QEMU is not installed, or failed.
    """
    return boot(
        bzimage,
        root.image,
        program(folder, seconds),
        seconds=seconds,
        memory_mb=folder.lesson.memory_mb,
        options=boot_cmdline(folder.lesson, folder.check_params({}, "wall")),
        stop=stop,
    )
