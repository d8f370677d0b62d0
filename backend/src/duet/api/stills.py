# SPDX-License-Identifier: GPL-2.0-or-later
"""Takes still pictures for browsers without JavaScript, one at a time, and caches them."""

from __future__ import annotations

import asyncio
import hashlib
from collections import Counter, OrderedDict
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from html import escape
from pathlib import Path
from typing import Annotated, Any, Final, Literal, TypeVar
from urllib.parse import parse_qs, urlencode

from pydantic import BaseModel, ConfigDict, Field

from duet.base import budgets
from duet.base.errors import DuetError, InfraError, InputError
from duet.base.settings import repo_root
from duet.bundle import read_manifest
from duet.export.browser import Screen, find_chromium
from duet.export.pictures import Shot, scene_of, take_still
from duet.lessons import load as files
from duet.lessons import load as lesson_cache
from duet.lessons.document import meant_by, scene_called
from duet.lessons.load import LessonFolder, slugs
from duet.lessons.plan import outline
from duet.lessons.translations import translated_places
from duet.lessons.view import Laid, step_text
from duet.runs.fitting import best_recording
from duet.server.director import Director

# A still's address uses the same query parameters as the page's address (navigation/place.ts).

Millis = Annotated[float, Field(ge=-1e9, le=1e9, allow_inf_nan=False)]
Word = Annotated[str, Field(max_length=200)]


class StillQuery(BaseModel):
    """Query parameters that a picture uses. Other parameters are ignored, as on the page."""

    model_config = ConfigDict(extra="ignore", populate_by_name=True)

    lesson: Word
    step: Word = ""
    run: Word = ""
    at: Millis | None = None
    start: Annotated[Millis | None, Field(alias="from")] = None
    length: Annotated[Millis | None, Field(alias="for", gt=0)] = None
    arms: Word = ""
    align: Literal["time", "operation", "marker", "begin"] | None = None
    n: Annotated[int | None, Field(ge=1, le=1_000_000_000)] = None


SCREEN = Screen(scale=1.5)
"""1920 x 1080 pixels. Without scripts the page has the light theme (ui/theme.ts), so the picture
has it too.
"""
WORDS = tuple(field.alias or name for name, field in StillQuery.model_fields.items())


@dataclass(frozen=True, slots=True)
class StillRequest:
    """A checked request for a still."""

    folder: LessonFolder
    path: Path
    shot: Shot


def resolve_still(query: StillQuery, director: Director) -> StillRequest:
    """Find the file and the moment for a still. Blocking.

    A run that has not ended has no file yet. Its moments are meaningless in other runs, so the
    still shows the step's own moment in the lesson's recording.

    Raises:
        InputError: there is no such lesson, step, lane or run.
    """
    folder = lesson_cache.find(query.lesson)
    if folder.lesson.view is None:
        raise InputError(
            f"lesson {folder.slug} has no picture yet.", remedy="Choose another lesson."
        )
    live = _has_no_file_yet(folder, query.run, director)
    # If the address contains a moment but no step, the moment belongs to the first step, as on the
    # page. If the address contains neither, the still is the lesson's picture.
    first = folder.lesson.scenes[0].id if query.at is not None and not live else ""
    scene = scene_of(folder, query.step or first)
    arms = tuple(dict.fromkeys(arm for arm in query.arms.split(",") if arm))
    path = _path(folder, scene.id, "" if live else query.run, director)
    _check_arms(folder, path, arms)
    shot = Shot(step=scene.id, arms=arms, screen=SCREEN)
    return StillRequest(folder, path, shot if live else _moment(shot, query))


def _has_no_file_yet(folder: LessonFolder, run: str, director: Director) -> bool:
    if director.live_runs.find(run) is None:
        return False
    saved = director.saved.paths(folder.slug) if director.saved else {}
    return run.rpartition(":")[2] not in saved


def _moment(shot: Shot, query: StillQuery) -> Shot:
    """Add the moment, window and alignment that the address contains."""
    window = query.start is not None and query.length is not None
    return replace(
        shot,
        at_ms=query.at,
        from_ms=query.start if window else None,
        to_ms=(query.start or 0) + (query.length or 0) if window else None,
        align=query.align,
        nth=query.n,
    )


