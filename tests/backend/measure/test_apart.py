# SPDX-License-Identifier: GPL-2.0-or-later
"""Arms on different bases: every table that holds both says that a patch is not the cause."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from duet.host.judging import measure_plan
from duet.kernels import KernelSettings
from duet.kernels.source import own_source
from duet.lessons.load import LessonFolder
from duet.measure.compare import warnings
from duet.measure.model import Report
from duet.measure.provenance import arm_facts
from duet.measure.reports import FORMATS, render
from duet.measure.run import plain_facts
from duet.session import RunSpec
from tests.backend.measure.reports_made import wall


def on(*bases: tuple[str, str]) -> Report:
    """The report of three arms, each on a base and a variant of it."""
    report = wall()
    pairs = zip(report.arms, bases, strict=True)
    report.arms = tuple(replace(arm, base=base, config=config) for arm, (base, config) in pairs)
    return report


def test_arms_on_one_base_need_no_warning() -> None:
    assert warnings(on(("6.1", ""), ("6.1", ""), ("6.1", "")).arms) == []
    assert warnings(on(("6.1", "fast"), ("6.1", "fast"), ("6.1", "fast")).arms) == []
    assert warnings(wall().arms) == [], "the bases are not known"
    assert warnings([]) == []


def test_another_base_and_another_variant_are_named() -> None:
    (said,) = warnings(on(("6.1", ""), ("6.12", ""), ("6.12", "")).arms)
    assert said == (
        "srcu and srcu-expedited are on 6.12, but rwsem on 6.1: these are different kernels, so a"
        " difference is not the effect of one patch"
    )
    new, fast = warnings(on(("6.1", ""), ("6.12", ""), ("6.1", "hz-1000")).arms)
    assert new.startswith("srcu is on 6.12, but rwsem on 6.1: these are different kernels")
    assert fast.startswith(
        "srcu-expedited is on 6.1 with hz-1000, but rwsem on 6.1: their configurations differ"
    )


@pytest.mark.parametrize("how", [how for how in FORMATS if how not in ("json", "csv", "kcidb")])
def test_every_text_says_it_before_any_number(how: str) -> None:
    text = render(on(("6.1", ""), ("6.12", ""), ("6.1", "")), how)
    assert "!! BASES: srcu is on 6.12, but rwsem on 6.1" in text
    assert "one patch" in text
    assert "UNFAIR" not in text
    assert "BASES" not in render(wall(), how)


def test_each_test_of_a_result_file_has_the_warning() -> None:
    tests = json.loads(render(on(("6.1", ""), ("6.12", ""), ("6.1", "")), "kcidb"))["tests"]
    assert all("srcu is on 6.12" in one["misc"]["warnings"][0] for one in tests)
    plain = json.loads(render(wall(), "kcidb"))["tests"]
    assert not any("warnings" in one["misc"] for one in plain)


def test_json_has_the_warnings_and_each_arm_its_base() -> None:
    tree = json.loads(render(on(("6.1", ""), ("6.12", ""), ("6.1", "hz-1000")), "json"))
    assert len(tree["warnings"]) == 2
    assert [(arm["base"], arm["config"]) for arm in tree["arms"]] == [
        ("6.1", ""),
        ("6.12", ""),
        ("6.1", "hz-1000"),
    ]


def test_an_arm_on_another_base_with_other_shared_patches_is_not_called_unfair() -> None:
    report = on(("6.1", ""), ("6.12", ""), ("6.1", ""))
    first, new, third = report.arms
    report.arms = (first, replace(new, both=()), third)
    text = render(report, "mail")
    assert "UNFAIR" not in text and "another base, with its own shared patches: none" in text
    report.arms = (first, replace(new, both=(), base="6.1"), third)
    assert "UNFAIR" in render(report, "mail")


def test_the_facts_of_an_arm_name_its_base(
    lesson02: LessonFolder, tmp_path: Path, root: Path
) -> None:
    house = KernelSettings.default()
    source = own_source(house.base, house.cache)
    settings = KernelSettings(tmp_path, root / "kernel-patches", source)
    if not source.is_file():
        pytest.skip(
            f"the source of Linux {settings.base.series} is not here: ./duet build fetches it"
        )
    facts = arm_facts(lesson02, "rwsem", settings)
    assert (facts.base, facts.config) == ("6.1", "")


def test_a_measurement_that_nobody_gave_facts_knows_the_bases(lesson02: LessonFolder) -> None:
    """That of `duet run` and of the page."""
    request = RunSpec(lesson02, ("rwsem", "today"), "storm", {}, "wall")
    facts = [plain_facts(measure_plan(request, 1), arm) for arm in request.arms]
    (said,) = warnings(facts)
    assert said.startswith("today is on 7.3, but rwsem on 6.1")
