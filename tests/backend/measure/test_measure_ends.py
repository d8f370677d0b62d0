# SPDX-License-Identifier: GPL-2.0-or-later
"""How `duet measure` ends on a terminal when arms, guests or lessons fail: scripted guests."""

from __future__ import annotations

import asyncio
import io
import json
import os
import signal
import sys
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from duet.base.errors import InfraError, InputError, KernelError
from duet.cli import main
from duet.cli.measure import published as against
from duet.cli.measure import run as measure_verb
from duet.cli.measuring import SIGNALS, interrupted_exit_code, interruptible
from duet.cli.output import note
from duet.lessons import load as lessons
from duet.lessons.load import LessonFolder
from duet.lessons.schema import PublishedFigure
from duet.measure import MeasurePlan, Measuring
from duet.session import Limits
from tests.support.fakes import Fleet

SLUG = "02-grace-periods"
LIMITS = Limits(tick_s=0.005, missing_s=1.0)
WORDS = ["measure", SLUG, "--arms", "rwsem,srcu", "--set", "hogs=1", "--set", "seconds=1"]


def house(fleet: Fleet, unbuilt: str = "") -> Any:
    async def measuring(plan: MeasurePlan, settings: Any, command: str, progress: Any) -> Measuring:
        if unbuilt in plan.arms:
            raise InfraError(f"the kernel of {unbuilt} is not built yet.", remedy="Build it.")
        sources = fleet.sources(*plan.arms)
        return Measuring(plan, sources, command=command, progress=progress, limits=LIMITS)

    return measuring


@pytest.fixture
def use(monkeypatch: pytest.MonkeyPatch) -> Any:
    def set_to(fleet: Fleet, unbuilt: str = "") -> None:
        for module in (measure_verb, against):
            monkeypatch.setattr(module, "prepare_measurement", house(fleet, unbuilt))

    monkeypatch.setattr("duet.measure.run.HostWatch.waited_share", 0.0)
    return set_to


