# SPDX-License-Identifier: GPL-2.0-or-later
"""The program of a comparison: as `duet measure` measures, and what it says when it cannot."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from duet.base.clock import Clock
from duet.base.errors import InfraError, InputError
from duet.guests import GuestRoot
from duet.lessons.load import LessonFolder
from duet.measure import MeasurePlan, Measuring
from duet.plugins.cluster.measuring import __main__ as program
from duet.plugins.cluster.measuring.merge import merged
from duet.plugins.cluster.measuring.request import Request, line_of, parts_of, read_result
from duet.plugins.cluster.measuring.schedule import Job
from tests.backend.measure.test_measure import LIMITS
from tests.plugins.cluster.test_schedule import ARMS, swept
from tests.support.fakes import Fleet

Run = Callable[..., Any]


@pytest.mark.parametrize("clock", ["wall", "count"])
def test_a_report_of_programs_is_that_of_one_measurement(
    lesson02: LessonFolder, monkeypatch: pytest.MonkeyPatch, run_async: Run, tmp_path: Path,
    clock: Clock,
) -> None:  # fmt: skip
    """Guests are played; everything that plans, runs, travels and judges is the real one."""
    monkeypatch.setattr("duet.measure.run.HostWatch.waited_share", 0.0)
    count = clock == "count"
    plan = swept(
        lesson02, clock, sweep=("hogs", (1, 2)) if count else None, metrics=None, layouts=5,
        shifts=(0, 3) if count else (0,), perturbed=1 if count else 0,
    )  # fmt: skip

    def measuring(plan: Any, *more: Any, **named: Any) -> Measuring:
        links = {(arm, n): Fleet().sources(arm)[arm] for arm in ARMS for n in range(1, 6)}
        host = {"cpu": "a model"}
        return Measuring(plan, Fleet().sources(*ARMS), layouts=links, limits=LIMITS, host=host)

    async def prepare(plan: Any, *more: Any, **named: Any) -> Measuring:
        return measuring(plan)

    def digests(plan: MeasurePlan, _: Any) -> dict[str, str]:
        links = [f"{arm} link {plan.link}" for arm in ARMS] if plan.link else []
        return dict.fromkeys((*ARMS, *links), "ab" * 32)

    async def root() -> GuestRoot:
        (tmp_path / "root").touch()
        return GuestRoot("key", tmp_path / "root", tmp_path)

    monkeypatch.setattr(program, "prepare_measurement", prepare)
    monkeypatch.setattr(program, "ensure_root", root)
    monkeypatch.setattr(program, "kernel_digests", digests)
    jobs = [Job(part, host="n1") for part in parts_of(plan)]
    for job in jobs:
        asked = Request.read(Request.of(job.part, 1).model_dump_json().encode())
        line = line_of(run_async(program.work(asked)))
        job.result = read_result(line, job.part)
        links = {link for one in job.result.table().series for link in one.layouts}
        assert links == ({job.part.layout} if job.part.layout else set())
    whole = run_async(measuring(plan).run())
    parts = merged(plan, jobs, "")
    assert parts.partial is None and len(parts.hosts) == len(jobs)
    assert [vars_of(table) for table in parts.tables] == [vars_of(table) for table in whole.tables]
    assert parts.arms == whole.arms
    assert {one.waited_share for one in parts.hosts} == {None if count else 0.0}


def vars_of(table: Any) -> dict[str, Any]:
    """Its fields."""
    return {name: getattr(table, name) for name in type(table).__slots__}


def asked_of(request: bytes) -> bytes:
    """What the real program writes."""
    words = [sys.executable, "-P", "-s", "-m", "duet.plugins.cluster.measuring"]
    done = subprocess.run(words, input=request, capture_output=True, timeout=120, check=True)
    return done.stdout


def test_what_it_cannot_do_is_a_sentence(
    lesson02: LessonFolder, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (part,) = parts_of(swept(lesson02, sweep=None))
    monkeypatch.setenv("DUET_CACHE", str(tmp_path))
    request = Request.of(part, 1).model_dump_json().encode()
    error = read_result(asked_of(request), part).error()
    assert isinstance(error, InfraError)
    no_kernel = ("not built", "wanted the kernel source")  # whether the source is installed here
    assert any(words in error.sentence for words in no_kernel)
    other = request.replace(b"02-grace-periods", b"77-nothing-of-that")
    assert isinstance(read_result(asked_of(other), part).error(), InputError)


@pytest.mark.parametrize(
    "wrong", [b"", b"{}", b"[" * 1000, b"x" * (300 << 10)], ids=["empty", "less", "deep", "long"]
)
def test_what_is_no_request_is_refused(wrong: bytes) -> None:
    with pytest.raises(InputError, match="not a comparison request of this version"):
        Request.read(wrong)
