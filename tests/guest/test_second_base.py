# SPDX-License-Identifier: GPL-2.0-or-later
"""A kernel of another base boots, runs the same workload, and is never called one patch away.

Skipped unless that kernel is built: ./duet build 02-grace-periods --arm today.
"""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest

from duet.kernels import KernelSettings
from duet.kernels.arms import ready_arms
from duet.lessons.load import load

pytestmark = [pytest.mark.guest, pytest.mark.alone]

SLUG = "02-grace-periods"


def test_an_arm_on_another_base_runs_beside_the_others(kernel_images: Any) -> None:
    if not ready_arms(load(SLUG), KernelSettings.default())["today"]:
        pytest.skip(f"7.3 is not built (./duet build {SLUG} --arm today)")
    done = subprocess.run(
        [
            sys.executable, "-m", "duet", "run", SLUG, "--arms", "rwsem,today",
            "--clock", "count", "--set", "hogs=2", "--set", "seconds=1", "--repeats", "1", "--json",
        ],
        capture_output=True, text=True, timeout=240, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert [row["arm"] for row in result["arms"]] == ["rwsem", "today"]
    assert all(row["ops"] > 0 and row["events_read"] > 0 for row in result["arms"])
    (warning,) = result["warnings"]
    assert warning.startswith("today is on 7.3, but rwsem on 6.1: these are different kernels")
