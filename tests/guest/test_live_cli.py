# SPDX-License-Identifier: GPL-2.0-or-later
"""`duet build`, `run` and `record` on real kernels."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from duet.bundle import open_bundle
from duet.lessons.load import load

pytestmark = [pytest.mark.guest, pytest.mark.alone]

SLUG = "02-grace-periods"
KEYS = {"arm", "ops", "ops_per_s", "wait_ns", "cycles", "events_read", "events_lost"}


def duet(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "duet", *arguments], capture_output=True, text=True, timeout=240
    )


def cpu_s(*command: str) -> float:
    """CPU seconds of a process and its children; the least of five, since hosts have other work."""
    took = []
    for _ in range(5):
        began = sum(os.times()[2:4])
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, timeout=60)
        took.append(sum(os.times()[2:4]) - began)
    return min(took)


def test_build_with_nothing_to_do_takes_little_more_than_its_imports(kernel_images: Any) -> None:
    """It takes 0.5 s of CPU time on a quiet host, 4 to 6 times that of the imports."""
    done = duet("build", "--json")
    assert (done.returncode, json.loads(done.stdout)["built"]) == (0, 0)
    imports = (sys.executable, "-c", "import typer, pydantic, yaml")
    builds = (sys.executable, "-m", "duet", "build", "--json")
    # Of each the least of three, since a busy host makes any of them long.
    least = [min(cpu_s(*words) for _ in range(3)) for words in (imports, builds)]
    assert least[1] < 9 * least[0], least


def test_run_prints_the_documented_keys(kernel_images: Any) -> None:
    done = duet(
        "run", SLUG, "--arms", "rwsem,srcu", "--set", "hogs=9", "--set", "seconds=1",
        "--repeats", "1", "--json",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    arms = {row["arm"]: row for row in json.loads(done.stdout)["arms"]}
    assert list(arms) == ["rwsem", "srcu"]
    for row in arms.values():
        assert set(row) >= KEYS
        assert row["ops"] > 0 and row["events_read"] > 0 and row["events_lost"] == 0
    assert set(arms["srcu"]["wait_ns"]) >= {"p50", "p95", "max"}
    assert arms["srcu"]["wait_ns"]["p50"] > arms["rwsem"]["wait_ns"]["p50"]
    assert arms["srcu"]["cycles"] > 0
    assert arms["rwsem"]["cycles"] == 0
    assert "run 1 of 4" in done.stderr


def test_record_makes_a_small_bundle_of_every_arm(kernel_images: Any, tmp_path: Path) -> None:
    out = tmp_path / "one.duet"
    done = duet(
        "record", SLUG, "--set", "seconds=1", "--window-ms", "200", "--out", str(out), "--json"
    )
    assert done.returncode == 0, done.stderr
    tree = json.loads(done.stdout)
    assert tree["bytes"] == out.stat().st_size < 1_000_000
    bundle = open_bundle(out)
    assert tuple(entry.name for entry in bundle.manifest.arms) == load(SLUG).usual_arms
    assert bundle.manifest.host["lanes"] == "one after another"
    assert all(entry.loss["events"] == 0 for entry in bundle.manifest.arms)


def test_a_deep_doctor_boots_copies_and_builds(kernel_images: Any) -> None:
    done = duet("doctor", "--deep", "--json")
    tree = json.loads(done.stdout)
    found = {check["name"]: check for check in tree["checks"]}
    assert done.returncode == (0 if tree["ok"] else 3)
    assert found["a guest"]["status"] == "ok", found["a guest"]
    assert re.search(r"came after \d+\.\d s", found["a guest"]["found"])
    assert re.search(r"came after \d+ ms|lane boots", found["a copy"]["found"]), found["a copy"]
    assert found["own namespaces"]["status"] == found["namespaces"]["status"]
    assert found["own budget"]["status"] == found["lane budgets"]["status"]
    assert "% of the time" in found["host CPUs"]["found"]
    assert "MiB/s" in found["disk speed"]["found"]


def test_a_selftest_tries_guests_clock_xray_and_a_measurement() -> None:
    done = duet("selftest", "01-shrinker-bitmaps", "--json")
    result = json.loads(done.stdout)
    steps = {step["name"]: step for step in result["steps"]}
    assert {"1 vCPUs", "clock", "x-ray", "measurement"} <= steps.keys()
    assert done.returncode == 0 and result["ok"], result
    assert "0 failed" in steps["x-ray"]["found"] and result["file"] == ""
