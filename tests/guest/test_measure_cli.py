# SPDX-License-Identifier: GPL-2.0-or-later
"""`duet measure` on real kernels: keys, a verdict, the same twice, and an end by Ctrl-C."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from typing import Any

import psutil
import pytest

from duet.lessons.load import load
from duet.measure import MeasurePlan
from tests.support.live_measure import measured, value
from tests.support.processes import wait_for_guests

pytestmark = pytest.mark.guest

SLUG = "02-grace-periods"
COMMAND = [
    *(sys.executable, "-m", "duet", "measure", SLUG, "--arms", "rwsem,srcu"),
    *("--set", "hogs=9", "--set", "seconds=1", "--json"),
]
COUNT = [*COMMAND, "--clock", "count", "--shift", "3"]
ROW = {"arm", "metric", "unit", "better", "median", "mean", "ci", "n", "clock", "shift"}
LIMIT_S = 500.0


@pytest.mark.timeout(1100)
def test_count_clock_gives_keys_a_verdict_and_the_same_twice(kernel_images: Any) -> None:
    began = time.monotonic()
    done = subprocess.run(COUNT, capture_output=True, text=True, timeout=LIMIT_S)
    assert done.returncode == 0, done.stderr
    tree, reported = json.loads(done.stdout), done.stderr
    took = time.monotonic() - began
    assert (tree["verdict"], tree["partial"], tree["clock"]) == ("deterministic", None, "count")
    assert tree["ratio"] < 0.5
    rows = {row["arm"]: row for row in tree["rows"] if row["metric"] == "ops_per_s"}
    assert list(rows) == ["rwsem", "srcu"]
    for row in rows.values():
        assert set(row) >= ROW | {"evidence", "samples", "perturbed", "refused"}
        assert (row["n"], row["shift"], row["ci"], row["evidence"]) == (2, 3, None, "counted")
        assert len(row["perturbed"]) == 3
    sentence = tree["comparisons"][0]["sentence"]
    assert "2 equal runs at 8 ns per instruction" in sentence
    assert "run 10 of 10" in reported and "left)" in reported
    folder = load(SLUG)
    params = folder.check_params({"hogs": 9, "seconds": 1}, "count")
    metrics = frozenset({"ops_per_s"})
    plan = MeasurePlan(
        folder, tuple(rows), "storm", "count", params, 1, shifts=(3,), metrics=metrics
    )
    (again,) = measured(plan)
    for arm, row in rows.items():
        assert value(again, "ops_per_s", arm) == pytest.approx(row["samples"][0], rel=0.01)
    print(f"{took:.0f} s; {sentence}")


@pytest.mark.timeout(300)
@pytest.mark.parametrize(
    ("number", "clock", "how"),
    [
        pytest.param(signal.SIGINT, "wall", "mail", marks=pytest.mark.alone),
        (signal.SIGTERM, "count", "json"),
    ],
)
def test_interrupted_in_the_middle_it_tells_what_it_has_and_leaves_no_guest(
    kernel_images: Any, number: signal.Signals, clock: str, how: str
) -> None:
    words = [w for w in COMMAND if w != "--json"]
    words += ["--format", how, "--clock", clock, "--repeats", "20"]
    with subprocess.Popen(
        words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stderr and process.stdout
            assert any(line.startswith("run 4 of") for line in process.stderr)
            guests = wait_for_guests(process.pid)
            os.kill(process.pid, number)
            time.sleep(0.2)
            os.kill(process.pid, number)  # timeout(1) sends two; they count as one request
            process.stderr.read()
            text = process.stdout.read()
            assert process.wait(240) == 130
        finally:
            process.kill()
    if how == "json":
        tree = json.loads(text)
        assert tree["partial"].startswith("interrupted after ")
        done = sum(row["n"] for row in tree["rows"] if row["metric"] == "ops_per_s")
        assert all(c["sentence"] for c in tree["comparisons"])
    else:
        assert text.startswith("!! PARTIAL: interrupted after ")
        few = re.search(r"(\d+) runs?\s+gives?\s+no\s+verdict", text)
        rows = [line.split() for line in text.splitlines() if line.startswith("  rwsem  ")]
        done = int(few[1] if few else rows[0][1])
        assert "| storm: hogs=9 " in text
        assert "Reproduce:\n  ./duet measure" in text
    assert done >= 1
    gone, alive = psutil.wait_procs(guests, timeout=60)
    assert not alive and gone


def test_an_arm_whose_kernel_is_not_there_is_named(kernel_images: Any, tmp_path: Any) -> None:
    done = subprocess.run(
        COUNT, capture_output=True, text=True, timeout=60,
        env={**os.environ, "DUET_CACHE": str(tmp_path)},
    )  # fmt: skip
    assert done.returncode != 0
    assert json.loads(done.stdout)["error"]["remedy"]
