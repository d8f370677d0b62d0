# SPDX-License-Identifier: GPL-2.0-or-later
"""Reports as text: golden files, 75 columns of ASCII whatever comes, and what must be reported.

After a wanted change: DUET_GOLDEN=write, then read the difference.
"""

from __future__ import annotations

import csv
import io
import json
import os
import re
import shlex
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import get_args

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from duet.base.clock import Clock
from duet.base.errors import InputError
from duet.measure.model import ArmFacts, Condition, Report, Series, Table
from duet.measure.reports import FORMATS, machine, ministat, render
from duet.measure.reports.text import WIDTH, plain
from tests.backend.measure.reports_made import (
    BOTH,
    GCC,
    HOST,
    REPORTS,
    count,
    judged,
    series,
    trial,
    wall,
)

GOLDEN = Path(__file__).parent / "golden"
TEXTS = [how for how in FORMATS if how not in ("json", "csv", "kcidb")]


@pytest.mark.parametrize("how", FORMATS)
@pytest.mark.parametrize("name", REPORTS)
def test_golden(name: str, how: str) -> None:
    path = GOLDEN / f"{name}.{how}.txt"
    text = render(REPORTS[name](), how)
    if os.environ.get("DUET_GOLDEN") == "write":
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    assert text == path.read_text()


def test_an_unknown_format_is_reported() -> None:
    with pytest.raises(InputError, match="no report format 'html'") as caught:
        render(wall(), "html")
    assert "ministat" in caught.value.remedy


# what every text must tell


@pytest.mark.parametrize("how", TEXTS)
def test_every_text_tells_direction_evidence_and_how_to_get_it_again(how: str) -> None:
    text = render(wall(), how)
    flat = re.sub(r"\s+", " ", text.replace(" \\\n", ""))
    assert "HIGHER is better; measured" in flat
    assert "LOWER is better; counted; shown, not judged" in flat
    for reported in (
        "Linux 6.1.153",
        "config 0a1b2c3d0a1b",
        "02-grace-periods/srcu.patch 121212121212",
        "all arms: both/0001-srcu-gp-state.patch abababababab",
        "QEMU 7.2.22 (tcg)",
        "Example(R) CPU 9000",
        "no difference proven",
        wall().command,
    ):
        assert reported in flat, reported
    assert "-78." in flat
    assert "!!" not in text


@pytest.mark.parametrize("how", TEXTS)
def test_what_is_wrong_stands_on_top(how: str) -> None:
    text = render(REPORTS["broken"](), how)
    top = re.sub(r"\s+", " ", text.split("\n\n")[0].replace("\n!!", ""))
    assert text.startswith("!! PARTIAL: interrupted after 7 of 20 runs.")
    for reported in (
        "FAILED: srcu: The guest of srcu ran out of memory. Give it more",
        "REFUSED: the host was busy",
        "REFUSED: No verdict on srcu against rwsem",
        "LOST: events of counted runs: srcu lost 17 of 1,017.",
    ):
        assert reported in top
    assert (
        "%"
        not in text.split("Verbatim")[0]
        .split("Machine:")[1]
        .replace("95 %", "")
        .replace("31 %", "")
        .replace("%stddev", "")
        .replace("%change", "")
        .replace("95.0%", "")
        or how == "lkp"
    )


@pytest.mark.parametrize("how", TEXTS)
def test_the_count_clock_has_no_interval(how: str) -> None:
    text = render(count(), how)
    assert "95 %" not in text and "95.0%" not in text and " p = " not in text
    flat = re.sub(r"\s+", " ", text)
    assert "deterministic (2 equal runs at 1 ns per instruction; over 4 starts" in flat
    assert "8 ns per instruction (shift 3)" in flat
    assert "1 ns per instruction (shift 0)" in flat


def test_the_mail_keeps_the_workloads_lines_as_they_are() -> None:
    lines = render(wall(), "mail").splitlines()
    heading, last = wall().tables[0].lines["srcu"][-2:]
    place = lines.index(f"| {last}")
    assert lines[place - 1] == f"| {heading}" and len(lines[place]) > WIDTH
    assert "Verbatim, srcu (the last of 5 runs):" in lines
    assert sum(line.startswith("| ") for line in lines) == 6


