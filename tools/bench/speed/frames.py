# SPDX-License-Identifier: GPL-2.0-or-later
"""Stage `frames`: the page plays a wall of cells on canvases; its peer shows as many cells in SVG.

Both run in the same headless Chromium with software rendering. A frame is the time between two
animation frames. The page also follows the run, draws counts and moves the clock. The peer only
changes the fill of as many cells as a walk visits in a frame.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from tools.bench.speed.browser import SHOWN_S, opened
from tools.bench.speed.guests.tree_cpu import tree_cpu_s
from tools.bench.speed.pairs import Bench, Point, Result, Stage, Turn, median_figure, row_of
from tools.bench.tab import PageTab

NAME = "frames"
STEP = "lesson=01-shrinker-bitmaps&step=n-grows"
ONE = "&arms=before"
"""Shows one of the two walls."""
SIZES = ("n:100", f"n:300{ONE}", "n:300")
"""Numbers of containers."""
SMOKE_SIZES = ("n:100",)
WITH_TARGET = SIZES[1]
"""About 100,000 cells."""
SECONDS = 2.0
LONGER = 1.1
"""The run is played for so much longer than is measured."""
FRAME_MS = 33.0
"""Target of the slowest frame of twenty."""
FRAMES = """new Promise((resolve) => {
  const seen = [], end = performance.now() + %d;
  globalThis.duetDrawTimes?.splice(0);
  let last = performance.now();
  const tick = (now) => {
    seen.push(now - last);
    last = now;
    if (now < end) requestAnimationFrame(tick);
    else resolve(JSON.stringify([seen.slice(1), globalThis.duetDrawTimes ?? []]));
  };
  requestAnimationFrame(tick);
})"""
"""Times between animation frames for so many ms, and times that canvases took to draw."""
CELLS = """Math.max(...duet.index().lanes.flatMap((lane) =>
  lane.samples("shrinker-maps").map(({facts}) => (facts.memcgs + 1) * facts.nr_max)))"""
"""Cells of a wall: a row for each memcg and the root, a column for each id of a shrinker."""
PLAY = """{
  const speed = Math.max(...duet.index().lanes.map((lane) => lane.watermark)) / %d / 1e6;
  for (const act of [{type: "seek", moment: 0}, {type: "speed", speed}, {type: "play"}])
    duet.player.do(act);
}"""
"""Play the whole run within so many ms."""
PAUSE = 'duet.player.do({type: "pause"})'
JUST_SHOW = 'document.querySelector("[data-testid=veil] .link")?.click()'
SVG = """{
  const ns = "http://www.w3.org/2000/svg", cells = %d, side = Math.ceil(Math.sqrt(cells / 2));
  document.body.innerHTML = "";
  const svg = document.createElementNS(ns, "svg");
  const size = {width: 1500, height: 750, viewBox: `0 0 ${2 * side} ${side}`};
  for (const [name, value] of Object.entries(size)) svg.setAttribute(name, value);
  const rects = Array.from({length: cells}, (_, i) => {
    const rect = document.createElementNS(ns, "rect");
    const [x, y] = [i %% (2 * side), Math.floor(i / (2 * side))];
    const at = {x, y, width: 0.8, height: 0.8, fill: "#d9d3c5"};
    for (const [name, value] of Object.entries(at)) rect.setAttribute(name, String(value));
    svg.append(rect);
    return rect;
  });
  document.body.append(svg);
  const each = Math.ceil(cells / 300);
  let at = 0;
  const tick = () => {
    for (let i = 0; i < each; i++) {
      rects[(at + i) %% cells].setAttribute("fill", "#8a8577");
      rects[(at + i + cells - each * 8) %% cells].setAttribute("fill", "#d9d3c5");
    }
    at = (at + each) %% cells;
    requestAnimationFrame(tick);
  };
  tick();
}"""
"""So many cells, of which a wave of 1/300 changes in each frame."""
CURVE = "frames: time between frames by cells"


@dataclass(frozen=True, slots=True)
class Played:
    """What a browser showed for a while.

    Args:
        frames_ms: times between animation frames.
        draws_ms: times that canvases took to draw.
        cpu_s: CPU time of the server and both browsers. The other browser shows nothing meanwhile.
    """

    frames_ms: list[float]
    draws_ms: list[float]
    cpu_s: float

    def turn(self) -> Turn:
        """Return the slowest frame of twenty, and the CPU time of a frame."""
        return Turn(p95(self.frames_ms) / 1e3, self.cpu_s / len(self.frames_ms))


def p95(values: list[float]) -> float:
    return float(np.percentile(values, 95))


def run(bench: Bench) -> Iterator[Result]:
    """Yield for each size a comparison, the slowest frames and draws, and a point of the curve."""
    with asyncio.Runner() as runner:
        for size in SMOKE_SIZES if bench.smoke else SIZES:
            cells, mine, theirs = runner.run(_turns(bench, size))
            case = f"{cells:,} cells, 95 % of frames are faster than"
            yield row_of(
                NAME, case, "as many SVG rects",
                [one.turn() for one in mine], [one.turn() for one in theirs],
                work=1, unit="frames", clock="wall",
            )  # fmt: skip
            slowest = [p95(one.frames_ms) for one in mine]
            figure = median_figure(
                NAME, case, slowest, "ms", FRAME_MS if size == WITH_TARGET else None
            )
            yield figure
            draws = [p95(one.draws_ms) for one in mine]
            yield median_figure(NAME, f"{cells:,} cells, 95 % of draws of a canvas", draws, "ms")
            yield Point(NAME, CURVE, cells, "cells", figure.value, "ms")


async def _turns(bench: Bench, size: str) -> tuple[int, list[Played], list[Played]]:
    """Play walls and show as many SVG cells, in turns. Return the number of cells, and all turns.

    Args:
        size: knobs in the page's address.
    """
    ms = 1e3 * SECONDS
    mine, theirs = [], []
    async with opened(bench.folder, "--no-guests") as page, PageTab(bench.folder) as other:
        await page.show(f"{STEP}&knobs={size}")
        await page.tab.evaluate(JUST_SHOW)
        await page.whole()
        cells = int(await page.tab.until(CELLS, SHOWN_S)) * (1 if ONE in size else 2)
        for _ in range(bench.pairs):
            await page.tab.evaluate(PLAY % (LONGER * ms))
            mine.append(await _played(page.tab, ms))
            await page.tab.evaluate(PAUSE)
            await other.visit("about:blank")
            await other.evaluate(SVG % cells)
            theirs.append(await _played(other, ms))
            await other.visit("about:blank")
    return cells, mine, theirs


async def _played(tab: PageTab, ms: float) -> Played:
    before_s = tree_cpu_s()
    frames, draws = json.loads(await tab.evaluate(FRAMES % ms))
    return Played(frames, draws, tree_cpu_s() - before_s)


STAGE = Stage(NAME, "frames of a wall of cells, canvas beside SVG", run, 61)
