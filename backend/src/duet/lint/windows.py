# SPDX-License-Identifier: GPL-2.0-or-later
"""What a step claims can be seen: the recording that the page opens has a window that shows it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

from duet.errors import DuetError
from duet.lessons.files import stamp
from duet.lessons.load import LessonFolder
from duet.lessons.schema import Scene
from duet.lint.finding import Finding, NotChecked, Subject
from duet.lint.lanes import lanes_of
from duet.lint.recorded import DECODED_BY
from duet.runs.fitting import Entry, best_recording, wanted_params
from duet.runs.sought import LaneTables, Names, Step, windows_that_show
from duet.serve.recordings import LessonRecordings

HZ = 250
"""Ticks a second where the base says nothing else (stream.messages.lesson)."""


def spans(subject: Subject) -> Iterator[Finding | NotChecked]:
    """Kinds that a step's window must show have spans."""
    drawn = {kind.name for kind in subject.folder.lesson.kinds if kind.layer == "mark"}
    for index, scene in enumerate(subject.folder.lesson.scenes):
        for number, one in enumerate(scene.must_show.marks if scene.must_show else ()):
            for key in ("kind", "during"):
                if (name := getattr(one, key)) in drawn:
                    sentence = f"the kind '{name}' is drawn by the view and has no spans"
                    place = ("scenes", index, "must_show", "marks", number, key)
                    yield Finding(sentence, "Name a `point:` that it stands for.", place)


def windows(subject: Subject) -> Iterator[Finding | NotChecked]:
    """Each step's `must_show` is visible in its recording."""
    folder = subject.folder
    listing = LessonRecordings().listing(folder.slug)
    for index, scene in enumerate(folder.lesson.scenes):
        if scene.must_show is None or not listing:
            continue
        best = best_recording(folder, scene, listing)
        entry = next(one for one in listing if one["name"] == best)
        if why := _unfit(folder, scene, entry):
            yield NotChecked(f"what the step '{scene.id}' must show was not looked for: {why}")
            continue
        path = folder.folder / "recorded" / f"{best}.duet"
        try:
            seen = _sees(folder, scene, path, str(entry["workload"]))
        except DuetError:
            continue  # another rule's
        if not seen:
            sentence = f"no window of the recording {best} shows that {scene.must_show.that}"
            remedy = (
                "Record a run that shows it, or say in `must_show:` what the recording shows, "
                "and in the prose as well."
            )
            yield Finding(sentence, remedy, ("scenes", index, "must_show"))


def _unfit(folder: LessonFolder, scene: Scene, entry: Entry) -> str:
    """Why the recording is of another run than the step speaks of; empty: it is not."""
    arms, params = entry["arms"], entry["params"]
    assert isinstance(arms, list) and isinstance(params, dict)
    lacking = [arm for arm in scene.arms if arm not in arms]
    if lacking:
        return f"no recording has the lane {', '.join(lacking)}"
    wanted = wanted_params(folder, scene)
    off = [name for name, value in wanted.items() if params.get(name, value) != value]
    if off:
        return f"no recording has its {', '.join(off)}"
    return ""


def _sees(folder: LessonFolder, scene: Scene, path: Path, workload: str) -> bool:
    lesson = folder.lesson
    by = tuple(one for one in stamp(folder.folder) if one[0] in DECODED_BY)
    status = path.stat()
    lanes = _lanes(folder.slug, path, (by, status.st_size, status.st_mtime_ns))
    axis = lesson.axis
    if axis is not None and (not axis.workloads or workload in axis.workloads):
        number = next(i for i, point in enumerate(lesson.points) if point.name == axis.point)
        lanes = {arm: lane.on_axis(number) for arm, lane in lanes.items()}
    shown = {arm: lanes[arm] for arm in scene.arms if arm in lanes}
    return bool(windows_that_show(Step(scene, shown, Names.of(lesson), 1e9 / HZ)))


@lru_cache(maxsize=8)
def _lanes(slug: str, path: Path, key: object) -> dict[str, LaneTables]:
    """Decode a recording; `key` is there for the cache."""
    del key
    run = asyncio.run(LessonRecordings().load(slug, path.stem))
    assert run is not None
    return lanes_of(run.log)