def test_the_mail_keeps_the_lines_with_figures_unless_all_are_asked_for() -> None:
    report = replace(wall(), summary=(r"info: +\[\d+\] ramfs",))
    lines = render(report, "mail").splitlines()
    assert sum(line.startswith("| ") for line in lines) == 3
    assert "Verbatim, srcu (summary of the last of 5 runs):" in lines
    whole = render(report, "mail-verbatim").splitlines()
    assert sum(line.startswith("| ") for line in whole) == 6


def test_the_mail_begins_with_the_result_how_it_was_obtained_and_on_what() -> None:
    flat = render(wall(), "mail").replace("\n", " ")
    assert flat.startswith(
        "umounts: srcu 281.5 umounts/s against rwsem 1,296, 0.2173 times, worse; srcu-expedited "
        "1,300 umounts/s against rwsem 1,296, no difference proven. Measured times of untraced "
        "runs under emulation, n = 5. "
    )


def test_a_refused_result_is_no_headline() -> None:
    busy = wall()
    busy.tables[0].refusals.append("the host was busy")
    judged(busy.tables[0], busy)
    assert render(busy, "mail").startswith("!! REFUSED: the host was busy.")


def test_too_few_runs_take_one_sentence() -> None:
    report = wall()
    for one in report.tables[0].series:
        one.samples = one.samples[:2]
    judged(report.tables[0], report)
    flat = re.sub(r"\s+", " ", render(report, "mail"))
    figures = "measured: rwsem 1,296, srcu 280, srcu-expedited 1,300; 2 runs give no verdict."
    assert f"umounts (ops_per_s), umounts/s; {figures}" in flat
    assert "95 % CI" not in flat


def test_what_a_traced_run_counts_is_no_alarm_on_the_wall_clock() -> None:
    report = wall()
    for one in report.tables[0].series:
        one.extra = False
    judged(report.tables[0], report)
    text = render(report, "mail")
    assert "REFUSED" not in text
    assert "1 run gives no verdict" in re.sub(r"\s+", " ", text)


def test_a_trial_is_reproduced_from_files_in_the_current_folder() -> None:
    text = render(trial(), "mail")
    assert "Reproduce, with the files that it names in the current folder:" in text


@pytest.mark.parametrize("how", TEXTS)
def test_every_text_tells_what_it_was_made_of(how: str) -> None:
    flat = re.sub(r"\s+", " ", render(wall(), how))
    for reported in (
        "QEMU 7.2.22 (tcg) guests, emulated by software; host:",
        f"compiler: {GCC}",
        "configuration: HZ=250, PREEMPT_NONE, NR_CPUS=64, no debug checks",
        "source, sha256: 787878787878",
        "programs in the guests: stress-ng 0.15.06",
        "by Kernel Duet 0.1.0, commit 0123456789ab.",
    ):
        assert flat.count(reported) == 1, reported
    assert "COMPILERS" not in flat


@pytest.mark.parametrize("how", TEXTS)
def test_kernels_of_two_compilers_are_told_apart(how: str) -> None:
    report = wall()
    other = replace(report.arms[1], compiler="gcc (Debian 14.2.0-19) 14.2.0")
    report.arms = (report.arms[0], other, report.arms[2])
    flat = re.sub(r"\s+", " ", render(report, how).replace("\n!! ", "\n"))
    assert f"COMPILERS: the compilers differ: rwsem and srcu-expedited by {GCC};" in flat
    assert "srcu by gcc (Debian 14.2.0-19) 14.2.0: a difference may come from the compiler." in flat
    assert "compiler of srcu: gcc (Debian 14.2.0-19) 14.2.0" in flat
    assert "compilers differ" in json.loads(render(report, "json"))["warnings"][0]


