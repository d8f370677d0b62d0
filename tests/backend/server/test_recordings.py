# SPDX-License-Identifier: GPL-2.0-or-later
"""Recordings while they are read: one decode for all that look, in parts, whole or not at all."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import msgpack
import pytest

from duet import messages as m
from duet.base.errors import DuetError, InfraError, InputError
from duet.export.site import NoKernels, drain_outbox
from duet.lessons.load import load
from duet.runs.fitting import best_recording
from duet.server import recordings as recorded_run
from duet.server.director import Director
from duet.server.hosts import HostStage
from duet.server.recordings import ChosenRecordings, LessonRecordings, Progress, RecordedRun
from duet.stream.hub import Hub, Viewer

SLUG = "02-grace-periods"
NINE = load(SLUG).folder / "recorded/9-hogs.duet"
ID = f"recorded:{SLUG}:9-hogs"

Message = dict[str, Any]


class Desk:
    """A director on recordings, and what viewers are sent."""

    def __init__(self, recordings: LessonRecordings | None = None) -> None:
        self.hub = Hub()
        self.recordings = recordings or LessonRecordings()
        stage = HostStage(None)
        self.director = Director(self.hub, stage, self.recordings, NoKernels(), False, False)
        self.seen: dict[Viewer, list[Message]] = {}

    async def open(self, run: str | None = None, step: str | None = None) -> Viewer:
        viewer = self.hub.join()
        await self.director.command(viewer, m.Open(type="open", lesson=SLUG, run=run, step=step))
        return viewer

    def reported(self, viewer: Viewer) -> list[Message]:
        """All that this viewer has been sent so far."""
        seen = self.seen.setdefault(viewer, [])
        seen += [msgpack.unpackb(packet.body) for packet in drain_outbox(viewer)]
        return seen

    async def until(self, viewer: Viewer, wanted: Callable[[Message], bool]) -> list[Message]:
        async with asyncio.timeout(240):
            while not any(map(wanted, self.reported(viewer))):
                viewer.ready.clear()
                await viewer.ready.wait()
        return self.reported(viewer)

    async def whole(self, viewer: Viewer) -> list[Message]:
        return await self.until(viewer, lambda x: x["type"] == "reading" and x["whole"])


def batches(messages: list[Message]) -> dict[tuple[str, str], tuple[list[int], int]]:
    """(lane, table) -> numbers of its batches, and its rows."""
    found: dict[tuple[str, str], tuple[list[int], int]] = {}
    for x in messages:
        if x["type"] == "batch" and x["table"] != "open":
            seqs, rows = found.setdefault((x["arm"], x["table"]), ([], 0))
            found[x["arm"], x["table"]] = ([*seqs, x["seq"]], rows + x["n"])
    return found


def runs(messages: list[Message]) -> set[str]:
    return {x["run_id"] for x in messages if x["type"] == "run"}


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Ids of the recordings that are read."""
    read: list[str] = []
    perform = RecordedRun.perform

    async def counting(self: RecordedRun) -> None:
        read.append(self.log.run_id)
        await perform(self)

    monkeypatch.setattr(RecordedRun, "perform", counting)
    return read


