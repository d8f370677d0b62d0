# SPDX-License-Identifier: GPL-2.0-or-later
"""A judgement as the page follows it; what is measured and stressed is made by hand."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from duet import messages as m
from duet.base.errors import InfraError, InputError
from duet.host import judging
from duet.host.judging import NO_DEBUG, Judging
from duet.kernels import KernelSettings
from duet.lessons import load as lessons
from duet.measure.model import Condition, Series, Table
from duet.server.commands import check_judge
from duet.trials.check.console import Verdict

STORM = lessons.load("02-grace-periods")
ARM = "srcu-expedited"
ASK = m.Judge(type="judge", lesson=STORM.slug, challenge="one-word", arm=ARM)


def test_a_judgement_needs_all_kernels_of_its_goals() -> None:
    request = check_judge(ASK, STORM, {"rwsem": True, ARM: True})
    assert request.run.arms == (ARM, "rwsem") and request.run.clock == "count"
    assert request.run.params["hogs"] == 9
    with pytest.raises(InfraError, match="kernel of rwsem is not built"):
        check_judge(ASK, STORM, {ARM: True})
    with pytest.raises(InputError, match="no arm 'x'"):
        check_judge(ASK.model_copy(update={"arm": "x"}), STORM, {})
    with pytest.raises(InputError, match="no challenge 'x'"):
        check_judge(ASK.model_copy(update={"challenge": "x"}), STORM, {})


async def _tables(found: list[Any], kernels: object, progress: Any) -> Mapping[int, Table]:
    progress(SimpleNamespace(done=1, total=2), 0)
    table = Table(Condition("count", 0, "storm", {}))
    for arm, value in (("rwsem", 100.0), (ARM, 90.0)):
        table.series.append(Series("ops_per_s", "x", "1/s", "higher", "counted", arm, [value]))
    return {0: table}


def judged(monkeypatch: pytest.MonkeyPatch, stress: Verdict | str) -> list[m.Judged]:
    async def stressed(self: Judging) -> Verdict | str:
        return stress

    monkeypatch.setattr(judging, "measured", _tables)
    monkeypatch.setattr(Judging, "_stress", stressed)
    seen: list[m.Judged] = []
    kernels = KernelSettings(Path("/nowhere"), STORM.patch_dir.parent)
    asyncio.run(Judging(STORM, "one-word", ARM, kernels, seen.append).run())
    return seen


def test_the_page_follows_a_judgement_to_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = judged(monkeypatch, Verdict((), (), 2, {"umounts": 9}))
    assert [one.phase for one in seen] == ["measuring", "measuring", "done"]
    assert (seen[1].done, seen[1].total) == (1, 2)
    assert seen[-1].met is True
    assert [line.kind for line in seen[-1].lines] == ["goal", "stress"]
    assert seen[-1].lines[0].found == "90 1/s, 0.9 of rwsem"


def test_without_a_debug_kernel_it_is_not_met(monkeypatch: pytest.MonkeyPatch) -> None:
    last = judged(monkeypatch, NO_DEBUG)[-1]
    assert last.met is False and last.lines[-1].holds is None
    assert "no debug kernel" in last.because


def test_work_in_a_thread_is_stopped_with_its_task() -> None:
    ended: list[bool] = []

    async def cut() -> None:
        task = asyncio.create_task(judging._stoppable(lambda stop: ended.append(stop.wait(30))))
        await asyncio.sleep(0.1)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    asyncio.run(cut())
    assert ended == [True]
