# SPDX-License-Identifier: GPL-2.0-or-later
"""Playing a recording gives the figures that it gave when it was made, exactly.

Recordings of format 1 kept none; theirs stand in figures.json, taken when format 2 came
(`python tests/replay/test_recorded_figures.py` writes it anew after a change that is meant).
"""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from pathlib import Path

import pytest

from duet.bundle import Bundle, Figures, Record, open_bundle
from duet.lessons import load as lessons
from duet.runs.replay import play, play_bundle, recorded_spec, records_source
from duet.settings import repo_root

KEPT = Path(__file__).with_name("figures.json")
RECORDINGS = {
    f"{folder.slug}/{path.stem}": path
    for folder in map(lessons.load, lessons.slugs())
    for path in folder.recordings()
}


def figures_of(bundle: Bundle) -> dict[str, Figures]:
    played = asyncio.run(play_bundle(lessons.load(bundle.manifest.lesson), bundle))
    found = {arm: played.figures(arm) for arm in played.lanes}
    return {arm: one for arm, one in found.items() if one is not None}


def wanted_of(name: str, bundle: Bundle) -> dict[str, Figures]:
    kept = {arm.name: arm.figures for arm in bundle.manifest.arms if arm.figures}
    if not kept:
        trees = json.loads(KEPT.read_text())
        assert name in trees, f"{name} keeps no figures; record it anew"
        kept = {arm: Figures.model_validate(tree) for arm, tree in trees[name].items()}
    return kept


@pytest.mark.parametrize("name", RECORDINGS)
def test_a_replay_says_what_the_recording_said(name: str) -> None:
    bundle = open_bundle(RECORDINGS[name])
    wanted, found = wanted_of(name, bundle), figures_of(bundle)
    assert set(found) == {arm.name for arm in bundle.manifest.arms}
    for arm, one in found.items():
        assert one.model_copy(update={"by": wanted[arm].by}) == wanted[arm], arm


def test_every_lesson_with_recordings_is_looked_at() -> None:
    assert len({name.split("/")[0] for name in RECORDINGS}) >= 4


@pytest.mark.parametrize("name", ["01-shrinker-bitmaps/56-containers", "02-grace-periods/3-hogs"])
def test_figures_do_not_hang_on_how_the_bytes_came(name: str) -> None:
    bundle = open_bundle(RECORDINGS[name])
    entry = bundle.manifest.arms[0]
    folder = lessons.load(bundle.manifest.lesson)
    spec = recorded_spec(folder, bundle.manifest)
    pieces = [
        Record(r.host_ns, r.stream, r.payload[at : at + 1777])
        for r in bundle.records(entry.name)
        for at in range(0, len(r.payload), 1777 if r.stream >= -1 else len(r.payload))
    ]
    source = records_source(entry.name, pieces, entry.symbols)
    played = asyncio.run(play(replace(spec, arms=(entry.name,)), {entry.name: source}))
    assert played.figures(entry.name) == figures_of(bundle)[entry.name]


def test_a_figure_that_differs_is_seen() -> None:
    name = "04-extent-shrinker/one-file"
    bundle = open_bundle(RECORDINGS[name])
    wanted, found = wanted_of(name, bundle), figures_of(bundle)
    arm, one = next(iter(found.items()))
    other = one.model_copy(update={"tallies": {**one.tallies, "visited_per_scan": 1.0}})
    assert other.model_copy(update={"by": wanted[arm].by}) != wanted[arm]


if __name__ == "__main__":
    trees = {
        name: {arm: one.model_dump(mode="json") for arm, one in figures_of(bundle).items()}
        for name, bundle in ((name, open_bundle(path)) for name, path in RECORDINGS.items())
        if not all(arm.figures for arm in bundle.manifest.arms)
    }
    KEPT.write_text(json.dumps(trees, indent=1, sort_keys=True) + "\n")
    print(f"{KEPT.relative_to(repo_root())}: {len(trees)} recordings")
