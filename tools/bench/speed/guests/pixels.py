# SPDX-License-Identifier: GPL-2.0-or-later
"""Time from an event in a guest until Chromium has drawn a picture with it.

A real server runs two lanes of lesson 02 with nine hogs each. The page records when its store gets
a batch of spans, and when the next frame has ended. Guest and host have different clocks. Their
offset is taken as the smallest difference between a span's end and the arrival of its page at the
host. So delays do not include the time of the fastest transport.
"""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tools.bench.speed.browser import opened

PLACE = "lesson=02-grace-periods&step=ticks&arms=rwsem,srcu"
ARMS = ("rwsem", "srcu")
READY_S, RUN_S = 120.0, 300.0
READY = "!!window.duet && !!document.querySelector('[data-testid=\"run\"]:not([disabled])') && true"
WATCH = """
(() => {
  const seen = [];
  const { store } = window.duet;
  const dispatch = store.dispatch;
  const channel = new MessageChannel();
  let open = [];
  channel.port1.onmessage = () => {
    const drawn = performance.timeOrigin + performance.now();
    for (const batch of open) seen.push({ ...batch, drawn });
    open = [];
  };
  store.dispatch = function (message, took) {
    dispatch.call(store, message, took);
    if (message.type !== 'batch' || message.table !== 'spans') return;
    if (!message.newest_event_host_ms) return;
    if (open.length === 0) requestAnimationFrame(() => channel.port2.postMessage(0));
    const ends = Array.from(message.columns.t1_ns);
    open.push({ arm: message.arm, host: message.newest_event_host_ms, ends });
  };
  window.duetSeen = seen;
  return true;
})()
"""
CLICK = """
window.duetSeen.splice(0);
document.querySelector('[data-testid="run"]').click();
"""
QUIET_MS = 1500
"""A run is over if its lanes have ended and nothing has been drawn for so long."""
PHASES = " && ".join(
    f"['done','failed'].includes("
    f"document.querySelector('[data-testid=\"lane-{arm}\"]')?.dataset.phase)"
    for arm in ARMS
)
OVER = (
    f"window.duetSeen.length > 0 && {PHASES} && "
    f"performance.timeOrigin + performance.now() - window.duetSeen.at(-1).drawn > {QUIET_MS}"
)


@dataclass(frozen=True, slots=True)
class Delays:
    """Delays in ms, of every span that was drawn live.

    Args:
        whole: from the span's end in the guest to the end of the frame that drew it.
        host: from the arrival of the batch's newest event at the host to the end of that frame.
    """

    whole: np.ndarray[tuple[int], np.dtype[np.float64]]
    host: np.ndarray[tuple[int], np.dtype[np.float64]]


async def event_to_pixel(runs: int) -> list[Delays]:
    """Run the lanes in a real server and a real Chromium, and return the delays of each run.

    Raises:
        InfraError: Chromium or the server does not start, or the run does not end.
    """
    with tempfile.TemporaryDirectory(prefix="duet-pixels-") as home:
        async with opened(Path(home)) as page:
            tab = page.tab
            await tab.visit(page.url(PLACE))
            await tab.until(READY, READY_S)
            await tab.evaluate(WATCH)
            found = []
            for _ in range(runs):
                await tab.until(READY, READY_S)
                await tab.evaluate(CLICK)
                await tab.until(OVER, RUN_S)
                found.append(delays(await tab.evaluate("window.duetSeen")))
            return found


def delays(seen: list[dict[str, object]]) -> Delays:
    """Compute the delays from the batches that the page has recorded."""
    whole, host = [], []
    for arm in ARMS:
        batches = [one for one in seen if one["arm"] == arm]
        ends = [np.asarray(one["ends"], np.float64) / 1e6 for one in batches]
        if not batches:
            continue
        offset = min(
            float(str(one["host"])) - float(end.max())
            for one, end in zip(batches, ends, strict=True)
        )
        for one, end in zip(batches, ends, strict=True):
            drawn = float(str(one["drawn"]))
            whole.append(drawn - end - offset)
            host.append(np.full(len(end), drawn - float(str(one["host"]))))
    empty = [np.zeros(0)]
    return Delays(np.concatenate(whole or empty), np.concatenate(host or empty))