def test_one_arm_that_fails_makes_a_partial_report_and_an_exit_code(
    use: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    fleet = Fleet(srcu=("bad plan",))
    use(fleet)
    assert main(WORDS) == KernelError.exit_code
    text = capsys.readouterr().out
    assert text.startswith("!! PARTIAL: srcu failed, and its remaining runs were skipped.\n")
    assert "!! FAILED: srcu: Line 3 of the plan is odd. Mend it.\n" in text
    assert [line for line in text.splitlines() if line.split()[:2] == ["rwsem", "5"]]
    assert main([*WORDS, "--json"]) == KernelError.exit_code
    tree = json.loads(capsys.readouterr().out)
    assert tree["partial"].startswith("srcu failed")
    assert tree["errors"][0]["sentence"] == "Line 3 of the plan is odd."
    assert {row["arm"]: row["n"] for row in tree["rows"]} == {"rwsem": 5, "srcu": 0}
    assert not any(guest.open for guest in fleet.guests)


def test_when_every_arm_fails_that_is_the_error(
    use: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    use(Fleet(rwsem=("oom", "dies"), srcu=("oom", "dies")))
    assert main([*WORDS, "--json"]) == KernelError.exit_code
    error = json.loads(capsys.readouterr().out)["error"]
    assert error["sentence"] == (
        "the guest of lane rwsem ran out of memory (512 MB), and its kernel killed `storm-1`."
    )
    assert "memory_mb" in error["remedy"]


def test_a_whole_report_is_not_partial(use: Any, capsys: pytest.CaptureFixture[str]) -> None:
    use(Fleet())
    assert main([*WORDS, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["partial"] is None


def with_figures(folder: LessonFolder, *rows: dict[str, Any]) -> LessonFolder:
    given = {"claim": "a claim", "mail": "4 to 1", "value": 1, "base": 4, "unit": "ops/s",
             "context": "a machine", "metric": "ops_per_s", "to": "rwsem", "clock": "wall",
             "params": {"hogs": 1, "seconds": 1}}  # fmt: skip
    figures = tuple(PublishedFigure.model_validate(given | row) for row in rows)
    return replace(folder, lesson=folder.lesson.model_copy(update={"published": figures}))


@pytest.fixture
def shelf(lesson02: LessonFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two lessons with figures, one that cannot be read, one without figures."""
    both = with_figures(lesson02, {"arm": "srcu"}, {"arm": "srcu-expedited", "params": {"hogs": 2}})
    held = {
        "10-good": replace(both, slug="10-good"),
        "20-good": replace(with_figures(lesson02, {"arm": "srcu"}), slug="20-good"),
        "40-none": replace(with_figures(lesson02), slug="40-none"),
    }

    def load(slug: str) -> LessonFolder:
        if slug not in held:
            raise InputError(f"{slug}/lesson.yaml is not YAML.", remedy="Mend it.")
        return held[slug]

    monkeypatch.setattr(lessons, "load", load)
    monkeypatch.setattr(lessons, "slugs", lambda *_: ["10-good", "20-good", "30-bad", "40-none"])


ALL = ["measure", "--all", "--published"]


def test_what_is_not_built_is_a_row_with_the_reason_and_the_rest_is_measured(
    use: Any, shelf: None, capsys: pytest.CaptureFixture[str]
) -> None:
    use(Fleet(), unbuilt="srcu-expedited")
    assert main([*ALL, "--json"]) == 0
    said = capsys.readouterr()
    assert "table 1 of 3: 10-good, storm, hogs=1, seconds=1, wall clock, 10 runs\n" in said.err
    assert "table 3 of 3: 20-good" in said.err and "left in all)" in said.err
    tree = json.loads(said.out)
    reported = [(row["lesson"], row["arm"], row["ratio"], row["n"]) for row in tree["rows"]]
    assert reported == [
        ("10-good", "srcu", 1.0, 5),
        ("10-good", "srcu-expedited", None, 0),
        ("20-good", "srcu", 1.0, 5),
    ]
    assert tree["rows"][1]["verdict"] == "no verdict"
    assert tree["rows"][1]["because"] == (
        "the kernel of srcu-expedited is not built yet (Build it)"
    )
    assert tree["skipped"] == {
        "30-bad": "30-bad/lesson.yaml is not YAML",
        "40-none": "its evidence.yaml has no `published:`",
    }
    assert tree["partial"] is None


def test_an_arm_that_fails_is_a_row_with_the_reason(
    use: Any, shelf: None, capsys: pytest.CaptureFixture[str]
) -> None:
    use(Fleet(srcu=("bad plan",)))
    assert main(ALL) == 0
    text = capsys.readouterr().out
    assert text.count("because srcu: Line 3 of the plan is odd.") == 2
    assert all(len(line) <= 75 for line in text.splitlines())


def test_nothing_measured_at_all_is_a_table_and_an_exit_code(
    use: Any, shelf: None, capsys: pytest.CaptureFixture[str]
) -> None:
    use(Fleet(), unbuilt="rwsem")
    assert main(ALL) == InfraError.exit_code
    assert "the kernel of rwsem is not built yet" in " ".join(capsys.readouterr().out.split())


@pytest.fixture
def signals() -> Iterator[None]:
    before = {number: signal.getsignal(number) for number in SIGNALS}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.parametrize("number", SIGNALS)
def test_two_signals_at_once_are_one_request(
    signals: None, number: signal.Signals, capsys: pytest.CaptureFixture[str]
) -> None:
    ended: list[str] = []

    async def work() -> None:
        os.kill(os.getpid(), number)
        os.kill(os.getpid(), number)
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            os.kill(os.getpid(), number)
            await asyncio.sleep(0.05)
            ended.append("guests are gone")
            raise

    assert asyncio.run(interruptible(work())) is False
    os.kill(os.getpid(), number)  # while the report is written
    assert interrupted_exit_code() == 130
    assert signal.getsignal(number) is signal.SIG_IGN  # which Python leaves so to its very end
    assert ended == ["guests are gone"]
    assert capsys.readouterr().err == "ending; the results so far follow\n"


class Interrupting(io.RawIOBase):
    """A device in whose first write a signal arrives."""

    def __init__(self) -> None:
        self.written = b""

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        if not self.written:
            os.kill(os.getpid(), signal.SIGTERM)
        self.written += bytes(data)
        return len(data)


def test_a_signal_while_a_line_is_written_is_an_interrupt(
    signals: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    device = Interrupting()
    writer = io.TextIOWrapper(io.BufferedWriter(device), write_through=True)

    async def work() -> None:
        monkeypatch.setattr(sys, "stderr", writer)
        note("run 4 of 40")
        await asyncio.sleep(60)

    assert asyncio.run(interruptible(work())) is False
    writer.flush()
    assert device.written == b"run 4 of 40\nending; the results so far follow\n"


def test_who_was_not_interrupted_leaves_signals_as_they_were() -> None:
    before = [signal.getsignal(number) for number in SIGNALS]
    assert asyncio.run(interruptible(asyncio.sleep(0))) is True
    assert [signal.getsignal(number) for number in SIGNALS] == before


def test_one_lesson_without_figures_is_reported(
    shelf: None, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["measure", "40-none", "--published"]) == 2
    assert "has no published figures to compare with" in capsys.readouterr().err


def test_the_table_tells_what_stands_for_the_mails_figure(
    use: Any, shelf: None, capsys: pytest.CaptureFixture[str]
) -> None:
    use(Fleet())
    assert main(ALL) == 0
    lines = capsys.readouterr().out.splitlines()
    at = lines.index("a claim: 4 to 1")
    assert lines[at + 1].split() == ["0.25", "1", "wall", "5", "1..1", "no", "difference"]
    assert lines[at + 2] == "    here: umounts, storm, hogs=1 seconds=1, srcu over rwsem"
    assert "Kernels of 10-good: Linux 6.1.192;" in " ".join(lines)
    assert lines[-1].endswith(": ./duet measure --published")
    assert all(line.isascii() and len(line) <= 75 for line in lines)