def by_shift(first: float, second: float) -> Report:
    """The same arms at 1 and at 8 ns per instruction, with these ratios."""
    report = count()
    report.sweep, report.tables = None, []
    for shift, ratio in ((0, first), (3, second)):
        table = Table(Condition("count", shift, "storm", {"hogs": 9}))
        for name, value in (("before", 100.0), ("after", 100 * ratio)):
            table.series.append(series("ops_per_s", name, [value] * 2, evidence="counted"))
            table.lines[name] = [f"storm: per_s={value}"] * 2
        report.tables.append(judged(table, report))
    return report


RULE = "a result that depends on the choice is a property of the clock, not of the patch"


@pytest.mark.parametrize("how", TEXTS)
def test_a_difference_that_depends_on_the_clock_is_called_its_property(how: str) -> None:
    flat = re.sub(r"\s+", " ", render(by_shift(1 / 35, 1 / 4.5), how).replace("\n!! ", "\n"))
    said = "of after, over that of before, is 0.0286 at 1 ns per instruction and 0.222 at 8 ns per"
    assert f"{said} instruction: {RULE}." in flat
    assert RULE not in render(by_shift(0.0, 0.0), how).replace("\n", " "), "none at either"
    assert RULE not in render(by_shift(0.5, 0.51), how).replace("\n", " ")
    assert RULE in json.loads(render(by_shift(0.9, 1.1), "json"))["warnings"][0]


def test_a_lesson_that_waits_says_so_at_one_setting() -> None:
    report = by_shift(0.5, 0.51)
    report.tables, report.waiting = report.tables[:1], True
    flat = re.sub(r"\s+", " ", render(report, "mail").replace("\n!! ", "\n"))
    assert "kernels wait here, and the clock decides how many instructions" in flat and RULE in flat
    assert "--shift 0,3" in flat
    report.tables = []
    assert RULE not in render(report, "mail")


def test_verbatim_lines_say_of_which_setting_they_are() -> None:
    lines = render(by_shift(0.5, 0.51), "mail").splitlines()
    titles = [line for line in lines if line.startswith("Verbatim, after")]
    assert [title.count("1 ns per") + title.count("8 ns per") for title in titles] == [1, 1]
    assert "1 ns per instruction" in titles[0] and "8 ns per instruction" in titles[1]


def test_arms_with_other_instrumentation_are_called_unfair() -> None:
    report = wall()
    report.arms = (report.arms[0], replace(report.arms[1], both=BOTH[:1]), report.arms[2])
    flat = re.sub(r"\s+", " ", render(report, "mail"))
    unfair = "UNFAIR: its shared patches differ from those of the first arm: both/0001"
    assert flat.count(unfair) == 1


@pytest.mark.parametrize("how", TEXTS)
def test_a_trial_names_commits_dirty_trees_and_patches(how: str) -> None:
    flat = re.sub(r"\s+", " ", render(trial(), how))
    for reported in (
        "source 6.6.7 at commit c0ffee00c0ff (v6.6.7), clean",
        "source 6.6.7 at commit facade11faca (v6.6.7-1-gfacade11facade), dirty (diff 565656565656)",
        'patch 343434343434 ("fs/pipe: wake every reader", commit abcdef12abcd)',
    ):
        assert reported in flat, reported
    assert flat.count("./duet try") == 1 and ".patch 3434" not in flat
    again = trial()
    again.command = "./duet measure 90-linux-mine"
    flat = re.sub(r"\s+", " ", render(again, how))
    assert flat.index("./duet try") < flat.index("./duet measure 90-linux-mine")


def test_a_tree_without_a_commit_is_named_by_its_files() -> None:
    report = trial()
    plain_folder = replace(report.arms[0].source, commit="", describe="")  # type: ignore[type-var]
    report.arms = (replace(report.arms[0], source=plain_folder),)
    flat = re.sub(r"\s+", " ", render(report, "mail"))
    assert "source 6.6.7 without a commit, tree 111111111111," in flat


WORDS_OF_A_SHELL = [
    "--tree",
    "../my trees/linux",
    "it's $HOME",
    "two\nlines\\n",
    "\u00fc\u20ac.patch",
    "--run",
    "x" * 80,
    "",
    "--name",
    "-",
]