def _path(folder: LessonFolder, step: str, run: str, director: Director) -> Path:
    """Return the run's file. If no run is named, return the recording that fits the step."""
    slug = folder.slug
    own = director.recordings.paths(slug)
    kind, _, name = run.partition(f":{slug}:")
    if not run:
        listing = director.recordings.listing(slug)
        best = best_recording(folder, scene_of(folder, step), listing)
        if best is None:
            raise InputError(
                f"lesson {slug} has no recording.",
                remedy=f"Record the lesson: ./duet record {slug}.",
            )
        return own[best]
    saved = director.saved.paths(slug) if kind == "kept" and director.saved else {}
    found = saved.get(name) if kind == "kept" else own.get(name if kind == "recorded" else run)
    if found is None:
        raise InputError(
            f"lesson {slug} has no run '{run:.60}' to take a picture of.",
            remedy=f"Choose from: {', '.join(own) or 'none'}, or a saved run.",
        )
    return found


def _check_arms(folder: LessonFolder, path: Path, arms: tuple[str, ...]) -> None:
    """Refuse lanes that the run does not contain, because Chromium would wait for them in vain."""
    there = [entry.name for entry in read_manifest(path).arms]
    for arm in arms:
        if folder.arm(arm).name not in there:
            raise InputError(
                f"the recording {path.stem} has no lane '{arm:.60}'.",
                remedy=f"Choose from: {', '.join(there)}.",
            )


MAX_CACHED = 64
MAX_CACHED_BYTES = 16 << 20
QUEUE = 8
"""Maximum number of requests that may wait."""
WAIT_S = 60.0
"""Limit for waiting in the queue."""
TAKE_S = 150.0
"""Limit for taking a picture."""
LARGE = 64 << 20
"""No still is taken of a larger recording, because decoding it would take minutes."""

Take = Callable[[LessonFolder, Path, Shot], Awaitable[bytes]]
Key = tuple[str, tuple[object, ...], Shot]


class Stills:
    """Takes pictures and caches them.

    Args:
        busy: returns a description of the work that must not be disturbed now, or None.
        take: takes a picture.
    """

    def __init__(self, busy: Callable[[], str | None], take: Take = take_still) -> None:
        self._busy = busy
        self._take = take
        self._cache: OrderedDict[Key, bytes] = OrderedDict()
        self._sums: OrderedDict[tuple[Path, int, int], str] = OrderedDict()
        self._turn = asyncio.Lock()
        self._waiting = 0

    async def png(self, asked: StillRequest) -> bytes:
        """Return the picture.

        Raises:
            InfraError: Chromium is missing, the picture took too long, too many requests wait, or a
                measurement is running.
        """
        key = await asyncio.to_thread(self._key, asked)
        if (found := self._found(key)) is not None:
            return found
        await self._my_turn()
        try:
            # the picture was taken while this request waited
            if (found := self._found(key)) is not None:
                return found
            if (what := self._busy()) is not None:
                raise InfraError(
                    f"no picture is taken while {what}, because this must not be disturbed.",
                    remedy="Try again afterwards.",
                )
            async with asyncio.timeout(TAKE_S):
                png = await self._take(asked.folder, asked.path, asked.shot)
        except TimeoutError as error:
            raise InfraError(
                f"the picture was not taken within {TAKE_S:.0f} s.",
                remedy="Try again when the machine is less busy.",
            ) from error
        finally:
            self._turn.release()
        self._store(key, png)
        return png

    async def _my_turn(self) -> None:
        if self._waiting >= QUEUE:
            raise InfraError(
                f"{QUEUE} requests for pictures are waiting already.",
                remedy="Try again in a minute.",
            )
        self._waiting += 1
        try:
            async with asyncio.timeout(WAIT_S):
                await self._turn.acquire()
        except TimeoutError as error:
            raise InfraError(
                f"other pictures were being taken for {WAIT_S:.0f} s.",
                remedy="Try again in a minute.",
            ) from error
        finally:
            self._waiting -= 1

    def _key(self, asked: StillRequest) -> Key:
        """Return the cache key.

        It depends on the recording's checksum, the lesson's files and the built page.
        """
        status = asked.path.stat()
        if status.st_size > LARGE:
            raise InfraError(
                f"{asked.path.name} has {status.st_size >> 20} MB, but stills are limited to "
                f"recordings of at most {LARGE >> 20} MB.",
                remedy="Play the recording with JavaScript switched on.",
            )
        stamp = (asked.path, status.st_size, status.st_mtime_ns)
        known = self._sums.get(stamp)
        if known is None:
            known = hashlib.sha256(asked.path.read_bytes()).hexdigest()
            self._sums[stamp] = known
            while len(self._sums) > MAX_CACHED:
                self._sums.popitem(last=False)
        page = repo_root() / "frontend/dist/site/chunks.json"
        return known, (files.folder_stamp(asked.folder.folder), _stamp(page)), asked.shot

    def _found(self, key: Key) -> bytes | None:
        if key in self._cache:
            self._cache.move_to_end(key)
        return self._cache.get(key)

    def _store(self, key: Key, png: bytes) -> None:
        self._cache[key] = png
        while (
            len(self._cache) > MAX_CACHED or sum(map(len, self._cache.values())) > MAX_CACHED_BYTES
        ):
            self._cache.popitem(last=False)


