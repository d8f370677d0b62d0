# SPDX-License-Identifier: GPL-2.0-or-later
"""`bench speed`: the instrument, history and page; decode and reduce in their smoke form."""

from __future__ import annotations

import ctypes
import json
import re
import sqlite3
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import cast

import numpy as np
import pytest
from typer.main import get_group

from duet.base.errors import InfraError, InputError
from duet.base.native import compiled, load_library
from duet.cli.entry import main
from duet.cli.keys import from_tree
from duet.decode import Decoder
from duet.export.perfetto import perfetto_protos
from tests.support import ring
from tests.support.ring import SWITCH, WAKING, CpuBuffer
from tools.bench.__main__ import bench as program
from tools.bench.speed import decode, history, pages, perfetto, reduce, report
from tools.bench.speed.capture import capture
from tools.bench.speed.curves import Curve, curves_of, exponent, picture
from tools.bench.speed.page import page, write_page
from tools.bench.speed.pairs import (
    Bench,
    DifferentResultsError,
    Figure,
    Point,
    Result,
    Row,
    Side,
    Skipped,
    Stage,
    Turn,
    compare,
    measured,
    quartiles,
    row_of,
)
from tools.bench.speed.results import Machine, SpeedResult, StageResult

BENCH = Bench(True, Path())
ROW = Row(
    "decode", "9 events", "a loop", 3, "cpu", 0.8, 0.7, 0.9, 0.2, 0.1, 0.16, 0.08, 9, "events", 0.5
)
MACHINE = Machine({"cpu": "One", "cpus": "2", "memory_mib": "2048"}, {"trace-cmd": "3.1"}, "0.1")


def stage(name: str, *results: Result | Exception) -> Stage:
    def run(bench: Bench) -> Iterator[Result]:
        for one in results:
            if isinstance(one, Exception):
                raise one
            yield one

    return Stage(name, f"what {name} does", run, 10)


def silent(_: str) -> None:
    pass


def side(name: str, costs: list[float], output: object = 1, log: list[str] | None = None) -> Side:
    left = iter(costs)

    def run() -> Turn:
        if log is not None:
            log.append(name)
        cost = next(left)
        return Turn(10 * cost, cost, output)

    return Side(name, run)


def result_of(*stages: StageResult) -> SpeedResult:
    return SpeedResult(False, 3.0, MACHINE, stages, ())


def of(name: str, *results: Result) -> StageResult:
    made = StageResult(name, f"what {name} does", "2026-11-30", 0.5)
    for one in results:
        made.add(one)
    return made


# Pairs.


def test_both_sides_run_in_turns_and_the_ratio_is_the_median_of_the_pairs() -> None:
    log: list[str] = []
    ours, peer = side("A", [9, 1, 2, 4], log=log), side("B", [9, 3, 4, 20], log=log)
    row = compare(BENCH, "s", "c", ours, peer, work=8, unit="events", target=2.5)
    assert log == list("AB" * 4)
    assert (row.pairs, row.ratio, row.low, row.high) == (3, 3.0, 2.5, 4.0)
    assert (row.cpu_s, row.peer_cpu_s, row.wall_s, row.peer_wall_s) == (2, 4, 20, 40)
    assert row.met


def test_a_ratio_may_be_of_wall_time() -> None:
    mine, theirs = [Turn(1.0, 5.0)], [Turn(2.0, 5.0)]
    row = row_of("s", "c", "p", mine, theirs, work=1, unit="runs", clock="wall", target=3)
    assert row.ratio == 2.0 and row.met is False


def test_sides_that_differ_are_no_comparison() -> None:
    log: list[str] = []
    ours, peer = side("ours", [1] * 4, {"a": 1}, log), side("a loop", [1] * 4, {"a": 2}, log)
    differ = r"ours gave \{'a': 1\}, but a loop gave \{'a': 2\}"
    with pytest.raises(DifferentResultsError, match=differ):
        compare(BENCH, "s", "c", ours, peer, work=1, unit="events")
    assert log == ["ours", "a loop"]


def test_quartiles() -> None:
    assert quartiles([5.0]) == (5.0, 5.0, 5.0)
    assert quartiles([4.0, 1.0, 2.0, 3.0, 5.0]) == (2.0, 3.0, 4.0)


def test_a_turn_has_the_time_of_this_process_and_its_children() -> None:
    words = [sys.executable, "-c", "sum(range(3_000_000))"]
    turn = measured(lambda: subprocess.run(words, check=True).returncode)
    assert turn.output == 0 and 0.01 < turn.cpu_s < 100 and turn.wall_s > 0


# The stages are found and run.


def test_stages_are_found_by_looking() -> None:
    found = report.stages()
    names = [one.name for one in found]
    assert names[:2] == ["decode", "reduce"] and len(set(names)) == len(names)
    assert [one.order for one in found] == sorted(one.order for one in found)
    with pytest.raises(InputError, match="no stage 'decoed'"):
        report.chosen(["decoed"])


