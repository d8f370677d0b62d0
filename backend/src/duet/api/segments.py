# SPDX-License-Identifier: GPL-2.0-or-later
"""Segments of runs over HTTP: each for ever the same, so a cache before the server may answer.

Who may watch a run may have its segments. An answer out of a cache asks nobody; what guards it is
its address, which nobody can guess and only viewers of the run are sent (docs/SEGMENTS.md).
"""

from __future__ import annotations

from typing import Final

from fastapi import FastAPI, Request
from starlette.responses import Response

from duet.api.costly import Costly
from duet.api.routes import address_of
from duet.serve.director import Director
from duet.stream.messages import Segments

HEADERS: Final = {
    "content-encoding": "gzip",
    "cache-control": "public, max-age=31536000, immutable",
    "x-accel-buffering": "yes",  # nginx caches only what it buffers
}


def add_segment_routes(app: FastAPI, director: Director) -> None:
    """A run's list of segments, and each of them."""
    costly: Costly = app.state.costly

    @app.get("/api/runs/{run_id}/segments")
    async def listing(request: Request, run_id: str, response: Response) -> Segments:
        response.headers["cache-control"] = "no-store"
        live = director.live_runs.find(run_id)
        if live is not None:
            return await director.segments.listing(live.log)
        async with costly.turn("listing", address_of(request)):  # it may have to be read
            run = await director.find_run(run_id)
            return await director.segments.listing(run.log)

    @app.get("/segments/{run_id}/{name}")
    async def segment(run_id: str, name: str) -> Response:
        found = director.segments.store.find(run_id, name)
        director.segments.announcer.answered(found)
        return Response(found.body, media_type="application/octet-stream", headers=HEADERS)
