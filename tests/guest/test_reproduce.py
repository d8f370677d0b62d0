# SPDX-License-Identifier: GPL-2.0-or-later
"""`duet reproduce` runs a small recording again, and the claims about its very knobs hold."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from duet.bundle import open_bundle

pytestmark = pytest.mark.guest

SLUG = "01-shrinker-bitmaps"


def duet(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "duet", *arguments], capture_output=True, text=True, timeout=500
    )


@pytest.mark.timeout(1100)
@pytest.mark.nightly  # 100 s; test_record_all records one again
def test_a_recording_of_the_count_clock_is_reproduced(
    images_of: Callable[[str], Any], tmp_path: Path
) -> None:
    images_of(SLUG)
    first, again = tmp_path / "first.duet", tmp_path / "again.duet"
    done = duet("record", SLUG, "--set", "n=200", "--out", str(first), "--json")
    assert done.returncode == 0, done.stderr
    done = duet("reproduce", str(first), "--out", str(again), "--json")
    assert done.returncode == 0, done.stderr
    tree = json.loads(done.stdout)
    assert tree["differences"] == []
    assert tree["holds"] is True
    assert len(tree["claims"]) >= 3
    assert all(claim["holds"] and not claim["own_knobs"] for claim in tree["claims"])
    assert "still hold, on the same kernels" in tree["verdict"]
    rows = {(row["arm"], row["figure"]): row for row in tree["figures"]}
    assert rows["before", "tallies.visits_last"]["ratio"] == 1
    # The host empties the trace while the guest runs, and what the guest does for that is in some
    # figures: 7 % of the bits on a busy host. A figure of another run or arm is far outside.
    far = {key: r["ratio"] for key, r in rows.items() if r["ratio"] and not 0.8 < r["ratio"] < 1.25}
    assert far == {}
    assert tree["recording"] == str(again)
    one, other = (open_bundle(path).manifest for path in (first, again))
    assert (one.seed, one.shift, one.window_ms) == (other.seed, other.shift, other.window_ms)