def test_viewers_get_events_while_a_recording_is_read_once_for_all_of_them(
    run_async: Any, counted: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    small = recorded_run.Limits(backlog_bytes=1 << 16, transcript_bytes=0)
    monkeypatch.setattr(recorded_run, "LIMITS", small)

    async def look() -> None:
        desk = Desk()
        first = await desk.open(ID)
        early = await desk.until(first, lambda x: x["type"] == "batch" and x["n"] > 0)
        assert not any(x["type"] == "reading" and x["whole"] for x in early)
        midway, whole = await desk.open(ID), asyncio.create_task(desk.director.find_run(ID))
        seen = [await desk.whole(viewer) for viewer in (first, midway)]
        late = await desk.whole(await desk.open(ID))
        assert (await whole).raw_events("srcu", 5e6, None, 5)
        parts = [batches(one) for one in (*seen, late)]
        assert parts[0] == parts[1] == parts[2]
        for numbers, rows in parts[0].values():
            assert numbers == list(range(len(numbers))) and rows > 0
        for one in (*seen, late):
            steps = [(x["read"], x["total"]) for x in one if x["type"] == "reading"]
            assert steps == sorted(steps) and steps[-1][0] == steps[-1][1] > 0
            assert [x["type"] for x in one if x["type"] != "measured"][-1] == "reading"
            assert not any(x["type"] == "gap" for x in one)
        assert len([x for x in seen[0] if x["type"] == "reading"]) > 5

    run_async(look())
    assert counted == [ID]


def test_a_slow_viewer_of_a_recording_misses_nothing(run_async: Any) -> None:
    """It takes nothing until all is read; a viewer of a live run would get gaps."""

    async def look() -> list[Message]:
        desk = Desk()
        viewer = await desk.open(ID)
        viewer.outbox._limits = (4, 1000)
        await desk.director.find_run(ID)
        return desk.reported(viewer)

    seen = run_async(look())
    assert not any(x["type"] == "gap" for x in seen)
    assert seen[-1]["type"] == "reading" and seen[-1]["whole"]


def test_an_error_half_way_reaches_all_that_wait_and_nothing_is_kept(
    run_async: Any, monkeypatch: pytest.MonkeyPatch, counted: list[str]
) -> None:
    add = RecordedRun._add
    broken = [True]

    def spoilt(self: RecordedRun, packet: Any) -> None:
        add(self, packet)
        if broken[0] and packet.type == "batch" and packet.span is not None:
            raise InfraError("lane srcu of the recording is broken.", remedy="Record it again.")

    monkeypatch.setattr(RecordedRun, "_add", spoilt)

    async def look() -> None:
        desk = Desk()
        viewers = [await desk.open(ID) for _ in range(2)]
        waiting = [asyncio.create_task(desk.director.find_run(ID)) for _ in range(2)]
        for viewer in viewers:
            seen = await desk.until(viewer, lambda x: x["type"] == "error")
            (error,) = [x for x in seen if x["type"] == "error"]
            assert error["sentence"] == "lane srcu of the recording is broken."
            assert error["run"] == ID and error["remedy"]
            assert not any(x["type"] == "reading" and x["whole"] for x in seen)
        for task in waiting:
            with pytest.raises(DuetError, match="is broken"):
                await task
        broken[0] = False
        # The next one reads it anew, and those who saw it fail hear nothing of that.
        before = [len(desk.reported(viewer)) for viewer in viewers]
        assert batches(await desk.whole(await desk.open(ID)))
        assert [len(desk.reported(viewer)) for viewer in viewers] == before

    run_async(look())
    assert counted == [ID, ID]


def test_a_spoilt_bundle_is_reported_once_it_is_unpacked(run_async: Any, tmp_path: Path) -> None:
    """Its manifest is in order, so it is announced; one lane's bytes are not what they were."""
    spoilt = tmp_path / "spoilt.duet"
    content = bytearray(NINE.read_bytes())
    at = len(content) // 2
    content[at : at + 64] = bytes(64)
    spoilt.write_bytes(content)

    async def look() -> Message:
        desk = Desk(ChosenRecordings(SLUG, {"spoilt": spoilt}))
        viewer = await desk.open("spoilt")
        seen = await desk.until(viewer, lambda x: x["type"] == "error")
        assert not batches(seen)
        return seen[-1]

    error = run_async(look())
    assert "spoilt.duet cannot be used" in error["sentence"]
    assert error["run"] == f"recorded:{SLUG}:spoilt"


@pytest.mark.parametrize("scene", load(SLUG).lesson.scenes, ids=lambda scene: scene.id)
def test_a_step_brings_its_own_recording_and_no_other(
    run_async: Any, counted: list[str], scene: Any
) -> None:
    async def look() -> set[str]:
        desk = Desk()
        return runs(await desk.whole(await desk.open(step=scene.id)))

    best = best_recording(load(SLUG), scene, LessonRecordings().listing(SLUG))
    assert run_async(look()) == {f"recorded:{SLUG}:{best}"} == set(counted)


def test_names_of_runs_are_a_recordings_own_an_id_or_a_word(
    run_async: Any, counted: list[str]
) -> None:
    async def look() -> None:
        desk = Desk()
        for run in ("9-hogs", ID):
            assert runs(await desk.whole(await desk.open(run, step="three-hogs"))) == {ID}
        none = desk.reported(await desk.open("none"))
        assert [x["type"] for x in none] == ["lesson", "measured"]
        for run in ("live-7", "recorded:", "kept:x:y", f"recorded:{SLUG}:nine"):
            seen = desk.reported(await desk.open(run))
            (error,) = [x for x in seen if x["type"] == "error"]
            assert error["run"] == run and error["remedy"]
            assert "lesson" in {x["type"] for x in seen} and not runs(seen)

    run_async(look())
    assert counted == [ID]


def test_an_unknown_step_is_the_first(run_async: Any) -> None:
    async def look() -> list[set[str]]:
        desk = Desk()
        steps = (None, "no-such", load(SLUG).lesson.scenes[0].id)
        return [runs(await desk.whole(await desk.open(step=step))) for step in steps]

    first, second, third = run_async(look())
    assert first == second == third


def test_a_server_that_ends_gives_up_what_it_reads(run_async: Any) -> None:
    async def look() -> None:
        desk = Desk()
        async with desk.director:
            viewer = await desk.open(ID)
            await desk.until(viewer, lambda x: x["type"] == "run")
        names = {task.get_name() for task in asyncio.all_tasks()}
        assert not {name for name in names if name.startswith("read ")}

    run_async(look())


@pytest.mark.parametrize("name", ["no-such", ""])
def test_a_recording_that_is_not_there_is_refused_at_once(run_async: Any, name: str) -> None:
    async def ask(call: Callable[[LessonRecordings], Awaitable[object]]) -> None:
        with pytest.raises(InputError, match="has no recording"):
            await call(LessonRecordings())

    async def begin(recordings: LessonRecordings) -> None:
        recordings.begin(SLUG, name)

    run_async(ask(begin))
    run_async(ask(lambda recordings: recordings.load(SLUG, name)))


def test_progress_is_what_was_fed_before_a_lanes_last_step() -> None:
    reported: list[int] = []
    progress = Progress({"a": 600, "b": 400}, reported.append)
    progress.fed("a", 300)
    progress.decoded("a", 1.0)
    assert reported == []  # nobody knows how much of it is decoded
    progress.fed("a", 300)
    progress.decoded("a", 1.0)
    assert reported == []  # another table of the same step
    progress.decoded("a", 2.0)
    progress.fed("b", 400)
    progress.decoded("b", 1.0)
    progress.decoded("b", 3.0)
    assert reported == [300, 700]
