# SPDX-License-Identifier: GPL-2.0-or-later
"""HTTP routes of the core: health, lessons, raw events, recordings, segments."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections import OrderedDict
from functools import partial
from pathlib import Path
from threading import Lock
from typing import Annotated, Final

from fastapi import FastAPI, Query, Request
from fastapi.exceptions import RequestValidationError
from pydantic import JsonValue
from starlette.requests import HTTPConnection
from starlette.responses import FileResponse, JSONResponse, Response

from duet import __version__
from duet.api import bodies
from duet.api.stills import Costly, StillQuery, Stills, resolve_still
from duet.base.access import FORBIDDEN, Action
from duet.base.budgets import COMPARISONS_SAVED, RETRY_AFTER_S
from duet.base.errors import DuetError, InfraError, InputError
from duet.base.files import Stamp, stamp
from duet.lessons import load as lesson_cache
from duet.messages import PROTOCOL, Segments
from duet.messages.codec import failure
from duet.runs.compare import compare
from duet.server.archive import owner_of
from duet.server.director import Director
from duet.server.lessons import lesson_words
from duet.stream.viewer import visitor_of


def source_body(director: Director, slug: str, arm: str) -> bodies.ArmSource:
    """Return the body of /api/lessons/{slug}/arms/{arm}/source. Blocking, because it reads and
    patches files.

    Raises:
        DuetError: there is no such lesson or arm, or its source is not on this host.
    """
    files = [
        bodies.SourceFile(
            name=file.name,
            text=file.text,
            regions=[
                bodies.SourceRegion(title=one.title, first=one.first, last=one.last)
                for one in file.regions
            ],
        )
        for file in director.own.source(slug, arm)
    ]
    return bodies.ArmSource(arm=arm, off=director.own.off(), files=files)


class Comparisons:
    """Comparisons of recordings, cached by the checksums of both files. Blocking; thread-safe."""

    def __init__(self) -> None:
        self._made: OrderedDict[tuple[str, str], bytes] = OrderedDict()
        self._sums: OrderedDict[tuple[Path, Stamp], str] = OrderedDict()
        self._lock = Lock()
        self.count = 0
        """Number of comparisons that were computed because the cache did not have them."""

    def tree(self, first: Path, second: Path) -> bytes:
        """Return the comparison as JSON.

        Raises:
            DuetError: see compare().
        """
        key = self._sum(first), self._sum(second)
        with self._lock:
            if key in self._made:
                self._made.move_to_end(key)
                return self._made[key]
        made = json.dumps(compare(first, second).tree()).encode()
        with self._lock:
            self.count += 1
            self._made[key] = made
            while len(self._made) > COMPARISONS_SAVED:
                self._made.popitem(last=False)
        return made

    def _sum(self, path: Path) -> str:
        now = stamp(path)
        if now is None:
            raise InputError(
                f"the recording {path.name} is gone.", remedy="List the saved runs again."
            )
        with self._lock:
            known = self._sums.get((path, now))
        if known is None:
            with path.open("rb") as file:
                known = hashlib.file_digest(file, "sha256").hexdigest()
            with self._lock:
                self._sums[path, now] = known
                while len(self._sums) > 2 * COMPARISONS_SAVED:
                    self._sums.popitem(last=False)
        return known


MAX_RAW_EVENTS = 500


def add_routes(app: FastAPI, director: Director, stills: Stills) -> None:
    """Add all routes below /api, and the route of the stills for browsers without JavaScript."""
    costly: Costly = app.state.costly
    comparisons = app.state.comparisons = Comparisons()
    add_failures(app)

    @app.get("/api/health")
    def health() -> bodies.Health:
        return bodies.Health(
            version=__version__,
            protocol=PROTOCOL,
            viewers=len(director.hub.viewers),
            playing=list(director.live_runs.running()),
            waiting=director.live_runs.waiting(),
            lanes=[bodies.LaneState.model_validate(lane) for lane in director.lanes()],
            kernels={f.slug: dict(director.kernels.ready(f.slug)) for f in lesson_cache.usable()},
            **app.state.admission.counts(),
            loop=app.state.watchdog.holds.tree(),
        )

    @app.get("/api/lessons")
    def all_lessons() -> list[bodies.LessonLine]:
        return [
            bodies.LessonLine(slug=f.slug, title=f.lesson.title, question=f.lesson.question)
            for f in lesson_cache.usable()
        ]

    @app.get("/api/lessons/{slug}")
    def one_lesson(slug: str) -> Response:
        return JSONResponse(
            director.lesson(slug)
        )  # encode in this worker thread, not on the event loop

    @app.get("/api/words/{language}")
    def words(language: str) -> Response:
        return Response(lesson_words(language), media_type="application/json")

    @app.get("/api/lessons/{slug}/arms/{arm}/source")
    async def source(request: Request, slug: str, arm: str) -> bodies.ArmSource:
        director.changes.make_ready(visitor_of(request.scope), slug, arm)
        made = partial(source_body, director, slug, arm)
        return await costly.run("source", address_of(request), made, same=(slug, arm))

    @app.get("/api/runs/{run_id}/lanes/{arm}/events")
    async def events(
        request: Request,
        run_id: str,
        arm: str,
        around_ns: Annotated[float, Query(allow_inf_nan=False)],
        row: int | None = None,
        cpu: int | None = None,
        n: Annotated[int, Query(ge=1, le=MAX_RAW_EVENTS)] = 50,
    ) -> list[bodies.RawEvent]:
        async with costly.turn("events", address_of(request)):
            run = await director.find_run(run_id)
            found = await asyncio.to_thread(run.raw_events, arm, around_ns, row, n, cpu)
            return [bodies.RawEvent.model_validate(event) for event in found]

    @app.get("/api/runs/{run_id}/bundle")
    async def bundle(request: Request, run_id: str) -> Response:
        found: Path | bytes | None = director.file_of(run_id)
        lesson = run_id.split(":")[1] if found is not None else ""
        if found is None:
            run = await director.find_run(run_id)
            lesson = run.log.lesson
            found = await costly.run("bundle", address_of(request), run.bundle, same=run_id)
        if found is None:
            raise InfraError(
                f"run {run_id} cannot be downloaded yet.", remedy="Wait until the run has ended."
            )
        name = f"{lesson}-{run_id}.duet".replace(":", "-")
        if isinstance(found, Path):
            return FileResponse(found, media_type="application/zip", filename=name)
        disposition = {"content-disposition": f'attachment; filename="{name}"'}
        return Response(found, media_type="application/zip", headers=disposition)

    @app.get("/api/kept", response_model_exclude_unset=True)
    async def saved_runs(request: Request, lesson: str = "") -> list[bodies.SavedRun]:
        saved, visitor = director.saved, visitor_of(request.scope)
        if saved is None:
            return []

        def listed() -> list[tuple[dict[str, JsonValue], str]]:
            folder = saved.folder.folder
            return [(run, owner_of(folder, str(run["name"]))) for run in saved.all()]

        runs = await costly.run("listing", address_of(request), listed, same="kept")
        return [
            bodies.SavedRun.model_validate(
                run | {"yours": owner == visitor.ident, "deletable": visitor.may_delete(owner)}
            )
            for run, owner in runs
            if lesson in ("", run["lesson"])
        ]

    @app.get("/api/compare")
    async def compared(request: Request, first: str, second: str) -> Response:
        def made() -> bytes:
            made = comparisons.tree(file_of(first), file_of(second))
            return bodies.Comparison.model_validate_json(made).model_dump_json().encode()

        tree = await costly.run("compare", address_of(request), made, same=(first, second))
        return Response(tree, media_type="application/json")

    def file_of(run_id: str) -> Path:
        found = director.file_of(run_id)
        if found is None:
            raise InputError(
                f"'{run_id:.60}' is neither a recording nor a saved run.",
                remedy="A live run is saved when it ends. Compare the saved run then.",
            )
        return found

    @app.delete("/api/kept/{name}")
    def delete_saved(request: Request, name: str) -> bodies.Deleted:
        if director.saved is None:
            raise InputError(
                "this server does not save runs.", remedy="Use a server that saves runs."
            )
        if not visitor_of(request.scope).may_delete(director.saved.folder.owner(name)):
            visitor_of(request.scope).require(Action.DELETE_OTHERS)
        director.saved.folder.delete(name)
        return bodies.Deleted(deleted=name)

    @app.api_route("/still.png", methods=["GET", "HEAD"])
    async def still(request: Request, query: Annotated[StillQuery, Query()]) -> Response:
        wanted = await costly.run(
            "still",
            address_of(request),
            lambda: resolve_still(query, director),
            same=query.model_dump_json(),
        )
        if request.method == "HEAD":  # report that a still is possible, without taking it
            answer = Response(media_type="image/png")
            del answer.headers["content-length"]
        else:
            answer = Response(await stills.png(wanted), media_type="image/png")
        answer.headers["cache-control"] = "no-cache"
        return answer


def add_failures(app: FastAPI) -> None:
    """Turn errors in requests into responses."""

    @app.exception_handler(DuetError)
    async def error_response(_: Request, error: DuetError) -> JSONResponse:
        body = failure_body(failure(error).model_dump(exclude={"type"}))
        if error.code == FORBIDDEN:
            return JSONResponse(body, 403)
        if isinstance(error, InputError):
            return JSONResponse(body, 404)
        return JSONResponse(body, 503, {"retry-after": str(RETRY_AFTER_S)})

    @app.exception_handler(RequestValidationError)
    async def refused(_: Request, error: RequestValidationError) -> JSONResponse:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"][1:])
        body: dict[str, JsonValue] = {
            "code": "input",
            "sentence": f"{place} is not usable: {first['msg']}.",
            "remedy": "Correct it, and send the request again.",
            "detail": "",
        }
        return JSONResponse(failure_body(body), 422)


def failure_body(error: dict[str, JsonValue]) -> dict[str, JsonValue]:
    """Return the body of an error response. It contains only the keys that `error` contains."""
    body = bodies.FailureBody.model_validate({"error": error})
    return body.model_dump(mode="json", exclude_unset=True)


def address_of(request: Request) -> str:
    """Return the client's address, to which the limits per address apply."""
    return request.client.host if request.client else ""


