# SPDX-License-Identifier: GPL-2.0-or-later
"""What a guest or a recording may use: beyond it its lane ends in one sentence, others go on."""

from __future__ import annotations

import asyncio
import gc
import struct
import weakref
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from typing import Any

import pytest

from duet.base import budgets
from duet.base.errors import DuetError, InputError, KernelError
from duet.decode import DecodeError, Decoder
from duet.guests.types import CTL_STREAM, Accel, Chunk, GuestFacts
from duet.lessons.load import LessonFolder
from duet.lessons.schema import Lesson
from duet.session import LaneGuests, LaneSource, Limits, Line, RunResult, RunSession
from duet.session.engine import LaneEngine, LaneSetup, Pages, StepRequest
from duet.session.lane import run as parts
from duet.session.lane.child import LaneChild, terms_of
from duet.session.trouble import workload_figures
from duet.wire import FrameType, ProtocolError, decode_frame, pack_frame
from duet.wire.reader import RawFrame
from tests.backend.session.test_run import spec_of
from tests.support.fakes import Ears, Fleet
from tests.support.stage import FILES, SYMBOLS, Stage

Run = Callable[..., Any]
HELLO = pack_frame(FrameType.HELLO, b"agent 1\ncpus 2\nkernel 6.1\nclocksource tsc\n")


class Talker:
    """A guest that says what it is made with, and then stays."""

    def __init__(self, said: bytes) -> None:
        self.facts = GuestFacts("fake", Accel.TCG, None, "1", 0.1)
        self._said = said

    async def __aenter__(self) -> Talker:
        return self

    async def __aexit__(self, *exc: object) -> None:
        pass

    async def chunks(self) -> AsyncIterator[Chunk]:
        yield Chunk(CTL_STREAM, HELLO + pack_frame(FrameType.READY), 0)
        yield Chunk(CTL_STREAM, self._said, 0)
        await asyncio.sleep(60)

    async def send(self, frame: bytes) -> None:
        pass

    def console_tail(self) -> str:
        return ""


async def received(folder: LessonFolder, said: bytes) -> RunResult:
    """A run of a talking guest beside a good one."""
    sources = {
        "srcu": LaneSource("srcu", SYMBOLS, lambda _: Talker(said)),
        **Fleet().sources("rwsem"),
    }
    async with LaneGuests(Limits(tick_s=0.005)) as lanes:
        session = RunSession(lanes, spec_of(folder, "srcu", "rwsem"), sources, Ears())
        result = await session.execute()
        session.close()
    assert (result.lanes["rwsem"].phase, result.lanes["rwsem"].error) == ("done", None)
    return result


def file_frame(number: int, size: int) -> bytes:
    return pack_frame(FrameType.FILE, b"f%d\0" % number + bytes(size))


def line_frame(text: bytes) -> bytes:
    return pack_frame(FrameType.LINE, struct.pack("<QB", 1, 1) + text)


@pytest.mark.parametrize(
    ("said", "budget", "sentence"),
    [
        (
            b"".join(file_frame(n, 1 << 19) for n in range(4)),
            {"GUEST_FILE_BYTES": 1 << 20},
            "files",
        ),
        (b"".join(file_frame(n, 1) for n in range(40)), {"GUEST_FILES": 30}, "31 files"),
        (line_frame(b"x" * 5000) * 3, {"LINE_BYTES": 12_000}, "lines"),
        (line_frame(b"x") * 30, {"LINES": 20}, "more than 20 lines"),
        (pack_frame(FrameType.READY) * 100, {"FRAMES": 60}, "more than 60 frames"),
    ],
)
def test_a_guest_that_sends_too_much_ends_alone(
    lesson02: LessonFolder,
    run_async: Run,
    monkeypatch: pytest.MonkeyPatch,
    said: bytes,
    budget: dict[str, int],
    sentence: str,
) -> None:
    for name, value in budget.items():
        monkeypatch.setattr(budgets, name, value)
    lane = run_async(received(lesson02, said)).lanes["srcu"]
    assert lane.phase == "failed" and lane.error is not None
    assert sentence in lane.error.sentence and lane.error.remedy


