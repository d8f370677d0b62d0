# SPDX-License-Identifier: GPL-2.0-or-later
"""The headline of a trial is the stressor that was asked for first, as stress-ng prints it."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from duet.trials.command import read_command
from duet.trials.write import headline, stressors
from tests.backend.trials.made import trial

KNOWN = frozenset({"stress-ng", "sh", "sleep", "taskset", "head", "env"})
pytestmark = pytest.mark.skipif(not shutil.which("stress-ng"), reason="there is no stress-ng")


@pytest.mark.parametrize(
    ("run", "asked"),
    [
        ("stress-ng --pipe 2 -t 2 --metrics-brief", ["pipe"]),
        ("stress-ng --taskset 0 --pipe 2 -t 2 --metrics", ["pipe"]),
        ("stress-ng --pipe-ops 100 --pipe 2 -t 2 --metrics", ["pipe"]),
        ("stress-ng --metrics --seed 5 --vm 1 --pipe 2 --vm-bytes 8m", ["vm", "pipe"]),
        ("stress-ng -c 1 -p2 -t 1 -M", ["cpu", "pipe"]),
        ("stress-ng --sem-sysv=1 --metrics", ["sem-sysv"]),
        ("FOO=1 taskset 1 stress-ng --pipe 1 --metrics | head", ["pipe"]),
        ("stress-ng --pipe 2 -t 2", []),
        ("stress-ng --sequential 1 --class pipe --metrics", []),
        ("sleep 1", []),
    ],
)
def test_the_stressors_of_a_line_are_found_in_order(run: str, asked: list[str]) -> None:
    assert stressors(run) == asked
    found = headline("", "", "higher", read_command(run, KNOWN))
    assert found is None if not asked else found and f"bogo ops of {asked[0]} " in found.title


def test_its_line_is_the_stressors_own() -> None:
    run = "stress-ng --pipe 1 --yield 1 --taskset 0 -t 1 --metrics"
    found = headline("", "", "higher", read_command(run, KNOWN))
    done = subprocess.run(run.split(), capture_output=True, text=True, check=True)
    assert found is not None
    rates = re.findall(found.line, done.stdout + done.stderr)
    (row,) = re.findall(r"\] pipe +(\d+ +\d.*)", done.stdout + done.stderr)
    assert rates == [row.split()[4]]


def test_a_trial_says_which_of_several_it_is(tmp_path: Path) -> None:
    assert trial(tmp_path).said == ()
    several = trial(tmp_path, run="stress-ng --taskset 0 --vm 1 --pipe 2 --metrics")
    assert several.headline is not None and "bogo ops of vm" in several.headline.title
    assert "the rate of vm, the first of 2 stressors" in several.said[0]
