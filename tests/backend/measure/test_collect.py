# SPDX-License-Identifier: GPL-2.0-or-later
"""Numbers out of runs: lines, events, DWARF; and runs that give none."""

from __future__ import annotations

from typing import Any

import pytest

from duet.base.clock import Clock
from duet.base.errors import InfraError
from duet.guests.types import Accel, GuestFacts
from duet.lessons.load import LessonFolder
from duet.lessons.schema import Metric
from duet.measure import Kind, Series, Step
from duet.measure.plan import conditions
from duet.measure.run import Collector, evidence_of
from duet.measure.values import NoNumber, line_unit, line_value, read_value
from duet.session import LaneResult, Line, Metrics
from tests.backend.measure.test_plan import folder_with, measure_plan

EVENTS: dict[str, Any] = {
    "visits": {"title": "", "unit": "visits", "better": "lower", "event": "unregister"},
    "inside": {
        "title": "", "unit": "us", "better": "lower", "span": ["lock", "lock_ret"], "scale": 0.001,
    },
    "bytes": {"title": "", "unit": "B", "better": "lower", "dwarf": "sizeof struct shrinker"},
}  # fmt: skip
GOOD = "storm: hogs=9 seconds=1.000 umounts=7 per_s=7.5 errors=0"


def lane(arm: str, *lines: str, **more: Any) -> LaneResult:
    given: dict[str, Any] = {
        "phase": "done",
        "error": None,
        "metrics": Metrics(events_read=10),
        "lines": tuple(Line("out", text, 0.0) for text in lines),
        "ops": None,
        "ops_per_s": None,
        "facts": GuestFacts("qemu", Accel.TCG, 1, "7.2", 1.0),
        "kernel": "6.1",
        "clocksource": "tsc",
        "loss": (),
        "lost_by_place": {},
        "transcript": None,
        "status": 0,
    }
    return LaneResult(arm=arm, **(given | more))


def collector(folder: LessonFolder, clock: Clock = "wall") -> Collector:
    plan = measure_plan(folder_with(folder, EVENTS), clock, arms=("rwsem", "srcu"))
    gone = InfraError("vmlinux is gone.", remedy="Build it.")
    statics = {"rwsem": {"bytes": 64.0}, "srcu": {"bytes": gone}}
    return Collector(plan, conditions(plan)[0], statics)


def one(made: Collector, metric: str, arm: str = "srcu") -> Series:
    found = made.table.of(metric, arm)
    assert found is not None
    return found


STEP, COUNTED = Step(0, "srcu", Kind.EVIDENCE), Step(0, "srcu", Kind.COUNTED)


@pytest.mark.parametrize(
    ("pick", "value"),
    [("last", 40), ("first", 10), ("sum", 80), ("mean", 80 / 3), ("max", 40), ("min", 10),
     ("p50", 30), (None, 40)],
)  # fmt: skip
def test_one_of_many_lines_is_picked_and_scaled(pick: str | None, value: float) -> None:
    tree = {"title": "", "unit": "ms", "better": "lower", "line": r"call=\d us=(?P<value>\d+)"}
    metric = Metric.model_validate(tree | {"pick": pick, "scale": 0.001})
    lines = ["call=0 us=10", "noise", "call=1 us=30 call=2 us=40"]
    assert line_value(metric, lines) == pytest.approx(value * 0.001)
    assert line_value(metric, ["noise"]) is None


def of_line(line: str, unit: str = "1") -> Metric:
    return Metric.model_validate({"title": "", "unit": unit, "better": "higher", "line": line})


@pytest.mark.parametrize(
    ("pattern", "line", "value"),
    [
        (r"rate=(?P<value>[\d.]+)", "rate=1.2e+06 ops", 1.2e6),
        (r"rate=(?P<value>[\d.]+)", "rate=1,234.5 ops", 1234.5),
        (r"rate=(?P<value>\d+)", "rate=12,345,678", 12345678),
        (r"rate=(?P<value>[\d.]+),", "rate=1,234,5", 1),  # the expression says where it ends
        (r"a,(?P<value>\d+)", "a,123,456", 123),  # a list with commas
        (r"(?P<value>[\d.]+)", "5,6,7", 7),
        (r"rate=(?P<value>\S+)", "rate=-1.5e-3", -0.0015),
        (r"rate=(?P<value>\d+)", "rate=0", 0),
    ],
)
def test_the_whole_number_is_read(pattern: str, line: str, value: float) -> None:
    assert line_value(of_line(pattern), [line]) == pytest.approx(value)


