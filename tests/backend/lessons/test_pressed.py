# SPDX-License-Identifier: GPL-2.0-or-later
"""Lesson 04's fio in a guest that is short of memory: nobody asks for a scan but reclaim."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from duet.lessons.load import load
from duet.lessons.plan import plan_text
from duet.measure.plan import MeasurePlan, metrics_of, probes_for

SLUG = "04-extent-shrinker"
SCRIPT = f"lessons/{SLUG}/workload/pressed-fio.sh"
OF_KNOWN_EXTENTS = {"scan_mean_us", "scan_max_us", "us_per_freed", "freed", "slab_bytes"}


def pressed(workload: str = "pressed") -> MeasurePlan:
    folder = load(SLUG)
    params = folder.check_params({}, "count")
    return MeasurePlan(folder, ("stock", "scan-2013"), workload, "count", params, 1)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ([], "usage: pressed-fio ROOM_MB fio ARGUMENTS..."),
        (["much", "fio"], "usage: pressed-fio ROOM_MB fio ARGUMENTS..."),
        (["128"], "usage: pressed-fio ROOM_MB fio ARGUMENTS..."),
        (["4", "fio"], "fio and the kernel need 48 MB, not 4."),
    ],
)
def test_what_it_cannot_do_is_a_sentence(root: Path, words: list[str], sentence: str) -> None:
    done = subprocess.run(["sh", root / SCRIPT, *words], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (1, f"pressed-fio: {sentence}\n")


def test_nobody_asks_for_a_scan_and_little_may_be_dirty(root: Path) -> None:
    """No file of the shrinker in debugfs, and no share of memory: bytes; the mail's hack is on."""
    text = plan_text(pressed().lesson, "stock", "pressed", pressed().params, {}, traced=False)
    assert "/debug/" not in text and "ratio" not in text and "commit=" not in text
    assert "write /proc/sys/vm/dirty_bytes 16777216" in text
    assert "write /sys/module/ext4/parameters/es_never_merge 1" in text
    assert "shrinker/" not in (root / SCRIPT).read_text()


def test_its_numbers_are_its_own() -> None:
    """Numbers that `extents` prints are none of its, and its own are none of the others'."""
    plan = pressed()
    mine, others = metrics_of(plan, "stock"), metrics_of(pressed("fio"), "stock")
    assert not OF_KNOWN_EXTENTS & {*mine} and {*others} >= OF_KNOWN_EXTENTS
    assert {"took_mean_us", "looked_at", "freed_by_events", "fio_p99_us"} <= {*mine}
    assert not {"took_mean_us", "fio_p99_us"} & {*others}
    assert {"scan_enter", "scan_exit", "scanned", "insert", "delay"} <= probes_for(plan, "stock")


def test_probes_for_numbers_are_off_in_runs_that_are_looked_at() -> None:
    lesson = load(SLUG).lesson
    for workload in lesson.workloads:
        text = plan_text(lesson, "stock", workload, load(SLUG).check_params({}, "count"), {})
        assert "ext4_es_insert_delayed_block" not in text and "kswapd0" not in text
