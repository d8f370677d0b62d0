# SPDX-License-Identifier: GPL-2.0-or-later
"""The recording that fits a step is the one that the page would choose: its own code is asked."""

from __future__ import annotations

import json
import random
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from duet.lessons.load import LessonFolder, load, slugs
from duet.lessons.view import lesson_tree
from duet.runs.fitting import best_recording
from duet.server.recordings import LessonRecordings

ASK = """
import { readFileSync } from 'node:fs';
import { transformWithOxc } from 'vite';
const name = 'src/derive/recording.ts';
const { code } = await transformWithOxc(readFileSync(name, 'utf8'), name);
const { bestRecording } = await import('data:text/javascript,' + encodeURIComponent(code));
const lessons = JSON.parse(await new Response(process.stdin).text());
const chosen = lessons.map((l) => l.scenes.map((s) => bestRecording(l, s)?.name ?? null));
console.log(JSON.stringify(chosen));
"""


def page_chooses(root: Path, trees: list[dict[str, Any]]) -> list[list[str | None]]:
    """As frontend/src/derive/recording.ts does."""
    reported = subprocess.run(
        ["node", "--input-type=module", "-e", ASK],
        cwd=root / "frontend",
        input=json.dumps(trees),
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert reported.returncode == 0, reported.stderr
    found: list[list[str | None]] = json.loads(reported.stdout)
    return found


def others(folder: LessonFolder, own: list[Any], dice: random.Random) -> list[Any]:
    """Recordings that nobody made: other knobs, lanes, clocks and workloads."""
    knobs = {name: [p.default, p.default + 1, 3, 50] for name, p in folder.lesson.params.items()}
    made = []
    for number in range(6):
        entry = dice.choice(own)
        made.append(
            {
                **entry,
                "name": f"made-{number}",
                "params": {name: dice.choice(values) for name, values in knobs.items()},
                "arms": entry["arms"] if number % 2 else entry["arms"][:1],
                "clock": dice.choice(("wall", "count")),
                "workload": dice.choice((entry["workload"], None, "another")),
            }
        )
    # The same ones on the other clock come first.
    other = {"wall": "count", "count": "wall"}
    same = [{**e, "name": f"{e['name']}-other-clock", "clock": other[e["clock"]]} for e in made]
    return same + made


def test_each_step_of_each_lesson_gets_the_recording_of_the_page(root: Path) -> None:
    if shutil.which("node") is None or not (root / "frontend/node_modules/vite").exists():
        pytest.skip("node or the page's tools are missing: setup.sh page")
    recordings = LessonRecordings()
    trees, ours, dice = [], [], random.Random(7)
    for folder in map(load, slugs()):
        own = recordings.listing(folder.slug)
        # As they are, none, and others that fit more or less in each way.
        for listing in (own, [], *(others(folder, own, dice) for _ in range(20))):
            trees.append(lesson_tree(folder, listing, {}))
            ours.append([best_recording(folder, s, listing) for s in folder.lesson.scenes])
    assert page_chooses(root, trees) == ours
    assert len({name for names in ours for name in names}) > 10
