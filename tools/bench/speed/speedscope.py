# SPDX-License-Identifier: GPL-2.0-or-later
"""speedscope as a peer: the page's spans as a profile that it reads, and a server for both.

speedscope is a viewer of profiles that runs in a browser (https://www.speedscope.app, MIT).
"""

from __future__ import annotations

import contextlib
import functools
import json
import os
import shutil
import threading
from collections.abc import Iterator, Mapping, Sequence
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

VARIABLE = "SPEEDSCOPE"
MISSING = (
    "speedscope is not installed: run `npm pack speedscope`, unpack the file, and name the folder "
    f"package/dist/release in ${VARIABLE}."
)
SCHEMA = "https://www.speedscope.app/file-format-schema.json"
PROFILE = "profile.json"
ADDRESS = f"index.html#profileURL=/{PROFILE}"
IS_DRAWN = 'document.body.innerText.includes("Time Order") && performance.now()'
"""True once the profile's tabs are there, which speedscope shows with its first picture."""
SPANS = """JSON.stringify(duet.store.shown().ordered().map(({arm, spans}) => ({arm, ...
  Object.fromEntries(["t0", "t1", "row", "kind"].map((name) =>
    [name, Array.from(spans[name].subarray(0, spans.length))]))})))"""
"""All spans of the shown run, as JSON: [{arm, t0, t1, row, kind}], times in ns."""


def folder() -> Path | None:
    """Return the folder of the program, or None if it is not installed."""
    named = os.environ.get(VARIABLE)
    return Path(named) if named and (Path(named) / "index.html").is_file() else None


def profile(lanes: Sequence[Mapping[str, Any]]) -> tuple[dict[str, Any], int]:
    """Return a profile with a thread for each row of each lane, and the number of its spans.

    A span that begins inside another span and ends after that span is left out, because it cannot
    be nested.
    """
    frames: dict[int, int] = {}
    threads, count = [], 0
    for lane in lanes:
        rows: dict[int, list[tuple[float, float, int]]] = {}
        columns = (lane[name] for name in ("t0", "t1", "row", "kind"))
        for begin, end, row, kind in zip(*columns, strict=True):
            rows.setdefault(row, []).append((begin, -end, kind))
        for row, spans in sorted(rows.items()):
            events = list(_events(sorted(spans), frames))
            count += len(events) // 2
            threads.append(
                {
                    "type": "evented",
                    "name": f"{lane['arm']} {row}",
                    "unit": "nanoseconds",
                    "startValue": events[0]["at"],
                    "endValue": events[-1]["at"],
                    "events": events,
                }
            )
    shared = {"frames": [{"name": f"kind {kind}"} for kind in frames]}
    return {"$schema": SCHEMA, "shared": shared, "profiles": threads}, count


def _events(
    spans: Sequence[tuple[float, float, int]], frames: dict[int, int]
) -> Iterator[dict[str, Any]]:
    """Yield opening and closing events of spans (begin, -end, kind), sorted.

    Args:
        frames: kind -> number of its frame; new kinds are added.
    """
    inside: list[tuple[float, int]] = []
    for begin, minus_end, kind in spans:
        while inside and inside[-1][0] <= begin:
            yield _event("C", *inside.pop())
        if inside and -minus_end > inside[-1][0]:
            continue
        frame = frames.setdefault(kind, len(frames))
        inside.append((-minus_end, frame))
        yield _event("O", begin, frame)
    while inside:
        yield _event("C", *inside.pop())


def _event(kind: str, at: float, frame: int) -> dict[str, Any]:
    return {"type": kind, "frame": frame, "at": at}


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        """Print nothing."""


@contextlib.contextmanager
def served(program: Path, tree: Mapping[str, Any], scratch: Path) -> Iterator[str]:
    """Serve speedscope and a profile. Yield the URL that opens both."""
    site = scratch / "speedscope"
    shutil.copytree(program, site)
    (site / PROFILE).write_text(json.dumps(tree))
    handler = functools.partial(_Quiet, directory=str(site))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as http:
        threading.Thread(target=http.serve_forever, name="speedscope", daemon=True).start()
        try:
            yield f"http://127.0.0.1:{http.server_port}/{ADDRESS}"
        finally:
            http.shutdown()
