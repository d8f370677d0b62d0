# SPDX-License-Identifier: GPL-2.0-or-later
"""Stage `open`: how long the page takes to open a recording of a million events.

The first time, the server has not decoded the recording and the browser has nothing stored. The
second time, both have. The page shows lanes as soon as it has the first events.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from duet.base.settings import repo_root
from tools.bench.speed import speedscope
from tools.bench.speed.browser import WHOLE_S, Opened, checkout, opened
from tools.bench.speed.pairs import Bench, Result, Row, Skipped, Stage, Turn, median_figure, row_of
from tools.bench.speed.tiled import Tiled, write_tiled
from tools.bench.tab import PageTab

NAME = "open"
RECORDING = "02-grace-periods/recorded/3-hogs.duet"
STEP = "lesson=02-grace-periods&step=three-hogs"
EVENTS, SMOKE_EVENTS = 1_000_000, 100_000
SPANS = "duet.store.shown().ordered().reduce((sum, lane) => sum + lane.spans.length, 0)"
PICTURE_S, OPEN_S = 0.5, 2.0
"""Targets."""


@dataclass(frozen=True, slots=True)
class Opening:
    """One opening of the recording.

    Args:
        picture_s: from the address to the first lanes with events.
        whole_s: from the address until the page has all events.
        spans: number of spans that the page has at the end.
    """

    picture_s: float
    whole_s: float
    spans: int


def run(bench: Bench) -> Iterator[Result]:
    """Yield the first and the second opening of a long recording, and of the shipped one."""
    root = checkout(bench.folder / "checkout")
    recording = root / "lessons" / RECORDING
    yield from _both(bench, root, "the shipped recording")
    tiled = write_tiled(
        repo_root() / "lessons" / RECORDING, recording, SMOKE_EVENTS if bench.smoke else EVENTS
    )
    yield from _both(bench, root, f"{tiled.events:,} events", _made_of(tiled), PICTURE_S, OPEN_S)
    program = speedscope.folder()
    case = f"{tiled.events:,} events, second time, whole"
    if program is None:
        yield Skipped(NAME, f"{case}, beside speedscope", speedscope.MISSING)
    else:
        yield asyncio.run(_beside(bench, root, program, case))


def _made_of(tiled: Tiled) -> str:
    return (
        f"Pages of the shipped recording, moved in time, in {len(tiled.lanes)} lanes: "
        f"{tiled.bytes / 1e6:.1f} MB."
    )


def _both(
    bench: Bench,
    root: Path,
    what: str,
    note: str = "",
    picture_s: float | None = None,
    whole_s: float | None = None,
) -> Iterator[Result]:
    """Yield the figures of both openings. `picture_s` and `whole_s` are targets."""
    found = [asyncio.run(_turn(bench.folder, root)) for _ in range(bench.pairs)]
    for which, turns in zip(("first", "second"), zip(*found, strict=True), strict=True):
        pictures, wholes = [one.picture_s for one in turns], [one.whole_s for one in turns]
        case = f"{what}, {which} time"
        yield median_figure(NAME, f"{case}, the first picture", pictures, "s", picture_s, note=note)
        yield median_figure(NAME, f"{case}, whole", wholes, "s", whole_s, note=note)


async def _turn(folder: Path, root: Path) -> tuple[Opening, Opening]:
    """Open the recording twice on a new server, in a browser that has nothing stored."""
    async with opened(folder, "--no-guests", DUET_ROOT=str(root)) as page:
        first, second = await opening(page), await opening(page)
    if first.spans != second.spans or not first.spans:
        raise AssertionError(f"the page has {first.spans} spans, then {second.spans}")
    return first, second


async def opening(page: Opened) -> Opening:
    """Open the recording of STEP, and wait until the page has all of it."""
    picture_ms = await page.show(STEP)
    whole_ms = await page.whole()
    return Opening(picture_ms / 1e3, whole_ms / 1e3, int(await page.tab.evaluate(SPANS)))


async def _beside(bench: Bench, root: Path, program: Path, case: str) -> Row:
    """Open the recording and a profile of its spans in turns, in two browsers."""
    mine, theirs = [], []
    async with opened(bench.folder, "--no-guests", DUET_ROOT=str(root)) as page:
        first = await opening(page)
        lanes = json.loads(await page.tab.evaluate(speedscope.SPANS))
        tree, spans = speedscope.profile(lanes)
        with speedscope.served(program, tree, bench.folder) as url:
            async with PageTab(bench.folder) as tab:
                for _ in range(bench.pairs):
                    mine.append(Turn((await opening(page)).whole_s, 0.0))
                    await tab.visit(url)
                    drawn_ms = float(await tab.until(speedscope.IS_DRAWN, WHOLE_S))
                    theirs.append(Turn(drawn_ms / 1e3, 0.0))
    note = (
        f"{spans:,} spans, without {first.spans - spans:,} of ours that it cannot nest. It parses "
        f"them from JSON and draws one of {len(tree['profiles'])} threads; ours gets packed "
        "columns, which the server has decoded before, and draws all lanes."
    )
    return row_of(
        NAME, case, "speedscope", mine, theirs,
        work=first.spans, unit="spans", clock="wall", note=note,
    )  # fmt: skip


STAGE = Stage(NAME, "opening a recording of a million events in the page", run, 60)
