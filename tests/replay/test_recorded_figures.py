# SPDX-License-Identifier: GPL-2.0-or-later
"""Playing a recording gives the figures that it gave when it was made, exactly."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from duet.bundle import Bundle, Figures, Record, open_bundle
from duet.cli.replay import differences
from duet.lessons import load as lessons
from duet.runs.replay import play, play_bundle, recorded_spec, records_source

RECORDINGS = {
    f"{folder.slug}/{path.stem}": path
    for folder in map(lessons.load, lessons.slugs())
    for path in folder.recordings()
}


def figures_of(bundle: Bundle) -> dict[str, Figures]:
    played = asyncio.run(play_bundle(lessons.load(bundle.manifest.lesson), bundle))
    found = {arm: played.figures(arm) for arm in played.lanes}
    return {arm: one for arm, one in found.items() if one is not None}


def wanted_of(bundle: Bundle) -> dict[str, Figures]:
    return {arm.name: arm.figures for arm in bundle.manifest.arms if arm.figures}


def differing(wanted: dict[str, Figures], found: dict[str, Figures]) -> list[str]:
    """Arms whose figures are not the wanted ones, or are missing, or were not wanted.

    A metric that the lesson got after a recording was made is none of its figures.
    """
    same = found.keys() & wanted.keys()
    differ = {arm for arm in same if differences(wanted[arm], found[arm])}
    return sorted((found.keys() ^ wanted.keys()) | differ)


async def played(name: str, piece_bytes: int, symbols: dict[str, int] | None = None) -> Any:
    """Figures of a recording's first arm, its bytes in pieces of this size, or other symbols."""
    bundle = open_bundle(RECORDINGS[name])
    entry = bundle.manifest.arms[0]
    spec = recorded_spec(lessons.load(bundle.manifest.lesson), bundle.manifest)
    pieces = [
        Record(r.host_ns, r.stream, r.payload[at : at + piece_bytes])
        for r in bundle.records(entry.name)
        for at in range(0, len(r.payload), piece_bytes if r.stream >= -1 else len(r.payload))
    ]
    source = records_source(entry.name, pieces, entry.symbols if symbols is None else symbols)
    run = await play(replace(spec, arms=(entry.name,)), {entry.name: source})
    return run.figures(entry.name)


@pytest.mark.parametrize("name", RECORDINGS)
def test_a_replay_says_what_the_recording_said(name: str) -> None:
    bundle = open_bundle(RECORDINGS[name])
    found = figures_of(bundle)
    assert set(found) == {arm.name for arm in bundle.manifest.arms}
    assert differing(wanted_of(bundle), found) == []


def test_every_lesson_with_recordings_is_looked_at() -> None:
    assert len({name.split("/")[0] for name in RECORDINGS}) >= 4


@pytest.mark.parametrize("name", ["01-shrinker-bitmaps/56-containers", "02-grace-periods/3-hogs"])
def test_figures_do_not_hang_on_how_the_bytes_came(name: str) -> None:
    bundle = open_bundle(RECORDINGS[name])
    arm = bundle.manifest.arms[0].name
    assert asyncio.run(played(name, 1777)) == figures_of(bundle)[arm]


def test_a_replay_that_reads_something_else_is_seen() -> None:
    """Without the kernel's symbols no lock has a name: the comparison above has to fail."""
    name = "02-grace-periods/3-hogs"
    bundle = open_bundle(RECORDINGS[name])
    entry = bundle.manifest.arms[0]
    wanted = {entry.name: wanted_of(bundle)[entry.name]}
    own, other = (asyncio.run(played(name, 1 << 20, some)) for some in (entry.symbols, {}))
    assert differing(wanted, {entry.name: own}) == []
    assert differing(wanted, {entry.name: other}) == [entry.name]
    assert differing(wanted, {}) == differing({}, wanted) == [entry.name]


@pytest.mark.parametrize(
    ("now", "differ"), [({"a": 1}, 0), ({"a": 1, "new": 2}, 0), ({"a": 2}, 1), ({"new": 2}, 1)]
)
def test_a_metric_that_came_later_is_no_difference(now: dict[str, float], differ: int) -> None:
    recorded = Figures(metrics={}, tallies={"a": 1})
    assert len(differences(recorded, Figures(metrics={}, tallies=now))) == differ