# Serves segments of runs over HTTP. Segments never change, so a cache in front of the server may
# serve them.
#
# Everybody who may watch a run may fetch its segments. A cache checks no rights. Segments are
# protected because nobody can guess their addresses, and only viewers of the run get these
# addresses (docs/SEGMENTS.md).

HEADERS: Final = {
    "content-encoding": "gzip",
    "cache-control": "public, max-age=31536000, immutable",
    "x-accel-buffering": "yes",  # nginx caches only responses that it buffers
}


def add_segment_routes(app: FastAPI, director: Director) -> None:
    """Add two routes: one for a run's list of segments, and one for a segment."""
    costly: Costly = app.state.costly

    @app.get("/api/runs/{run_id}/segments")
    async def listing(request: Request, run_id: str, response: Response) -> Segments:
        response.headers["cache-control"] = "no-store"
        live = director.live_runs.find(run_id)
        if live is not None:
            return await director.segments.listing(live.log)
        async with costly.turn("listing", address_of(request)):  # this may read the recording
            run = await director.find_run(run_id)
            return await director.segments.listing(run.log)

    @app.get("/segments/{run_id}/{name}")
    async def segment(run_id: str, name: str) -> Response:
        found = director.segments.store.find(run_id, name)
        director.segments.announcer.answered(found)
        return Response(found.body, media_type="application/octet-stream", headers=HEADERS)