def test_a_command_of_a_report_can_be_pasted_into_a_shell() -> None:
    report = trial()
    report.command = shlex.join(["printf", "%s\\0", *WORDS_OF_A_SHELL])
    report.made_by = "./duet try x"
    text = render(report, "mail")
    pasted = text.partition("  ./duet try x\n")[2].partition("\n\n")[0]
    done = subprocess.run(["bash", "-c", pasted], capture_output=True, check=True)
    assert done.stdout.decode().split("\0")[:-1] == WORDS_OF_A_SHELL
    report.command = "an open ' quote"
    assert "  an open ' quote\n" in render(report, "mail")


# 75 columns of ASCII, whatever comes

QUICK = {"deadline": None, "phases": (Phase.explicit, Phase.reuse, Phase.generate)}
"""Shrinking a whole report takes minutes."""
WORDS = st.text(st.characters(codec="utf-8", exclude_categories=("Cs",)), max_size=90)
NAMES = st.from_regex(r"[a-z0-9][a-z0-9_-]{0,39}", fullmatch=True)
NUMBERS = st.floats(-1e18, 1e18, allow_nan=False)
RATES = st.floats(1e-9, 1e15)


@st.composite
def reports(draw: st.DrawFn) -> Report:
    """Any report that a measurement could leave behind."""
    names = draw(st.lists(NAMES, min_size=1, max_size=5, unique=True))
    both = draw(st.sampled_from([(), BOTH]))
    arms = tuple(
        ArmFacts(n, draw(WORDS), "after", draw(WORDS), "", "ff" * 32, ((n, "ee" * 32),), both)
        for n in names
    )
    clock = draw(st.sampled_from(get_args(Clock)))
    sweep = draw(st.none() | st.just(("n", (1, 20, 300))))
    report = Report(
        draw(NAMES), draw(WORDS), draw(WORDS), arms, {**HOST, "cpu": draw(WORDS)}, "./duet x", "t"
    )
    report.sweep = sweep
    report.partial = draw(st.none() | WORDS)
    metrics = draw(st.lists(NAMES, max_size=2, unique=True))
    said = [(draw(WORDS), draw(WORDS)) for _ in metrics]
    for value in sweep[1] if sweep else (7,):
        shift = None if clock == "wall" else 3
        table = Table(Condition(clock, shift, draw(NAMES), {"n": value}))
        for (title, unit), metric in zip(said, metrics, strict=True):
            for name in names:
                table.series.append(
                    Series(
                        metric=metric,
                        title=title,
                        unit=unit,
                        better=draw(st.sampled_from(["higher", "lower", "neither"])),
                        evidence=draw(st.sampled_from(["measured", "counted", "static"])),
                        arm=name,
                        samples=draw(
                            st.lists(RATES, min_size=5, max_size=5)
                            | st.lists(NUMBERS, max_size=3)
                            | NUMBERS.map(lambda x: [x, x])
                        ),
                        perturbed=draw(st.lists(RATES, max_size=3)),
                        extra=draw(st.booleans()),
                        refused=draw(st.none() | WORDS),
                    )
                )
        table.refusals = draw(st.lists(WORDS, max_size=1))
        table.lines = {names[0]: draw(st.lists(WORDS, max_size=4))}
        report.tables.append(judged(table, report))
    return report


@pytest.mark.filterwarnings("ignore")  # scipy of constant or huge samples
@settings(max_examples=40, suppress_health_check=list(HealthCheck), **QUICK)
@given(reports())
def test_no_line_is_longer_than_75_columns_and_all_is_ascii(report: Report) -> None:
    for how in TEXTS:
        text = render(report, how)
        assert text.isascii() and text.endswith("\n") and "\t" not in text
        for line in text.splitlines():
            assert len(line) <= WIDTH or line.startswith("| "), (how, line)
            assert line == line.rstrip()


@pytest.mark.filterwarnings("ignore")
@settings(max_examples=15, suppress_health_check=list(HealthCheck), **QUICK)
@given(reports())
def test_json_and_csv_hold_every_sample(report: Report) -> None:
    tree = json.loads(render(report, "json"), parse_constant=lambda x: pytest.fail(x))
    held = sorted(v for t in report.tables for s in t.series for v in s.samples)
    assert sorted(v for row in tree["rows"] for v in row["samples"]) == held
    table = list(csv.DictReader(io.StringIO(render(report, "csv"))))
    assert sorted(float(r["value"]) for r in table if r["kind"] == "run") == held