def test_a_long_line_is_cut_and_says_so(lesson02: LessonFolder, run_async: Run) -> None:
    async def once() -> str:
        ears = Ears()
        sources = {"srcu": LaneSource("srcu", SYMBOLS, lambda _: Talker(line_frame(b"x" * 9000)))}
        async with LaneGuests(Limits(tick_s=0.005)) as lanes:
            session = RunSession(lanes, spec_of(lesson02, "srcu"), sources, ears)
            task = asyncio.create_task(session.execute())
            while not ears.lines:  # noqa: ASYNC110 (a sink has plain calls)
                await asyncio.sleep(0.01)
            await session.stop()
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            session.close()
        return ears.lines[0][1].text

    text = run_async(once())
    assert text == "x" * budgets.LINE_CHARACTERS + " ... and 4904 characters more"


def test_a_flood_of_frames_lets_others_use_the_event_loop(
    lesson02: LessonFolder, run_async: Run
) -> None:
    flood = 60_000  # 720 KB in one chunk, a second of CPU time
    ends = pack_frame(FrameType.ERROR, b"The flood is over.\nGo on.\n")
    said = pack_frame(FrameType.READY) * flood + ends

    async def once() -> int:
        """The most frames that were handled between two turns of another task."""
        sources = {"srcu": LaneSource("srcu", SYMBOLS, lambda _: Talker(said))}
        async with LaneGuests(Limits(tick_s=0.005)) as lanes:
            session = RunSession(lanes, spec_of(lesson02, "srcu"), sources, Ears())
            run = asyncio.create_task(session.execute())
            most = before = 0
            while not run.done():
                await asyncio.sleep(0)
                came = session._runs["srcu"]._parts.intake.frames
                most, before = max(most, came - before), came
            session.close()
        error = run.result().lanes["srcu"].error
        assert error is not None and error.sentence == "The flood is over."
        assert before >= flood
        return most

    assert run_async(once()) < flood / 3


