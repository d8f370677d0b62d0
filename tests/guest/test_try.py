# SPDX-License-Identifier: GPL-2.0-or-later
"""`duet try` from end to end: a patch, a folder of the host, events; then a lesson of it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from duet.base.settings import EXTRA_LESSONS, repo_root
from duet.lessons.load import load

pytestmark = [pytest.mark.guest, pytest.mark.timeout(600)]
PATCH = repo_root() / "tests/sixth/kernel-patches/06-pipe-herd/wake-all.patch"
ROUNDS = 8
RUN = f"""#!/bin/sh
i=0
while [ $i -lt {ROUNDS} ]; do
	./env echo x | ./env cat >/dev/null || exit 1
	i=$((i + 1))
done
"""


def test_a_patch_and_a_folder_become_two_lanes_a_report_and_a_lesson(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = tmp_path / "work"
    work.mkdir()
    shutil.copy("/usr/bin/env", work / "env")  # of this machine, with libraries of its own
    (work / "run.sh").write_text(RUN)
    (work / "run.sh").chmod(0o755)
    lesson = tmp_path / "mine" / "lessons" / "06-of-a-try"
    done = subprocess.run(
        [
            sys.executable, "-m", "duet", "try", str(PATCH), "--run", str(work),
            "--trace", "sched:sched_process_fork,probe:pipe_write(iocb=$arg1)",
            "--watch", "pipe_read,pipe_write", "--xray", "jiffies_64,runqueues.nr_switches",
            "--clock", "count", "--repeats", "2", "--save-lesson", str(lesson), "--json",
        ],
        env={**os.environ, "DUET_TRIALS": str(tmp_path / "trials")},
        capture_output=True, text=True, timeout=500, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:] + done.stdout
    result = json.loads(done.stdout)
    assert [arm["arm"] for arm in result["arms"]] == ["stock", "wake-all"]
    assert result["functions"] == ["pipe_read"] and result["left_out"] == []
    assert result["events"] == ["sched/sched_process_fork", "duet/pipe_write"]
    assert result["variables"] == ["jiffies_64", "runqueues.nr_switches"]
    assert all(0.1 < ms < 60_000 for ms in result["elapsed_ms"].values())
    inspect = subprocess.run(
        [sys.executable, "-m", "duet", "inspect", result["recording"], "--json"],
        env={**os.environ, EXTRA_LESSONS: result["folder"]},
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert inspect.returncode == 0, inspect.stderr
    lanes = {lane["name"]: lane for lane in json.loads(inspect.stdout)["lanes"]}
    assert lanes.keys() == {"stock", "wake-all"}
    for lane in lanes.values():
        seen = lane["events_by_type"]
        assert seen["duet/pipe_write"] >= ROUNDS and seen["duet/pipe_read"] >= ROUNDS
        assert seen["sched/sched_process_fork"] >= 2 * ROUNDS and not lane["loss"]["events"]
    measured = json.loads(Path(result["measured"]).read_text())
    assert "of the command" in json.dumps(measured)
    assert f"./duet try {PATCH} --run {work} --trace " in result["given"]
    short = measured["tables"][0]["command"]
    assert short.startswith(f"./duet try {Path(PATCH).name} --run ./{Path(work).name} --trace ")
    assert result["check"] == f"./duet check {PATCH} --run {work}"
    assert result["arms"][1]["made_of"][0]["sha256"]
    assert result["watched"] == ["pipe_read", "pipe_write"]
    assert result["shared"].keys() == {"stock", "wake-all"}
    for counts in result["shared"].values():  # a pipe's reader and writer meet on its lines
        assert counts["shared_writes"] + counts["shared_rmws"] > 0.5, counts
    monkeypatch.setenv(EXTRA_LESSONS, str(tmp_path / "mine"))
    saved = load("06-of-a-try")
    assert [point.fields for point in saved.lesson.points][1] == ("iocb",)
    assert saved.lesson.scenes[1].window_ms < 1000


def test_a_patch_that_does_not_apply_says_where(tmp_path: Path) -> None:
    patch = tmp_path / "stale.patch"
    patch.write_text(PATCH.read_text().replace("wait_event_interruptible_exclusive", "no_such"))
    done = subprocess.run(
        [sys.executable, "-m", "duet", "try", str(patch), "--run", "sleep 0", "--json"],
        env={**os.environ, "DUET_TRIALS": str(tmp_path / "trials")},
        capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 2, done.stderr
    error = json.loads(done.stdout)["error"]
    assert "stale" in error["sentence"] and "fs/pipe.c" in error["sentence"] + error["detail"]


def test_a_patch_of_documentation_makes_no_other_kernel(tmp_path: Path) -> None:
    patch = tmp_path / "words.patch"
    name = "Documentation/words.rst"
    patch.write_text(
        f"diff --git a/{name} b/{name}\nnew file mode 100644\n--- /dev/null\n+++ b/{name}\n"
        "@@ -0,0 +1 @@\n+Words.\n"
    )
    done = subprocess.run(
        [sys.executable, "-m", "duet", "try", str(patch), "--run", "sleep 0", "--json"],
        env={**os.environ, "DUET_TRIALS": str(tmp_path / "trials")},
        capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 2, done.stderr
    error = json.loads(done.stdout)["error"]
    assert error["code"] == "same-kernel" and f"{name} is not part of a kernel" in error["sentence"]
    assert "kernel 1 of" not in done.stderr, "nothing is built"
