# SPDX-License-Identifier: GPL-2.0-or-later
"""What an address asks a still of: the words of the page's own address (navigation/place.ts)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from duet.bundle import read_manifest
from duet.errors import InputError
from duet.export.browser import Screen
from duet.export.pictures import Shot, scene_of
from duet.lessons import cache as lesson_cache
from duet.lessons.load import LessonFolder
from duet.runs.fitting import best_recording
from duet.serve.director import Director

Millis = Annotated[float, Field(ge=-1e9, le=1e9, allow_inf_nan=False)]
Word = Annotated[str, Field(max_length=200)]


class StillQuery(BaseModel):
    """The words that matter to a picture; others are passed over, as the page does."""

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
"""1920 x 1080 dots. Without scripts the page is light (ui/theme.ts), and so is the picture."""
WORDS = tuple(field.alias or name for name, field in StillQuery.model_fields.items())


@dataclass(frozen=True, slots=True)
class StillRequest:
    """A still that can be taken."""

    folder: LessonFolder
    path: Path
    shot: Shot


def resolve_still(query: StillQuery, director: Director) -> StillRequest:
    """What is to be taken of which file. Blocking.

    A run that goes on has no file yet, and its moments mean nothing in another run: of it the
    step is shown where it looks by itself, on the lesson's recording.

    Raises:
        InputError: there is no such lesson, step, lane or run.
    """
    folder = lesson_cache.find(query.lesson)
    if folder.lesson.view is None:
        raise InputError(
            f"lesson {folder.slug} has no picture yet.", remedy="Choose another lesson."
        )
    live = _has_no_file_yet(folder, query.run, director)
    # Without a name the page shows the first step; a picture of no moment is the lesson's own.
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
    """With the moment, window and alignment of an address."""
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
    """The file of a run; of none, of the recording that fits the step."""
    slug = folder.slug
    own = director.recordings.paths(slug)
    kind, _, name = run.partition(f":{slug}:")
    if not run:
        listing = director.recordings.listing(slug)
        best = best_recording(folder, scene_of(folder, step), listing)
        if best is None:
            raise InputError(
                f"lesson {slug} has no recording.", remedy=f"Make one: ./duet record {slug}."
            )
        return own[best]
    saved = director.saved.paths(slug) if kind == "kept" and director.saved else {}
    found = saved.get(name) if kind == "kept" else own.get(name if kind == "recorded" else run)
    if found is None:
        raise InputError(
            f"lesson {slug} has no run '{run:.60}' that a picture could be taken of.",
            remedy=f"Choose from: {', '.join(own) or 'none'}, or a saved run.",
        )
    return found


def _check_arms(folder: LessonFolder, path: Path, arms: tuple[str, ...]) -> None:
    """Lanes that the run does not have would be awaited in vain."""
    there = [entry.name for entry in read_manifest(path).arms]
    for arm in arms:
        if folder.arm(arm).name not in there:
            raise InputError(
                f"the recording {path.stem} has no lane '{arm:.60}'.",
                remedy=f"Choose from: {', '.join(there)}.",
            )
