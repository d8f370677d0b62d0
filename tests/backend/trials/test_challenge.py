# SPDX-License-Identifier: GPL-2.0-or-later
"""Whether a change meets a challenge: from tables and consoles that are made by hand."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pydantic import ValidationError

from duet.base.errors import InfraError, InputError, KernelError
from duet.base.settings import repo_root
from duet.cli import challenge as challenge_verb
from duet.cli import entry
from duet.kernels.recipe import patched_files
from duet.lessons import load as lessons
from duet.lessons.schema import Challenge, Goal
from duet.measure.model import Condition, Series, Table
from duet.trials.challenge import (
    Judgement,
    barriers_gone,
    groups,
    judge,
    limits,
    tables_of,
    with_patch,
)
from duet.trials.check.console import Verdict

FIXTURES = repo_root() / "tests/challenges"
BITMAPS = lessons.load("01-shrinker-bitmaps")
CLEAN = Verdict((), (), 3, {"containers": 60})
SPLAT = Verdict(("[    9.1] BUG: KASAN: use-after-free in x",), (), None, {})
GOAL = Goal(says="fast", metric="drop_first_us", to="after", ratio_max=0.25, params={"n": 200})
RULE = Goal(says="again", metric="again_first", equals="cleared_first", params={"n": 56})
BETTER = Challenge(
    title="t", ask="a", hint="h", arm="after", goals=(GOAL,), rules=(RULE,), answer="w"
)
BREAK = BETTER.model_copy(update={"aim": "break", "goals": ()})


def tables(
    challenge: Challenge, us: float = 10.0, again: float = 7.0, failed: Exception | None = None
) -> dict[str, Table]:
    """As if `own` had been measured beside `after`, whose first call takes 100 us."""
    table = Table(Condition("count", 0, "containers", {}))
    numbers = {
        "drop_first_us": (us, 100.0),
        "again_first": (again, 7.0),
        "cleared_first": (7.0, 7.0),
    }
    for metric, values in numbers.items():
        for arm, value in zip(("own", "after"), values, strict=True):
            table.series.append(Series(metric, metric, "us", "lower", "counted", arm, [value]))
    if failed is not None:
        table.errors["own"] = failed  # type: ignore[assignment]
    return {goal.claim("own").model_dump_json(): table for _, goal in limits(challenge)}


def judged(
    challenge: Challenge, stress: Verdict | str = CLEAN, diff: str = "", **made: object
) -> Judgement:
    return judge(challenge, "own", diff, tables(challenge, **made), stress)  # type: ignore[arg-type]


def test_a_better_kernel_reaches_all_goals_and_breaks_nothing() -> None:
    found = judged(BETTER)
    assert found.met and [line.holds for line in found.lines] == [True, True, True]
    assert (
        found.lines[0].found == "10 us, 0.1 of after"
        and found.lines[0].wanted == "at most 0.25 of after"
    )
    slow = judged(BETTER, us=50.0)
    assert not slow.met and slow.because.startswith("The goal is not reached: fast (50 us")


@pytest.mark.parametrize(
    ("made", "stress"), [({"again": 0.0}, CLEAN), ({}, SPLAT), ({"again": 0.0, "us": 90.0}, CLEAN)]
)
def test_a_fast_kernel_that_is_wrong_is_refused(made: dict[str, float], stress: Verdict) -> None:
    found = judged(BETTER, stress, **made)
    assert not found.met and found.because.startswith("It is not right")


def test_what_was_not_judged_is_not_met() -> None:
    found = judged(BETTER, "no debug kernel is here")
    assert not found.met and "no debug kernel is here" in found.because
    host = judged(BETTER, failed=InfraError("QEMU is missing.", remedy="Install it."))
    assert not host.met and host.lines[0].holds is None
    assert not judge(BETTER, "own", "", {}, CLEAN).met


def test_a_kernel_that_does_not_run_is_wrong() -> None:
    found = judged(BETTER, failed=KernelError("it panicked.", remedy="Look."))
    assert not found.met and found.lines[0].holds is False


def test_a_breakage_is_met_by_a_rule_or_a_complaint() -> None:
    assert not judged(BREAK).met
    assert judged(BREAK, again=0.0).because.startswith("It breaks: again (0 us")
    assert judged(BREAK, SPLAT).met
    assert "left out" in judged(BREAK, "left out").because


def test_a_barrier_that_goes_is_judged_by_a_model_where_the_challenge_has_one() -> None:
    diff = (FIXTURES / "01-shrinker-bitmaps/no-barrier-alone.patch").read_text()
    assert barriers_gone(diff) == ("smp_mb__after_atomic()",)
    found = judged(BETTER, diff=diff)
    assert not found.met and "smp_mb__after_atomic() is gone" in found.because
    assert not judged(BREAK, diff=diff).met, "no model: it breaks nothing that x86 shows"
    order = BITMAPS.lesson.challenges["no-barrier"].order
    broken = judged(BREAK.model_copy(update={"order": order}), diff=diff)
    assert broken.met and broken.because == (
        "It breaks: modelled: smp_mb__after_atomic() is gone, so `seen = list` may come before "
        "`bit = 0`; then walk: seen = list; adder: list = 1; adder: bit = 1; walk: bit = 0."
    )
    refused = judged(BETTER.model_copy(update={"order": order}), diff=diff)
    assert not refused.met and refused.because.startswith("It is not right: modelled")
    other = judged(BREAK.model_copy(update={"order": order}), diff="-\tsmp_rmb();\n")
    assert not other.met, "a barrier that the model does not have"


@pytest.mark.parametrize(
    ("diff", "gone"),
    [
        ("-\tsmp_mb();\n+\tsmp_store_release(&a, 1);\n", ()),
        ("-\t * smp_mb() pairs with that\n", ()),
        ("-\tx = 1; /* smp_mb() */\n", ()),
        ("-\tsmp_wmb();\n-\tsmp_rmb();\n+\tsmp_rmb();\n", ("smp_wmb()",)),
        ("--- a/smp_mb()\n+++ b/x\n", ()),
    ],
)
def test_only_barriers_of_the_code_count(diff: str, gone: tuple[str, ...]) -> None:
    assert barriers_gone(diff) == gone


def test_what_a_challenge_excludes_may_not_be_added() -> None:
    one = BETTER.model_copy(update={"without": (r"down_read\(&lock",)})
    assert judged(one, diff="-\tdown_read(&lock);\n").met
    found = judged(one, diff="+\tdown_read(&lock);\n")
    assert not found.met and "down_read(&lock);" in found.because


@pytest.mark.parametrize(
    "fields",
    [{"goals": ()}, {"aim": "break"}, {"goals": ({"says": "x", "metric": "m"},)}],
    ids=["nothing to reach", "a break with goals", "no limit"],
)
def test_a_challenge_that_cannot_be_judged_is_refused(fields: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        Challenge.model_validate({**BETTER.model_dump(), **fields})


def test_limits_under_equal_conditions_share_a_measurement() -> None:
    folder, arm, _ = with_patch(BITMAPS, "after", FIXTURES / "01-shrinker-bitmaps/first-call.patch")
    claims = [goal.claim(arm) for _, goal in limits(folder.lesson.challenges["first-call"])]
    found = groups(folder, claims)
    assert len(claims) == 4 and len(found) == 3
    assert sum(len(group.claims) for group in found) == 4
    assert all(arm in group.plan.arms for group in found)
    both = next(group for group in found if len(group.claims) == 2)
    assert both.plan.metrics == {"again_first", "cleared_first", "visits_last"}
    table = Table(Condition("count", 0, "containers", {}))
    assert len(tables_of({found.index(both): table}, found)) == 2


def test_the_changed_arm_has_the_probes_and_metrics_of_its_arm() -> None:
    storm = lessons.load("02-grace-periods")
    patch = FIXTURES / "02-grace-periods/one-word.patch"
    folder, arm, diff = with_patch(storm, "srcu", patch)
    assert folder.arm(arm).optional and folder.patch_files(arm)[-1] == patch
    assert diff.startswith("diff --git") and "Subject" not in diff
    named = [one for one in folder.lesson.probes if "srcu" in one.arms]
    assert named and all(arm in one.arms for one in named)
    with pytest.raises(InputError, match="no 'diff --git' line"):
        with_patch(storm, "srcu", repo_root() / "README.md")


@pytest.mark.parametrize("slug", lessons.slugs())
def test_every_lesson_has_three_challenges_and_patches_to_try(slug: str) -> None:
    folder = lessons.load(slug)
    assert len(folder.lesson.challenges) == 3
    assert any(one.aim == "break" for one in folder.lesson.challenges.values())
    for path in sorted((FIXTURES / slug).glob("*.patch")):
        name = path.stem.removesuffix("-wrong").removesuffix("-alone")
        assert name in folder.lesson.challenges, path
        assert patched_files(path.read_text()), path


def test_the_list_says_what_to_do(capsys: pytest.CaptureFixture[str]) -> None:
    assert entry.main(["challenge", BITMAPS.slug]) == 0
    said = capsys.readouterr().out
    assert "no-barrier: Remove the barrier" in said and "at most 0.25 of after" in said
    assert entry.main(["challenge", BITMAPS.slug, "first-call", "--json"]) == 0
    (one,) = json.loads(capsys.readouterr().out)["challenges"]
    assert one["name"] == "first-call" and one["aim"] == "better"
    assert entry.main(["challenge", BITMAPS.slug, "first-cal"]) == 2
    assert "did you mean" in capsys.readouterr().err


def test_a_patch_is_judged_and_the_exit_code_says_so(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    seen: dict[str, object] = {}

    async def measured(folder: object, arm: str, found: list[object]) -> dict[int, Table]:
        seen["arm"] = arm
        table = Table(Condition("count", 0, "containers", {}))
        for metric, value in (("freed_third", 40.0), ("again_first", 0.0), ("cleared_first", 9.0)):
            for one in (arm, "after"):
                table.series.append(Series(metric, metric, "n", "lower", "counted", one, [value]))
        return dict.fromkeys(range(len(found)), table)

    monkeypatch.setattr(challenge_verb, "_measured", measured)
    monkeypatch.setattr(challenge_verb, "_stressed", lambda *_: (tmp_path / "c", CLEAN))
    patch = str(FIXTURES / BITMAPS.slug / "no-barrier.patch")
    words = ["challenge", BITMAPS.slug, "no-barrier", "--patch", patch, "--json"]
    assert entry.main(words) == 0
    result = json.loads(capsys.readouterr().out)
    assert result["met"] is True and result["arm"] == seen["arm"]
    assert {line["kind"] for line in result["lines"]} == {"rule", "order", "stress"}

    def unbuilt(*_: object) -> None:
        raise InfraError("it does not compile.", remedy="Mend it.")

    monkeypatch.setattr(challenge_verb, "_stressed", unbuilt)
    assert entry.main(words) == 125
