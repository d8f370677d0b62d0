# SPDX-License-Identifier: GPL-2.0-or-later
"""A change against a lesson's challenge: what is measured, and the stress on a debug kernel."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from threading import Event
from typing import TypeVar

from duet.errors import DuetError
from duet.guests import ensure_root
from duet.kernels import KernelImage, KernelSettings, build, lookup, plan
from duet.kernels.arms import arm_spec
from duet.lessons.load import LessonFolder
from duet.lessons.schema import Challenge
from duet.measure import Progress
from duet.measure.layouts import all_steps
from duet.measure.model import Table
from duet.runs.measure import prepare_measurement
from duet.stream import messages as m
from duet.trials.challenge.judge import Judgement, judge
from duet.trials.challenge.plans import Group, groups, limits, tables_of
from duet.trials.check import lesson as stress
from duet.trials.check.console import Verdict

Made = TypeVar("Made")
STRESS_S = 60
NO_DEBUG = "no debug kernel of this base is compiled on this server (./duet build --debug)"
COMMAND = "duet challenge"


async def measured(
    found: Sequence[Group],
    kernels: KernelSettings,
    progress: Callable[[Progress, int], None] | None = None,
) -> Mapping[int, Table]:
    """Index of a group -> its table.

    Args:
        progress: called as each guest begins, with the number of those before its group.

    Raises:
        InfraError: a kernel is not built, or the guests' root cannot be made.
    """
    tables: dict[int, Table] = {}
    before = 0
    for index, group in enumerate(found):

        def tell(step: Progress, before: int = before) -> None:
            if progress is not None:
                progress(step, before)

        measuring = await prepare_measurement(group.plan, kernels, COMMAND, tell)
        await measuring.run()
        before += measuring.total
        tables[index] = measuring.report.tables[0]
    return tables


class Judging:
    """One judgement.

    Args:
        kernels: the usual ones; debug kernels are those beside.
        publish: is called with each step, and with the end.
    """

    def __init__(
        self,
        folder: LessonFolder,
        name: str,
        arm: str,
        kernels: KernelSettings,
        publish: Callable[[m.Judged], None],
    ) -> None:
        self._folder, self._arm = folder, arm
        self._challenge: Challenge = folder.lesson.challenges[name]
        self._kernels = kernels
        self._publish = publish
        self._state = m.Judged(lesson=folder.slug, challenge=name, arm=arm, phase="measuring")

    async def run(self) -> None:
        """To the end; what fails is published and raised.

        Raises:
            DuetError: a kernel is not built, or no guest can run.
        """
        claims = [goal.claim(self._arm) for _, goal in limits(self._challenge)]
        found = groups(self._folder, claims)
        self._tell(total=sum(len(all_steps(group.plan)) for group in found))
        tables = await measured(found, self._kernels, self._progress)
        verdict = await self._stress()
        diff = "".join(path.read_text(encoding="utf-8") for path in self._own_patches())
        judged = judge(self._challenge, self._arm, diff, tables_of(tables, found), verdict)
        self._tell(phase="done", **_fields(judged))

    def _own_patches(self) -> list[Path]:
        """Those that the challenge's arm has not."""
        before = self._folder.patch_files(self._challenge.arm)
        return [path for path in self._folder.patch_files(self._arm) if path not in before]

    async def _stress(self) -> Verdict | str:
        """What the debug kernel says, or why none runs."""
        debug = replace(self._kernels, debug=True)
        spec = arm_spec(self._folder, self._arm)
        if lookup(plan(spec, debug), debug) is None:
            base = debug.base_of(spec)
            tree = debug.tree(base, spec.config, debug.tarball(base).sha256)
            if not (tree.src / "vmlinux").is_file():
                return NO_DEBUG
        self._tell(phase="building")
        try:
            image = await self._built(debug)
        except DuetError as error:
            return f"no debug kernel: {error.sentence}"
        self._tell(phase="stress")
        root = await ensure_root()
        said = await _stoppable(
            lambda stop: stress.run(self._folder, image.bzimage, root, STRESS_S, stop)
        )
        return await asyncio.to_thread(stress.judge, self._folder, said)  # up to some MB

    async def _built(self, debug: KernelSettings) -> KernelImage:
        spec = arm_spec(self._folder, self._arm)
        return (await _stoppable(lambda stop: build([spec], debug, stop=stop)))[0]

    def _progress(self, step: Progress, before: int) -> None:
        self._tell(done=before + step.done)

    def _tell(self, **fields: object) -> None:
        self._state = self._state.model_copy(update=fields)
        self._publish(self._state)


def _fields(judged: Judgement) -> dict[str, object]:
    lines = [m.JudgedLine(**asdict(line)) for line in judged.lines]
    return {"met": judged.met, "because": judged.because, "lines": lines}


async def _stoppable(work: Callable[[Event], Made]) -> Made:
    """Done by a thread, which is stopped and waited for when this is cancelled."""
    stop = Event()
    task = asyncio.create_task(asyncio.to_thread(work, stop))
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        stop.set()
        await asyncio.gather(task, return_exceptions=True)
        raise