def _stamp(path: Path) -> int:
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return 0


# Makes the page for browsers without JavaScript. It contains the step's text, and a still of the
# moment that the address names.
#
# Nothing is copied unchanged from the address. Only known parameters are used, after URL encoding
# and HTML escaping.

LONGEST = 200
"""Longer values are ignored. The values that the page itself writes are shorter."""
FIELDS = 100
OFF = "This page plays it with JavaScript, which is switched off here."
MAIN = '<main style="max-width: 120rem; margin: 0 auto; padding: 0.5rem 1rem; line-height: 1.5">'
FITS = "display: block; width: 100%; max-width: calc((100vh - {}rem) * 16 / 9); margin: 0 auto"
"""Style that fits the picture into a frame of any size and leaves room for the text around it."""
AROUND_REM = {True: 6, False: 9}
BELOW = "max-width: 44rem; margin: 1.5rem auto"
WORDS_STYLE = "text-align: center; margin: 0.5rem"


def noscript(query: str) -> str:
    """Return the content of the page's <noscript>.

    Args:
        query: the request's query, as received.
    """
    words = _words(query)
    bare = words.pop("embed", "") == "1"
    language = words.pop("lang", "")
    try:
        typed = words.get("lesson", "")
        words["lesson"] = meant_by(typed, slugs()) or typed
        folder = lesson_cache.find(words["lesson"])
    except DuetError:
        return f"{MAIN}{_contents()}</main>"
    if (scene := scene_called(folder.lesson.scenes, words.get("step"))) is not None:
        words["step"] = scene.id
    said = _said(folder, language)
    question = escape(said.get(("question",), folder.lesson.question))
    heading = "" if bare else f'<h1 style="{WORDS_STYLE}">{question}</h1>\n'
    text = f"{step_text(folder, words.get('step'), said)}\n{outline(folder)}"
    below = "" if bare else f'\n<div style="{BELOW}">{text}</div>'
    return f"{MAIN}\n{heading}{_still(folder, words, bare)}{below}\n</main>"


def _said(folder: LessonFolder, language: str) -> Laid:
    """Return the lesson's texts in the address's language.

    Texts without a translation stay English.
    """
    try:
        return dict(translated_places(folder, language))
    except DuetError:  # duet lint reports the unusable translation
        return {}


def _still(folder: LessonFolder, words: Mapping[str, str], bare: bool) -> str:
    if folder.lesson.view is None:
        return f"<p>{escape(folder.lesson.title)} has no picture yet.</p>"
    try:
        find_chromium()
    except InfraError as error:
        return f"<p>No still: {escape(error.sentence)} {OFF}</p>"
    said = "A still of a recorded run."
    run = words.get("run", "")
    if run.startswith("kept:"):
        said += " While a live run goes on, this is the lesson’s own recording in its place."
    source = escape("./still.png?" + urlencode(words, safe=",:"))
    style = FITS.format(AROUND_REM[bare])
    return (
        f'<img src="{source}" alt="{_alt(folder, words)}" style="{style}">\n'
        f'<p style="{WORDS_STYLE}">{said} {OFF}</p>'
    )


def _alt(folder: LessonFolder, words: Mapping[str, str]) -> str:
    """Return the picture's alternative text: the step's title and the lesson's question."""
    lesson = folder.lesson
    scene = scene_called(lesson.scenes, words.get("step"))
    title = lesson.title if scene is None else scene.title
    return escape(f"A still of a recorded run: {title}. {lesson.question}")


def _contents() -> str:
    """Return a list of all lessons, for an address without a lesson."""
    links = "".join(
        f'<li><a href="?{urlencode({"lesson": f.slug})}">{escape(f.lesson.question)}</a></li>'
        for f in lesson_cache.usable()
    )
    return (
        "<h1>Kernel Duet</h1>\n<p>Two kernels, one workload, one screen. The pictures move with "
        f"JavaScript, which is switched off here; each lesson has a still.</p>\n<ul>{links}</ul>"
    )