@pytest.mark.parametrize("said", ["nan", "inf", "-", "1e999", "..."])
def test_what_is_no_number_is_named(said: str) -> None:
    metric = of_line(r"rate=(?P<value>\S+)")
    with pytest.raises(NoNumber, match="where a number should be"):
        read_value(metric, [f"rate={said}"])
    assert line_value(metric, [f"rate={said}"]) is None


def test_units_with_prefixes_are_brought_to_one() -> None:
    """fio's own lines: a slower run says KiB/s, a faster one MiB/s."""
    metric = of_line(r"bw=(?P<value>[\d.]+)")
    slow, fast = ["  WRITE: bw=512KiB/s (524kB/s)"], ["  WRITE: bw=1.5MiB/s (1573kB/s)"]
    assert (line_value(metric, slow), line_value(metric, fast)) == (512 * 1024, 1.5 * 1024**2)
    assert line_unit(metric, slow) == line_unit(metric, fast) == "B/s"
    own = of_line(r"bw=(?P<value>[\d.]+)", "MiB/s")
    assert (line_value(own, slow), line_unit(own, slow)) == (0.5, "MiB/s")
    times = of_line(r"took (?P<value>[\d.]+)", "ms")
    assert line_value(times, ["took 1.5 s"]) == 1500
    assert line_value(times, ["took 20us"]) == pytest.approx(0.02)
    assert line_value(times, ["took 20 s=3 b=4"]) == 20, "the name of another number is no unit"
    assert line_value(of_line(r"n=(?P<value>\d+)", "files"), ["n=5 MB"]) == 5


def test_what_the_tick_samples_says_so_on_both_clocks() -> None:
    metric = Metric.model_validate(
        {"title": "", "unit": "ms", "better": "lower", "line": "x=(?P<value>.)", "sampled": True}
    )
    assert {evidence_of(metric, clock) for clock in Clock} == {"sampled"}


def test_lines_tallies_and_dwarf_become_series(lesson02: LessonFolder) -> None:
    made = collector(lesson02)
    made.add(STEP, lane("srcu", GOOD))
    made.add(COUNTED, lane("srcu", GOOD, tallies={"visits": 12.0, "inside": 2500.0}))
    assert one(made, "ops_per_s").samples == [7.5]
    assert one(made, "visits").samples == [12.0]
    assert one(made, "inside").samples == [2.5]
    assert one(made, "bytes", "rwsem").samples == [64.0]
    assert one(made, "bytes").refused == "vmlinux is gone."
    kinds = {s.metric: s.evidence for s in made.table.series}
    assert kinds == {
        "ops_per_s": "measured", "visits": "counted", "inside": "counted", "bytes": "static",
    }  # fmt: skip
    assert made.table.counted == {"srcu": (10, 0)}
    assert made.table.lines == {"srcu": [GOOD]}  # a counted run's lines are no evidence


def test_a_counted_metric_without_a_value_says_why(lesson02: LessonFolder) -> None:
    made = collector(lesson02)
    fault = {"visits": "the workload printed no marker 'drop 5: end'."}
    made.add(COUNTED, lane("srcu", GOOD, tallies={"inside": 2500.0}, tally_faults=fault))
    visits = made.table.of("visits", "srcu")
    assert visits is not None and visits.refused == "the workload printed no marker 'drop 5: end'"


def test_lost_events_refuse_what_rests_on_them_alone(lesson02: LessonFolder) -> None:
    made = collector(lesson02)
    made.add(STEP, lane("srcu", GOOD))
    lossy = Metrics(events_read=10, events_lost=77)
    made.add(COUNTED, lane("srcu", GOOD, metrics=lossy, tallies={"visits": 12.0}))
    assert one(made, "visits").refused == "77 events were lost in the counted run"
    assert (one(made, "visits").samples, one(made, "ops_per_s").refused) == ([], None)