def test_csv_has_a_line_for_a_sample() -> None:
    report = wall()
    report.tables[0].series[0].refused = "one\rtwo\nthree"
    reported = render(report, "csv")
    assert "one two three" in reported
    assert len(list(csv.reader(io.StringIO(reported)))) == len(reported.splitlines())


@given(WORDS)
def test_plain_is_printable_ascii(text: str) -> None:
    assert plain(text).isascii()
    assert plain(text) == "" or plain(text).isprintable()


# ministat


def test_ministats_own_example() -> None:
    """From its manual: iguana and chameleon, no difference proven."""
    iguana, chameleon = [50, 200, 150, 400, 750, 400, 150], [150, 400, 720, 500, 930]
    assert ministat.table_row("x", iguana).split() == [
        *("x", "7", "50", "750", "200", "300", "238.0476"),
    ]
    assert ministat.table_row("+", chameleon).split() == [
        *("+", "5", "150", "930", "500", "540", "299.0819"),
    ]
    assert len(ministat.TITLE) <= WIDTH and len(ministat.table_row("x", iguana)) <= WIDTH
    drawn = ministat.plot([("x", iguana), ("+", chameleon)])
    assert {len(line) for line in drawn} == {WIDTH}
    dots = "".join(drawn[1:-3])
    # 150 and 400 are in both; the second 150 and 400 of iguana stand above.
    assert (dots.count("@"), dots.count("x"), dots.count("+")) == (2, 5, 3)
    assert [line.count("A") for line in drawn[-3:-1]] == [1, 1]


def test_ministats_difference_is_students_t() -> None:
    """By hand: means 10 and 20, variance 2.5 each, n = 5, t(8) = 2.306004."""
    report = wall()
    (table,) = report.tables
    for name, base in (("rwsem", 10), ("srcu", 20), ("srcu-expedited", 10.5)):
        one = table.of("ops_per_s", name)
        assert one is not None
        one.samples = [base - 2.0, base - 1.0, float(base), base + 1.0, base + 2.0]
    judged(table, report)
    text = render(report, "ministat")
    assert "Difference at 95.0% confidence (srcu)\n        10 +/- 2.306\n" in text
    assert "        100% +/- 23.06%\n        (Student's t, pooled s = 1.58114)\n" in text
    assert text.count("No difference proven at 95.0% confidence") == 1


# machine formats


def test_every_key_of_the_json_is_documented() -> None:
    for make in REPORTS.values():
        tree = json.loads(render(make(), "json"))
        keys = set(tree)
        for part in ("rows", "comparisons"):
            keys |= {f"{part}.{key}" for row in tree[part] for key in row}
        assert keys == set(machine.KEYS)


def test_the_json_has_the_headline_first() -> None:
    tree = json.loads(render(wall(), "json"))
    assert tree["schema_version"] == machine.SCHEMA_VERSION
    assert tree["comparisons"][0]["metric"] == tree["rows"][0]["metric"] == "ops_per_s"
    assert tree["verdict"] == "no difference proven"  # of the last arm
    assert tree["comparisons"][0]["verdict"] == "lower"
    swept = json.loads(render(count(), "json"))
    assert swept["ratio"] == pytest.approx(1.2 / 12.1)
    assert swept["verdict"] == "deterministic"
    assert [row["params"]["n"] for row in swept["rows"][::4]] == [200, 400, 800] * 2
    assert len(swept["rows"]) == 6 * 4  # metrics and arms
    assert {row["shift"] for row in swept["rows"]} == {0, 3}
    gone = json.loads(render(Report("l", "t", "q", (), {}, "", ""), "json"))
    assert gone["rows"] == [] and gone["verdict"] is None


@pytest.mark.parametrize("how", FORMATS)
def test_an_empty_report_can_be_reported(how: str) -> None:
    assert render(Report("l", "t", "q", (), {}, "./duet measure l", "now"), how)
