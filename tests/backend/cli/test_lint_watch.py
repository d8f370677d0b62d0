# SPDX-License-Identifier: GPL-2.0-or-later
"""`duet lint --watch` as an author has it: a result at once, one after each change, then Ctrl-C."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

SLUG = "02-grace-periods"
GUARD_S = 120


def test_a_change_is_checked_and_ctrl_c_ends_it(tmp_path: Path, root: Path) -> None:
    ignored = shutil.ignore_patterns("recorded")
    for folder in (f"lessons/{SLUG}", f"kernel-patches/{SLUG}"):
        shutil.copytree(root / folder, tmp_path / folder, ignore=ignored)
    for name in ("backend/src", "frontend/src"):  # generic code has no word of a lesson
        (tmp_path / name).mkdir(parents=True)
    story = tmp_path / "lessons" / SLUG / "story.yaml"
    env = os.environ | {"DUET_ROOT": str(tmp_path)}
    words = [sys.executable, "-m", "duet", "lint", SLUG, "--watch", "--json"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True, env=env) as process:
        assert process.stdout is not None
        first = json.loads(process.stdout.readline())
        story.write_text(story.read_text().replace("sentence: wakes", "sentence: wakse"))
        second = json.loads(process.stdout.readline())
        process.send_signal(signal.SIGINT)
        try:
            assert process.wait(GUARD_S) == 130
        finally:
            process.kill()
    new = [one for one in second["problems"] if one not in first["problems"]]
    assert [one["key"] for one in new] == ["scenes[3].sentence"]
    assert (new[0]["file"], new[0]["lesson"]) == (f"lessons/{SLUG}/story.yaml", SLUG)