def test_results_are_printed_as_they_are_ready() -> None:
    said: list[str] = []
    made = report.run_stage(stage("decode", ROW, Skipped("decode", "x", "y.")), True, said.append)
    assert list(made.rows) == [ROW] and list(made.skipped) == [Skipped("decode", "x", "y.")]
    assert said[1].startswith("decode: 9 events, beside a loop: ratio 0.80 (0.70 to 0.90, cpu)")
    assert said[2] == "decode: skipped x: y."


def test_a_host_that_lacks_something_skips_the_rest_of_a_stage() -> None:
    error = InfraError("no kernel is built.", remedy="Build one.")
    made = report.run_stage(stage("decode", ROW, error), True, silent)
    assert len(made.rows) == 1 and not made.failed
    assert made.skipped[0].why == "No kernel is built. Build one."


@pytest.mark.parametrize("error", [DifferentResultsError("A gave 1, but B 2."), OSError("gone")])
def test_a_stage_that_fails_does_not_end_the_others(
    error: Exception, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    both = [stage("decode", error), stage("reduce", ROW)]
    monkeypatch.setattr(report, "stages", lambda: both)
    code = report.speed([], smoke=True, check=False, store=False, write=None, js=False)
    printed = capsys.readouterr()
    assert code == 1 and str(error) in printed.err
    assert "reduce: 9 events, beside a loop" in printed.out


def test_the_report_and_json(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    figure = Figure("decode", "rate", 3.25, "M events/s", 5.0, most=False, note="Loaded.")
    monkeypatch.setattr(report, "stages", lambda: [stage("decode", ROW, figure)])
    assert report.speed([], smoke=True, check=False, store=False, write=None, js=False) == 0
    text = capsys.readouterr().out
    assert re.search(r"9 events +a loop +0\.80 +0\.70 to 0\.90 +cpu +100 ms +200 ms", text)
    assert re.search(r"90 events +112 +at least 0\.5: met", text)
    assert re.search(r"decode +rate +at least 5 M events/s +3\.25 M events/s +MISSED by 35 %", text)
    assert report.speed([], smoke=True, check=False, store=False, write=None, js=True) == 0
    tree = json.loads(capsys.readouterr().out)
    assert tree["stages"][0]["rows"][0]["ratio"] == 0.8
    assert tree["machine"]["versions"]["Python"]


def test_every_option_is_in_the_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["speed", "--help"], get_group(program), "python -m tools.bench") == 0
    text = capsys.readouterr().out
    assert all(word in text for word in ("--smoke", "--check", "--store", "--write", "--json"))
    assert main(["speed", "--check"], get_group(program), "python -m tools.bench") == 2


# The history.


def test_a_ratio_that_falls_by_a_quarter_is_found() -> None:
    stored = {"decode": {"9 events, beside a loop": 0.8, "9 events, beside b": 4.0}}
    found = {"9 events, beside a loop": 0.61, "9 events, beside b": 3.1}
    assert history.fallen("decode", found, False, stored) == ""
    found["9 events, beside a loop"] = 0.59
    assert history.fallen("decode", found, False, stored) == (
        "decode lost more than a quarter of its ratio "
        "(9 events, beside a loop: ratio 0.59, stored 0.80)."
    )
    assert history.fallen("reduce", {}, False, stored) == ""


def test_a_comparison_that_is_gone_is_found_unless_it_was_skipped() -> None:
    stored = {"decode": {"9 events, beside a loop": 0.8}}
    assert "no such comparison" in history.fallen("decode", {}, False, stored)
    assert history.fallen("decode", {}, True, stored) == ""


@pytest.mark.parametrize(("second", "code"), [(0.7, 0), (0.3, 1)])
def test_a_stage_whose_ratio_fell_runs_once_more(
    second: float, code: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    ratios = iter([0.4, second])
    runs: list[float] = []

    def run(bench: Bench) -> Iterator[Result]:
        runs.append(ratio := next(ratios))
        yield replace(ROW, ratio=ratio, high=ratio)

    file = tmp_path / "ratios.json"
    history.store([[of("decode", ROW)]], file)
    monkeypatch.setattr(history, "FILE", file)
    monkeypatch.setattr(report, "stages", lambda: [Stage("decode", "", run, 10)])
    assert report.speed([], smoke=True, check=True, store=False, write=None, js=False) == code
    assert runs == [0.4, second]
    assert ("ratio 0.40, stored 0.70" in capsys.readouterr().err) == bool(code)


def test_the_lowest_ratios_of_several_runs_are_stored(tmp_path: Path) -> None:
    file = tmp_path / "ratios.json"
    history.store([[of("open", replace(ROW, stage="open"))]], file)
    history.store([[of("decode", replace(ROW, low=low))] for low in (3.0, 1.2345, 2.0)], file)
    assert history.read(file) == {
        "decode": {"9 events, beside a loop": 1.23},
        "open": {"9 events, beside a loop": 0.7},
    }
    assert history.read(tmp_path / "none.json") == {}


# Curves and the page.


def points(costs: Callable[[float], float]) -> list[Point]:
    sizes = (1e6, 2e6, 4e6, 16e6)
    return [Point("decode", "decode: a & b", x, "events", costs(x), "s of CPU") for x in sizes]


@pytest.mark.parametrize(
    ("power", "words"),
    [
        (0.0, "events^0.00: constant"),
        (0.5, "events^0.50: less than linear"),
        (1.02, "events^1.02: linear"),
        (2.0, "events^2.00: worse than linear"),
    ],
)
def test_the_growth_of_a_curve_is_named(power: float, words: str) -> None:
    (curve,) = curves_of(points(lambda x: 3e-7 * x**power))
    assert curve.growth == f"grows as {words}"


def test_one_size_has_no_growth() -> None:
    assert exponent([(5, 1.0), (5, 2.0)]) is None
    assert "too few" in Curve("c", tuple(points(float)[:1])).growth


def test_a_picture_is_an_svg_with_all_points_inside() -> None:
    (curve,) = curves_of(points(lambda x: 1e-7 * x))
    tree = ET.fromstring(picture(curve))
    dots = tree.findall("{http://www.w3.org/2000/svg}circle")
    assert len(dots) == 4
    places = [(float(dot.attrib["cx"]), float(dot.attrib["cy"])) for dot in dots]
    assert all(60 < x <= 560 and 40 <= y < 290 for x, y in places)
    steps = {round((b[1] - a[1]) / (b[0] - a[0]), 2) for a, b in pairwise(places)}
    assert len(steps) == 1, "a linear cost is a straight line"
    assert "prefers-color-scheme: dark" in picture(curve)


def test_the_page_and_its_pictures_are_written(tmp_path: Path) -> None:
    path = tmp_path / "SPEED.md"
    (tmp_path / "images/speed").mkdir(parents=True)
    old = tmp_path / "images/speed/old.svg"
    old.write_text("")
    skipped = Skipped("decode", "9 events, beside x", "Install it.")
    write_page(path, result_of(of("decode", ROW, skipped, *points(float))), ["decode", "reduce"])
    text = path.read_text()
    assert "| decode | 9 events, beside a loop | at least 0.5 | 0.80 | met |" in text
    assert "- Skipped: 9 events, beside x. Install it." in text
    assert "**decode: a & b**: grows as events^1.00: linear." in text
    assert "](images/speed/decode-a-b.svg)" in text
    assert (tmp_path / "images/speed/decode-a-b.svg").is_file() and not old.exists()
    write_page(path, result_of(of("reduce", ROW)), ["decode", "reduce"])
    assert path.read_text().index("## decode") < path.read_text().index("## reduce")


def test_figures_of_another_machine_leave_the_page(tmp_path: Path) -> None:
    path = tmp_path / "SPEED.md"
    write_page(path, result_of(of("decode", ROW)), ["decode", "reduce"])
    other = Machine({**MACHINE.host, "cpus": "64"}, {}, "0.1")
    write_page(path, SpeedResult(False, 1, other, [of("reduce", ROW)], ()), ["decode", "reduce"])
    assert "## reduce" in path.read_text() and "## decode" not in path.read_text()


def test_a_smoke_run_is_not_for_the_page(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="too short for the page"):
        write_page(tmp_path / "x.md", SpeedResult(True, 1, MACHINE, [], ()), [])


def test_the_committed_page_is_what_its_numbers_give(root: Path) -> None:
    tree = json.loads((root / "docs/SPEED.json").read_text())
    assert (root / "docs/SPEED.md").read_text() == page(from_tree(SpeedResult, tree))


# Pages of a capture.


def ring_pages(events: int) -> tuple[dict[str, bytes], bytes]:
    buffer = CpuBuffer()
    for index in range(events):
        record = (SWITCH.pack(9, "storm-0", 9, 120, 2, "swapper/0", 0, 120), WAKING.pack(
            9, "storm-1", 10, 120, 1))[index % 2]  # fmt: skip
        buffer.add(1000 * index, record)
    return ring.files(SWITCH, WAKING), buffer.take()


def test_python_and_kbuffer_read_what_the_decoder_reads() -> None:
    files, blob = ring_pages(500)
    columns = Decoder(files).decode(0, blob)
    ids = {event.name: event.id for event in Decoder(files).events}
    wanted = {ids[name]: len(table) for name, table in columns.tables.items()}
    times = sum(int(table.ts_ns.sum()) for table in columns.tables.values())
    found: dict[int, int] = {}
    assert sum(decode.read_page(blob, at, found) for at in range(0, len(blob), 4096)) == times
    assert found == wanted
    library = load_library(compiled(decode.SOURCE, "libtraceevent"), decode.SIGNATURES)
    counts = (ctypes.c_uint64 * decode.IDS)()
    assert library.kbuffer_loop(blob, len(blob) // 4096, 4096, counts) == times
    assert {number: count for number, count in enumerate(counts) if count} == wanted


def test_moved_pages_keep_absolute_times_in_step() -> None:
    _, blob = ring_pages(200)
    part = np.frombuffer(blob, np.uint8).reshape(-1, 4096).copy()
    words = part[0].view(np.uint32)
    begin = int(pages.times_of(part)[0])
    stamp = begin + 5
    # A record with an absolute time instead of the first event.
    words[4] = (stamp & ((1 << 27) - 1)) << 5 | pages.TIME_STAMP
    words[5] = stamp >> 27
    at = list(pages._stamps(part[:1]))
    moved = pages._moved(part[:1], at[:1], 1 << 40)
    low, high = moved[0].view(np.uint32)[4:6].tolist()
    assert at[0] == 16 and (low >> 5 | high << 27) == stamp + (1 << 40)
    assert int(pages.times_of(moved)[0]) == begin + (1 << 40)


# Perfetto's trace processor: what can be checked without it.


def smoke_lane(folder: Path) -> tuple[reduce.Lane, pages.LanePages]:
    made = capture(Bench(True, folder))
    whole = pages.lane_pages(made)
    return reduce.Lane.of(made, whole), whole


def test_a_perfetto_trace_has_all_events(tmp_path: Path) -> None:
    lane, whole = smoke_lane(tmp_path)
    begins = {one.opens: (f"function {n}", perfetto.BEGIN) for n, one in enumerate(lane.functions)}
    perfetto.write_trace(tmp_path / "x.pftrace", whole, begins)
    trace = perfetto_protos().Trace()
    trace.ParseFromString((tmp_path / "x.pftrace").read_bytes())
    events = [event for packet in trace.packet for event in packet.ftrace_events.event]
    assert len(events) == whole.events
    kinds = Counter(event.WhichOneof("event") for event in events)
    rows = reduce.tables_of(lane, whole, whole.blobs())
    assert kinds["sched_switch"] == len(rows.switches["ts"])
    assert kinds["sched_waking"] == len(rows.wakings["ts"])
    assert kinds["kprobe_event"] == int(rows.calls["opens"].sum())
    for packet in trace.packet:
        times = [event.timestamp for event in packet.ftrace_events.event]
        assert times == sorted(times)


def test_the_sql_for_perfetto_sums_up_its_tables() -> None:
    base = sqlite3.connect(":memory:")
    base.executescript("""
        create table thread (utid, tid); create table thread_track (id, utid);
        create table thread_state (ts, dur, utid, state);
        create table slice (ts, dur, track_id, name);
        insert into thread values (1, 41), (2, 42), (3, 41);
        insert into thread_track values (7, 2);
        insert into thread_state values (90, 20, 1, 'Running'), (110, 5, 1, 'R'),
            (115, 10, 3, 'Running'), (50, 10, 2, 'Running'), (130, -1, 2, 'Running');
        insert into slice values (95, 10, 7, 'function 3'), (120, 1, 7, 'function 3');
    """)
    found = set(base.execute(reduce.PERFETTO.format(100)))
    assert found == {("running", 41, 0, 20), ("function 3", 42, 2, 6)}


def test_a_program_that_is_missing_is_a_skipped_comparison(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(perfetto, "trace_processor", lambda: None)
    monkeypatch.setattr("shutil.which", lambda _: None)
    whole = cast(pages.LanePages, None)
    for made in (
        decode._beside_perfetto(BENCH, "9 events", whole),
        decode._beside_trace_cmd(BENCH, "9 events", whole, Path("x")),
    ):
        assert isinstance(made, Skipped) and "is not installed: " in made.why
        assert made.case.startswith("9 events, beside ")


# The stages that CI runs.


def test_decode_and_reduce_have_not_lost_their_ratio(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """`make bench ARGS='speed --smoke --store'` stores ratios.

    Other tests run at the same time, and take caches from decode more than from its peers. So this
    test allows a third of the ratio. On a machine of its own, `speed --smoke --check` allows 3/4.
    """
    monkeypatch.setattr(history, "KEPT_SHARE", 1 / 3)
    names = ["decode", "reduce"]
    code = report.speed(names, smoke=True, check=True, store=False, write=None, js=False)
    printed = capsys.readouterr()
    assert code == 0, printed.err
    assert "kbuffer's loop in C" in printed.out and "SQL in SQLite" in printed.out