def test_a_workload_that_fails_its_verify_is_refused_in_its_words(lesson02: LessonFolder) -> None:
    made = collector(lesson02)
    said = Line("err", "storm: 3 of 9 hogs counted less than they mounted", 0.0)
    made.add(STEP, lane("srcu", status=1, lines=(said,)))
    assert one(made, "ops_per_s").refused == (
        "the workload on srcu ended with status 1: storm: 3 of 9 hogs counted less than they "
        "mounted"
    )
    assert made.failed("srcu") and not made.failed("rwsem")
    assert made.table.errors["srcu"].remedy == "Fix what the workload reports, and measure again."
    made.add(Step(0, "rwsem", Kind.EVIDENCE), lane("rwsem", status=-9))
    assert "killed by signal 9" in str(one(made, "ops_per_s", "rwsem").refused)
    assert "out of memory" in made.table.errors["rwsem"].remedy


@pytest.mark.parametrize(
    ("cause", "remedy"),
    [("No space left on device", "scratch_mb"), ("Cannot allocate memory", "memory_mb")],
)
def test_a_cause_with_a_remedy_is_reported_before_the_last_word(
    lesson02: LessonFolder, cause: str, remedy: str
) -> None:
    made = collector(lesson02)
    said = (Line("err", f"dd: error: {cause}", 0.0), Line("err", "53+0 records out", 0.0))
    made.add(STEP, lane("srcu", status=1, lines=said))
    error = made.table.errors["srcu"]
    assert error.sentence == f"the workload on srcu ended with status 1: dd: error: {cause}."
    assert remedy in error.remedy


def test_a_probe_that_does_not_resolve_leaves_the_untraced_numbers(lesson02: LessonFolder) -> None:
    made = collector(lesson02)
    made.add(STEP, lane("srcu", GOOD))
    made.add(COUNTED, lane("srcu", error=InfraError("no such probe.", remedy="Mend it.")))
    assert one(made, "visits").refused == "no such probe"
    assert (one(made, "ops_per_s").refused, one(made, "ops_per_s").n) == (None, 1)


def test_no_line_and_other_machines_are_reported(lesson02: LessonFolder) -> None:
    made = collector(lesson02)
    made.add(STEP, lane("srcu", "nothing of interest"))
    assert one(made, "ops_per_s").refused == "the workload printed no line with it"
    kvm = GuestFacts("qemu", Accel.KVM, 1, "7.2", 1.0)
    made.add(Step(0, "rwsem", Kind.EVIDENCE), lane("rwsem", GOOD, facts=kvm, clocksource="hpet"))
    made.compare()
    assert "the guest's clock is hpet, not its TSC" in made.table.refusals
    assert any("different machines" in said for said in made.table.refusals)


@pytest.mark.parametrize("clocksource", ["tsc", "tsc-early"])
def test_a_guests_tsc_is_its_tsc_before_it_is_refined(
    lesson02: LessonFolder, clocksource: str
) -> None:
    made = collector(lesson02)
    made.add(STEP, lane("srcu", GOOD, clocksource=clocksource))
    assert made.table.refusals == []


def test_perturbed_starts_are_kept_apart_and_in_order(lesson02: LessonFolder) -> None:
    made = collector(lesson02, "count")
    for seed, rate in ((3, "30"), (2, "20")):
        step = Step(0, "srcu", Kind.PERTURBED, seed)
        made.add(step, lane("srcu", f"storm: umounts=7 per_s={rate} errors=0"))
    found = one(made, "ops_per_s")
    assert (found.samples, found.perturbed, found.evidence) == ([], [20.0, 30.0], "counted")
    broken = lane("srcu", error=InfraError("it died.", remedy="Again."))
    made.add(Step(0, "srcu", Kind.PERTURBED, 4), broken)
    assert made.table.refusals == ["srcu failed on a perturbed start (seed 4): it died"]
    assert not made.failed("srcu")