def _words(query: str) -> dict[str, str]:
    """Return the first value of each known parameter. The page also reads only the first value."""
    try:
        found = parse_qs(query, max_num_fields=FIELDS)
    except ValueError:  # the query has more fields than a valid address
        return {}
    known = {name: found[name][0] for name in (*WORDS, "embed", "lang") if name in found}
    return {name: value for name, value in known.items() if len(value) <= LONGEST}


# Requests that take a second of CPU time or more are limited in number and queued. They never run
# during a measurement.
#
# Such requests run in separate threads, so that the threads that serve the page stay free.

T = TypeVar("T")
ALWAYS: Final = frozenset({"listing", "still"})
"""Kinds of requests that may also run during a measurement, because they read little. A separate
rule applies to pictures.
"""


class Busy(InfraError):
    """The server is busy, but the request may succeed later."""

    code = "busy"


class RequestQueue:
    """The queue for requests of one kind."""

    def __init__(self, kind: str, at_once: int, waiting: int, per_address: int) -> None:
        self.kind = kind
        self._turns = asyncio.Semaphore(at_once)
        self._most = at_once + waiting
        self._per_address = per_address
        self._of: Counter[str] = Counter()

    @asynccontextmanager
    async def turn(self, address: str) -> AsyncIterator[None]:
        """Wait for a turn.

        Raises:
            Busy: the queue is full, in total or for this address, or the wait took too long.
        """
        if self._of.total() >= self._most or self._of[address] >= self._per_address:
            raise Busy(
                f"too many requests of this kind ({self.kind}) are waiting already.",
                remedy=f"Try again in {budgets.RETRY_AFTER_S} seconds.",
            )
        self._of[address] += 1
        try:
            try:
                async with asyncio.timeout(budgets.COSTLY_WAIT_S):
                    await self._turns.acquire()
            except TimeoutError as error:
                raise Busy(
                    f"this request ({self.kind}) got no turn within {budgets.COSTLY_WAIT_S:.0f} s.",
                    remedy=f"Try again in {budgets.RETRY_AFTER_S} seconds.",
                ) from error
            try:
                yield
            finally:
                self._turns.release()
        finally:
            self._of[address] -= 1
            if not self._of[address]:
                del self._of[address]


class Costly:
    """The queues of one server, one for each kind of request.

    Args:
        busy: returns a description of the work that must not be disturbed now, or None.
    """

    def __init__(self, busy: Callable[[], str | None]) -> None:
        self._busy = busy
        self._lines = {kind: RequestQueue(kind, *bounds) for kind, bounds in budgets.COSTLY.items()}
        self._threads = ThreadPoolExecutor(budgets.COSTLY_THREADS, "costly")
        self._going: dict[object, asyncio.Task[Any]] = {}

    @asynccontextmanager
    async def turn(self, kind: str, address: str) -> AsyncIterator[None]:
        """Wait for a turn.

        Raises:
            Busy: a measurement is running, or RequestQueue.turn() refused the request.
        """
        self._undisturbed(kind)
        async with self._lines[kind].turn(address):
            self._undisturbed(kind)
            yield

    async def run(
        self, kind: str, address: str, work: Callable[[], T], same: object | None = None
    ) -> T:
        """Wait for a turn, then run blocking work in a thread.

        Args:
            same: concurrent requests with equal values of `same` share one result.

        Raises:
            Busy: see turn().
        """
        key = (kind, object() if same is None else same)
        going = self._going.get(key)
        if going is None:
            going = asyncio.create_task(self._run(kind, address, work), name=f"costly {kind}")
            self._going[key] = going
            going.add_done_callback(lambda task: self._over(key, task))
        found: T = await asyncio.shield(going)
        return found

    def _over(self, key: object, task: asyncio.Task[Any]) -> None:
        self._going.pop(key, None)
        if not task.cancelled():
            task.exception()  # mark the exception as retrieved, because the requester may be gone

    def close(self) -> None:
        """Cancel work that has not started."""
        self._threads.shutdown(wait=False, cancel_futures=True)

    async def _run(self, kind: str, address: str, work: Callable[[], T]) -> T:
        async with self.turn(kind, address):
            return await asyncio.get_running_loop().run_in_executor(self._threads, work)

    def _undisturbed(self, kind: str) -> None:
        if kind not in ALWAYS and (what := self._busy()) is not None:
            raise Busy(
                f"this request ({kind}) is refused while {what}, because this must not be "
                "disturbed.",
                remedy="Try again afterwards.",
            )
