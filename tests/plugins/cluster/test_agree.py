# SPDX-License-Identifier: GPL-2.0-or-later
"""Two hosts, the same runs of the count clock: equal to the digit, or which figure is not."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from duet.base.errors import InputError
from duet.cli.measure.results import AgreementResult
from duet.lessons.load import LessonFolder
from duet.plugins.cluster.measure_verb import report_agreement
from duet.plugins.cluster.measuring.merge import Agreement, agreement, checked_plan, pairs_of
from duet.plugins.cluster.measuring.schedule import Job, Schedule, Terms
from tests.backend.cli.test_results import same_as_help
from tests.plugins.cluster.test_schedule import swept
from tests.plugins.cluster.toy_pool import KERNEL, QEMU, RATE, Toy, ToyPool

Run = Callable[..., Any]
Two = Callable[..., tuple[Agreement, list[Job]]]


@pytest.fixture
def two(lesson02: LessonFolder, tmp_path: Path, run_async: Run) -> Two:
    """A comparison on two hosts, of which the second changes words of what it gives."""

    def play(**other: str) -> tuple[Agreement, list[Job]]:
        plan = checked_plan(swept(lesson02, sweep=None, perturbed=2, metrics=None))
        ((one, again),) = pairs_of(plan)
        toy = Toy(tmp_path, [one.part])
        words = {"qemu": QEMU, "kernel": KERNEL, "rate": RATE}
        toy.act({"words n2": {words[key]: value for key, value in other.items()}})
        pool = ToyPool(["n1", "n2"])

        async def body() -> None:
            async with pool:
                terms = Terms(program=toy.program)
                await Schedule(pool, terms, lambda _: None).run([one, again])

        run_async(body(), 60)
        assert pool.most == 2 and {one.host, again.host} == {"n1", "n2"}
        return agreement(one, again), [one, again]

    return play


def test_equal_to_the_digit(two: Two) -> None:
    found, jobs = two()
    assert found.equal and len(found.figures) == 2 * (5 + 2)  # arms; runs and other starts
    text, code = report_agreement([found], jobs, as_json=False)
    assert code == 0
    assert text.startswith("Equal to the instruction: 14 figures, each the same on n1 and n2.\n")
    assert "  storm on n2: a model, QEMU 7.2.22 (tcg)" in text
    printed, code = report_agreement([found], jobs, as_json=True)
    tree = json.loads(printed)
    same_as_help(tree, AgreementResult, "measure")
    assert code == 0 and tree["equal"] and tree["comparisons"][0]["nodes"] == ["n1", "n2"]


def test_the_last_digit_of_one_figure_is_found(two: Two) -> None:
    found, jobs = two(rate="123.2500001")
    apart = [figure for figure in found.figures if not figure.equal]
    assert not found.equal and {figure.run for figure in apart} == {
        "other start 1",
        "other start 2",
    }
    text, code = report_agreement([found], jobs, as_json=False)
    assert code == 3 and text.startswith("NOT EQUAL: 4 of 14 figures differ between hosts.\n")
    assert (
        "DIFFERS: srcu ops_per_s, other start 1: 123.25 umounts/s on n1, 123.2500001 on n2 (storm)."
        in text
    )


def test_inputs_that_differ_are_named_before_any_figure(two: Two) -> None:
    found, jobs = two(qemu="10.0.2", kernel="ef" * 32, rate="99.5")
    assert found.figures == [] and not found.equal
    assert found.trouble == [
        "n1 and n2 do not run the same: the kernel of rwsem (SHA-256 abababababab and"
        " efefefefefef); the kernel of srcu (SHA-256 abababababab and efefefefefef); QEMU (7.2.22"
        " and 10.0.2)."
    ]
    assert report_agreement([found], jobs, as_json=False)[1] == 3


def test_it_is_about_the_count_clock(lesson02: LessonFolder) -> None:
    with pytest.raises(InputError, match="this plan uses the wall clock"):
        checked_plan(swept(lesson02, "wall"))