# The right that each HTTP route needs. Deleting a run also depends on who owns the run.

ROUTES: Final[dict[str, Action]] = {
    "/ws": Action.WATCH,
    "/still.png": Action.WATCH,
    "/api/health": Action.WATCH,
    "/api/lessons": Action.WATCH,
    "/api/lessons/{slug}": Action.WATCH,
    "/api/words/{language}": Action.WATCH,
    "/api/lessons/{slug}/arms/{arm}/source": Action.WATCH,
    "/api/runs/{run_id}/lanes/{arm}/events": Action.WATCH,
    "/api/runs/{run_id}/bundle": Action.WATCH,
    "/api/runs/{run_id}/segments": Action.WATCH,
    "/segments/{run_id}/{name}": Action.WATCH,
    "/api/kept": Action.WATCH,
    "/api/kept/{name}": Action.RUN,
    "/api/compare": Action.WATCH,
    "/metrics": Action.OPERATE,
}
"""The action that the visitor's role must allow, for each route of the core. Services declare the
actions of their own routes. A route without an action refuses everybody.
"""


def may_call(connection: HTTPConnection) -> None:
    """Check the visitor's role. This is a dependency of every route.

    Raises:
        InputError: the role does not allow the action; the error's code is `forbidden`.
    """
    path = connection.scope["route"].path
    action = connection.app.state.director.services.action_of(path) or ROUTES[path]
    visitor_of(connection.scope).require(action)