def test_the_death_of_one_lanes_child_leaves_the_others(
    lesson02: LessonFolder, run_async: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stingy(lane: LaneSetup) -> Any:
        usual = terms_of(lane)
        return replace(usual, memory_bytes=360 << 20) if lane.arm == "srcu" else usual

    class Greedy(LaneChild):
        def step(self, step: StepRequest) -> Any:
            filler = {"filler": bytes(200 << 20)} if self._lane.arm == "srcu" else {}
            return super().step(replace(step, files={**(step.files or {}), **filler}))

    monkeypatch.setattr("duet.session.lane.child.terms_of", stingy)
    monkeypatch.setattr(parts, "LaneChild", Greedy)

    async def once() -> RunResult:
        async with LaneGuests(Limits(tick_s=0.005)) as lanes:
            spec = spec_of(lesson02, "srcu", "rwsem")
            session = RunSession(lanes, spec, Fleet().sources("srcu", "rwsem"), Ears())
            result = await session.execute()
            session.close()
            return result

    result = run_async(once())
    assert (result.lanes["rwsem"].phase, result.lanes["rwsem"].error) == ("done", None)
    error = result.lanes["srcu"].error
    assert result.lanes["srcu"].phase == "failed" and isinstance(error, KernelError)
    assert error.sentence.startswith("the events of lane srcu cannot be read: it needs more than")


def test_only_so_many_children_stay_for_raw_events(
    lesson02: LessonFolder, run_async: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(budgets, "IDLE_CHILDREN", 1)

    async def once() -> None:
        async with LaneGuests(Limits(tick_s=0.005)) as lanes:
            sessions = []
            for _ in range(2):
                spec = spec_of(lesson02, "srcu")
                sessions.append(RunSession(lanes, spec, Fleet().sources("srcu"), Ears()))
                await sessions[-1].execute()
            assert sessions[1].raw_events("srcu", 0, None, 2)
            with pytest.raises(KernelError, match="the request was cancelled"):
                sessions[0].raw_events("srcu", 0, None, 2)
            sessions[1].close()

    run_async(once())


def test_a_closed_session_gives_up_its_lanes_at_once(
    lesson02: LessonFolder, run_async: Run
) -> None:
    """Not when the collector of cycles comes, which counts objects and no bytes."""

    async def once() -> None:
        async with LaneGuests(Limits(tick_s=0.005)) as lanes:
            spec = spec_of(lesson02, "srcu")
            session = RunSession(lanes, spec, Fleet().sources("srcu"), Ears())
            await session.execute()
            held = weakref.ref(session._runs["srcu"]._parts.writer.begin())
            assert held() is not None
            gc.disable()
            try:
                session.close()
                session = None  # type: ignore[assignment]
                assert held() is None
            finally:
                gc.enable()

    run_async(once())


def waiting(lesson: Lesson) -> tuple[LaneEngine, list[Pages]]:
    stage = Stage(cpus=1, hogs=1)
    stage.barrier()
    for number in range(50):
        stage.wake(10 + number, 0, 900, 100)
    return LaneEngine(LaneSetup(lesson, "srcu", "storm", SYMBOLS)), [Pages(0, stage.cpus[0].take())]


def test_events_that_no_beat_covers_are_bounded(
    lesson02: LessonFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine, pages = waiting(lesson02.lesson)
    engine.step(StepRequest(FILES, pages, 0, final=False, drained=False))
    monkeypatch.setattr(budgets, "QUEUED_EVENTS", 40)
    with pytest.raises(InputError, match="more than 40 events wait for an agent BEAT"):
        engine.step(StepRequest(None, [], 0, final=False, drained=False))


@pytest.mark.parametrize(
    ("ops", "per_s"), [("9" * 5000, "1.0"), ("1", "1.2.3"), ("1", "9" * 400), ("٣", "1.0")]
)
def test_a_figure_that_is_no_number_is_one_sentence(ops: str, per_s: str) -> None:
    lines = [Line("out", f"ops={ops} per_s={per_s}", 0.0)]
    with pytest.raises(KernelError, match="not plausible numbers") as caught:
        workload_figures("srcu", r"ops=(?P<ops>\d+) per_s=(?P<per_s>[\d.]+)", lines)
    assert len(caught.value.sentence) < 200


def test_figures_that_are_numbers_are_read() -> None:
    lines = [Line("out", "ops=12 per_s=3.5", 0.0), Line("out", "bye", 0.0)]
    assert workload_figures("srcu", r"ops=(?P<ops>\d+) per_s=(?P<per_s>\S+)", lines) == (12, 3.5)
    assert workload_figures("srcu", None, lines) == (None, None)


@pytest.mark.parametrize("number", ["9" * 5000, "²", "٣٤", "1.5", "-1"])
def test_a_greeting_with_an_odd_number_is_refused(number: str) -> None:
    for name in ("cpus", "mono_ns", "page_bytes"):
        with pytest.raises(ProtocolError, match="wanted a number for"):
            decode_frame(RawFrame(FrameType.HELLO, f"{name} {number}\n".encode(), 0))


def test_a_header_page_with_an_endless_number_is_refused() -> None:
    header = FILES["header_page"].replace(b"offset:16", b"offset:" + b"1" * 5000)
    with pytest.raises(DecodeError, match="header_page should say"):
        Decoder({**FILES, "header_page": header})
    printk = b"0x" + b"f" * 500_000 + b' : "x"\n' + FILES["printk_formats"]
    assert Decoder({**FILES, "printk_formats": printk}).strings == []


def test_a_moment_that_is_no_number_is_refused(lesson02: LessonFolder) -> None:
    session = RunSession(LaneGuests(), spec_of(lesson02, "srcu"), Fleet().sources("srcu"), Ears())
    for around in (float("nan"), float("inf"), 1e300):
        with pytest.raises(DuetError, match="around_ns must be a time"):
            session.raw_events("srcu", around, None)
