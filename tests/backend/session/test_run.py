# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs of several lanes: together at the start, each by itself at the end, whatever goes wrong."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from duet.base.clock import Clock
from duet.base.errors import InfraError, InputError, KernelError
from duet.lessons.load import LessonFolder
from duet.lessons.schema import Lesson
from duet.session import LaneGuests, Limits, RunResult, RunSession, RunSpec
from duet.wire import Beat, FrameReader, FrameType, decode_frame
from tests.support.fakes import Ears, Fleet

Run = Callable[..., Any]
FAST = Limits(tick_s=0.005)
"""Waits are as long as in earnest: how fast a good lane is depends on the host."""
SOON_S = 2.0
"""For a wait that a test lets run out while a good lane has to be within it, too."""
OUT = {
    "no hello": {"hello_s": SOON_S},
    "no ready": {"ready_s": SOON_S},
    "deaf": {"run_slack_s": SOON_S - 1, "stop_s": 0.3},
    "no drain": {"drain_s": SOON_S},
    "endless": {"run_slack_s": -0.7},
    "short": {"missing_s": 1.0},
}
"""Fault -> the limit that it runs into."""


def within(*faults: str) -> Limits:
    """Limits of which only those are short that these faults run into."""
    short = {name: value for fault in faults for name, value in OUT.get(fault, {}).items()}
    return replace(FAST, **short)


ARMS = ("srcu", "srcu-expedited")


def spec_of(folder: LessonFolder, *arms: str, clock: Clock = "wall", **params: int) -> RunSpec:
    given = folder.check_params({"seconds": 1, "hogs": 1, **params})
    return RunSpec(folder, arms or ARMS, "storm", given, clock, run_id="r1")


async def once(fleet: Fleet, spec: RunSpec, limits: Limits = FAST) -> tuple[RunResult, Ears]:
    ears = Ears()
    async with LaneGuests(limits) as lanes:
        session = RunSession(lanes, spec, fleet.sources(*spec.arms), ears)
        result = await session.execute()
    assert not any(guest.open for guest in fleet.guests), "a guest outlived its owner"
    return result, ears


async def until(true: Callable[[], bool]) -> None:
    """Look again and again; the fake guests have no event to wait for."""
    while not true():  # noqa: ASYNC110
        await asyncio.sleep(0.005)


def test_a_run_goes_through_its_phases_and_gives_batches(
    lesson02: LessonFolder, run_async: Run
) -> None:
    fleet = Fleet()
    result, ears = run_async(once(fleet, spec_of(lesson02)))
    assert result.phase == "done"
    assert ears.runs[0] == "preparing"
    assert ears.runs[-1] == "done"
    for arm in ARMS:
        lane = result.lanes[arm]
        assert (lane.phase, lane.error, lane.ops, lane.ops_per_s) == ("done", None, 1, 1.0)
        assert (lane.metrics.ops, lane.metrics.events_lost, lane.kernel) == (1, 0, "6.1.192")
        assert ears.metrics[arm] == lane.metrics
        tables = {batch.table for name, batch in ears.batches if name == arm}
        assert tables == {"spans", "ops", "open"}
        kinds = [frame.type for frame in fleet.of(arm)[0].sent]
        assert kinds == [FrameType.PLAN, FrameType.START]
    assert "lock" in fleet.guests[0].sent[0].text


def test_lanes_start_together_when_the_slowest_is_ready(
    lesson02: LessonFolder, run_async: Run
) -> None:
    fleet = Fleet()
    fleet.slow["srcu"] = 0.2
    order: list[str] = []

    class Watch(Ears):
        def on_lane(self, state: Any) -> None:
            super().on_lane(state)
            order.append(f"{state.arm} {state.phase}")

    async def go() -> None:
        async with LaneGuests(FAST) as lanes:
            await RunSession(lanes, spec_of(lesson02), fleet.sources(*ARMS), Watch()).execute()

    run_async(go())
    assert order.index("srcu ready") < order.index("srcu-expedited running")


@pytest.mark.parametrize(
    ("fault", "kind", "words"),
    [
        ("no hello", KernelError, "waited too long for its agent"),
        ("no ready", KernelError, "waited too long for its probes"),
        ("bad plan", KernelError, "Line 3 of the plan is odd"),
        ("dies", InfraError, "ended during its run"),
        ("deaf", KernelError, "waited too long for its workload to end"),
        ("no drain", KernelError, "waited too long for its workload to end"),
    ],
)
def test_one_lanes_trouble_leaves_the_other_going(
    lesson02: LessonFolder, run_async: Run, fault: str, kind: type, words: str
) -> None:
    result, ears = run_async(once(Fleet(srcu=(fault,)), spec_of(lesson02), within(fault)))
    good, bad = result.lanes["srcu-expedited"], result.lanes["srcu"]
    assert (result.phase, good.phase, good.metrics.ops) == ("done", "done", 1)
    assert bad.phase == "failed"
    assert isinstance(bad.error, kind)
    assert words in bad.error.sentence
    reported = [state for state in ears.lanes if state.arm == "srcu"][-1]
    assert (reported.message, reported.remedy) == (bad.error.sentence, bad.error.remedy)
    assert bad.error.detail


def test_a_guest_that_does_not_boot_or_is_killed_says_why(
    lesson02: LessonFolder, run_async: Run
) -> None:
    for fault in ("no boot", "dies"):
        fleet = Fleet(srcu=(fault,))
        fleet.errors["srcu"] = InfraError("QEMU was killed (signal 9).", remedy="Again.")
        result, _ = run_async(once(fleet, spec_of(lesson02)))
        error = result.lanes["srcu"].error
        assert error is not None
        assert error.sentence == "QEMU was killed (signal 9)."
        assert result.lanes["srcu-expedited"].phase == "done"


def test_a_run_whose_lanes_all_fail_has_failed(lesson02: LessonFolder, run_async: Run) -> None:
    result, ears = run_async(once(Fleet(srcu=("bad plan",)), spec_of(lesson02, "srcu")))
    assert (result.phase, ears.runs[-1]) == ("failed", "failed")


def test_what_came_before_a_death_is_kept(lesson02: LessonFolder, run_async: Run) -> None:
    result, _ = run_async(once(Fleet(srcu=("dies",)), spec_of(lesson02, "srcu")))
    assert result.lanes["srcu"].metrics.ops == 1


def test_a_workload_that_does_not_end_is_stopped_from_here(
    lesson02: LessonFolder, run_async: Run
) -> None:
    fleet = Fleet(srcu=("endless",))
    result, _ = run_async(once(fleet, spec_of(lesson02, "srcu"), within("endless")))
    assert fleet.guests[0].sent[-1].type is FrameType.STOP
    lane = result.lanes["srcu"]
    assert (result.phase, lane.phase, lane.status) == ("failed", "failed", -15)
    assert isinstance(lane.error, KernelError)
    assert "did not end within its limit, 0 s on this machine" in lane.error.sentence
    assert "busy" not in lane.error.sentence


def test_on_the_count_clock_a_workload_that_does_not_end_may_wait_busily(
    lesson02: LessonFolder, run_async: Run
) -> None:
    spec = spec_of(lesson02, "srcu", clock="count")
    for fault, limit in (("endless", "0 s on this machine"), ("agent ends it", "guest's clock")):
        fleet = Fleet(srcu=(fault,))
        result, _ = run_async(once(fleet, spec, within(fault)))
        error = result.lanes["srcu"].error
        assert isinstance(error, KernelError) and limit in error.sentence
        assert "(busy waiting) are not counted well" in error.sentence
        assert "--clock wall" in error.remedy


def test_stop_ends_a_running_workload_and_keeps_the_guest(
    lesson02: LessonFolder, run_async: Run
) -> None:
    fleet = Fleet(srcu=("endless",))

    async def go() -> tuple[RunResult, tuple[str, ...]]:
        limits = Limits(tick_s=0.005)
        async with LaneGuests(limits) as lanes:
            session = RunSession(lanes, spec_of(lesson02, "srcu"), fleet.sources("srcu"), Ears())
            task = asyncio.create_task(session.execute())
            await until(lambda: bool(fleet.guests) and len(fleet.guests[0].sent) > 1)
            await session.stop()
            return await task, lanes.up

    result, up = run_async(go())
    assert (result.phase, result.lanes["srcu"].phase, up) == ("stopped", "stopped", ("srcu",))


def test_stop_before_the_start_begins_nothing(lesson02: LessonFolder, run_async: Run) -> None:
    fleet = Fleet(srcu=("no ready",))

    async def go() -> RunResult:
        async with LaneGuests(Limits()) as lanes:
            spec = spec_of(lesson02)
            session = RunSession(lanes, spec, fleet.sources(*ARMS), Ears())
            task = asyncio.create_task(session.execute())
            await until(lambda: bool(fleet.guests) and bool(fleet.guests[0].sent))
            await session.stop()
            return await task

    result = run_async(go())
    assert result.phase == "stopped"
    assert all(f.type is not FrameType.START for guest in fleet.guests for f in guest.sent)


def test_guests_are_kept_between_runs_and_rebooted_for_boot_knobs(
    lesson02: LessonFolder, run_async: Run
) -> None:
    fleet = Fleet()

    async def go() -> list[RunResult]:
        results = []
        async with LaneGuests(FAST) as lanes:
            for params in ({"hogs": 1}, {"hogs": 2}, {"vcpus": 1}, {"vcpus": 1, "exp_holdoff": 0}):
                spec = spec_of(lesson02, "srcu", **params)
                session = RunSession(lanes, spec, fleet.sources("srcu"), Ears())
                results.append(await session.execute())
                assert sum(guest.open for guest in fleet.guests) == 1
        return results

    results = run_async(go())
    assert [r.lanes["srcu"].metrics.ops for r in results] == [1, 1, 1, 1]
    assert [guest.request.vcpus for guest in fleet.guests] == [2, 1, 1]
    assert fleet.guests[2].request.cmdline == ("srcutree.exp_holdoff=0",)


def test_a_guest_of_another_kernel_or_root_is_not_used_again(
    lesson02: LessonFolder, run_async: Run
) -> None:
    """An author edits a workload or a patch, and starts the next run."""
    fleet = Fleet()

    async def go() -> list[int]:
        booted = []
        async with LaneGuests(FAST) as lanes:
            for content in ("kernel root", "kernel root", "kernel edited"):
                fleet.content = content
                spec = spec_of(lesson02, "srcu")
                await RunSession(lanes, spec, fleet.sources("srcu"), Ears()).execute()
                booted.append(len(fleet.guests))
        return booted

    assert run_async(go()) == [1, 1, 2]


@pytest.mark.parametrize("faults", [("oom",), ("oom", "dies"), ("oom", "no ready")])
def test_want_of_memory_is_reported_whatever_came_of_it(
    lesson02: LessonFolder, run_async: Run, faults: tuple[str, ...]
) -> None:
    fleet = Fleet(srcu=faults)
    result, _ = run_async(once(fleet, spec_of(lesson02, *ARMS), within(*faults)))
    error = result.lanes["srcu"].error
    assert error is not None
    assert error.sentence == (
        "the guest of lane srcu ran out of memory (512 MB), and its kernel killed `storm-1`."
    )
    assert "memory_mb" in error.remedy
    assert result.lanes["srcu-expedited"].error is None


def test_memory_and_disk_of_a_lesson_are_requested(lesson02: LessonFolder, run_async: Run) -> None:
    """A workload with another disk needs another guest; on the count clock the disk is memory."""
    data = lesson02.lesson.model_dump() | {"memory_mb": 768}
    plain = data["workloads"]["storm"]
    data["workloads"]["files"] = plain | {"scratch_mb": 300, "setup": ("duet-scratch xfs 300",)}
    folder = replace(lesson02, lesson=Lesson.model_validate(data))
    fleet = Fleet()

    async def go() -> None:
        async with LaneGuests(FAST) as lanes:
            for workload in ("storm", "files", "files"):
                spec = replace(spec_of(folder, "srcu"), workload=workload)
                await RunSession(lanes, spec, fleet.sources("srcu"), Ears()).execute()
            spec = replace(spec, clock="count")
            await RunSession(lanes, spec, fleet.sources("srcu"), Ears()).execute()

    run_async(go())
    requests = [(guest.request.memory_mb, guest.request.scratch_mb) for guest in fleet.guests]
    assert requests == [(768, 0), (768, 300), (768, 0)]
    assert "setup duet-scratch xfs 300\n" in (fleet.guests[2].request.boot_plan or "")


def test_the_recording_of_a_second_run_stands_by_itself(
    lesson02: LessonFolder, run_async: Run
) -> None:
    async def go() -> list[RunResult]:
        fleet = Fleet()
        async with LaneGuests(FAST) as lanes:
            spec, sources = spec_of(lesson02, "srcu"), fleet.sources("srcu")
            return [await RunSession(lanes, spec, sources, Ears()).execute() for _ in range(2)]

    for result in run_async(go()):
        transcript = result.lanes["srcu"].transcript
        assert transcript is not None
        records = list(transcript.records())
        reader = FrameReader()
        frames = [
            decode_frame(raw)
            for record in records
            if record.stream < 0
            for raw in reader.feed(record.payload)
        ]
        assert type(frames[0]).__name__ == "Hello"
        (beat,) = [frame for frame in frames if isinstance(frame, Beat)]
        sizes = [sum(len(r.payload) for r in records if r.stream == cpu) for cpu in (0, 1)]
        assert [row.bytes_sent for row in beat.cpus] == sizes


def test_the_count_clock_gets_its_plan_at_boot_and_no_word_after(
    lesson02: LessonFolder, run_async: Run
) -> None:
    fleet = Fleet()
    spec = spec_of(lesson02, "srcu", clock="count", vcpus=2)
    result, _ = run_async(once(fleet, spec))
    (guest,) = fleet.guests
    assert guest.request.vcpus == 1
    assert guest.request.boot_plan is not None
    assert "autostart" in guest.request.boot_plan
    assert guest.sent == []
    assert (result.phase, result.lanes["srcu"].metrics.ops) == ("done", 1)


def test_a_guest_of_the_count_clock_is_ended_by_its_host_once_all_is_here(
    lesson02: LessonFolder, run_async: Run
) -> None:
    """QEMU discards what the host has not read, so the guest does not power off by itself."""
    fleet = Fleet()

    async def go() -> tuple[RunResult, tuple[str, ...]]:
        async with LaneGuests(Limits(tick_s=0.005)) as lanes:
            spec = spec_of(lesson02, "srcu", clock="count")
            session = RunSession(lanes, spec, fleet.sources("srcu"), Ears())
            return await session.execute(), lanes.up

    result, up = run_async(go())
    assert (result.lanes["srcu"].phase, result.lanes["srcu"].loss) == ("done", ())
    assert up == () and not fleet.guests[0].open


def test_bytes_may_take_long_as_long_as_they_come(lesson02: LessonFolder, run_async: Run) -> None:
    """Each piece stays away for a fifth of the limit, all of them for longer than the limit."""
    fleet = Fleet(srcu=("late",))
    fleet.slow["srcu"] = 0.2
    limits = Limits(tick_s=0.005, missing_s=1.0)
    result, _ = run_async(once(fleet, spec_of(lesson02, "srcu"), limits))
    assert (result.lanes["srcu"].phase, result.lanes["srcu"].loss) == ("done", ())


@pytest.mark.parametrize(
    ("fault", "place", "count"), [("overrun", "ring buffer", 77), ("kprobe", "kprobe", 5)]
)
def test_losses_are_counted_exactly_and_reported(
    lesson02: LessonFolder, run_async: Run, fault: str, place: str, count: int
) -> None:
    result, ears = run_async(once(Fleet(srcu=(fault,)), spec_of(lesson02, "srcu")))
    lane = result.lanes["srcu"]
    assert lane.metrics.events_lost == count
    assert lane.lost_by_place[place] == count
    assert [(loss.events, loss.where) for _, loss in ears.losses] == [(count, place)]
    assert lane.loss == tuple(loss for _, loss in ears.losses)


def test_a_run_without_its_start_marker_says_so(lesson02: LessonFolder, run_async: Run) -> None:
    result, _ = run_async(once(Fleet(srcu=("no marker", "overrun")), spec_of(lesson02, "srcu")))
    lane = result.lanes["srcu"]
    assert lane.error is not None
    assert "no start marker among its events (77 events were lost)" in lane.error.sentence
    assert (lane.phase, lane.ops, lane.metrics.events_lost) == ("failed", 1, 77)


def test_a_workload_that_failed_before_its_marker_says_why(
    lesson02: LessonFolder, run_async: Run
) -> None:
    result, _ = run_async(once(Fleet(srcu=("no marker", "fails")), spec_of(lesson02, "srcu")))
    error = result.lanes["srcu"].error
    assert error is not None
    assert error.sentence == (
        "the workload on srcu ended with status 1: storm: cannot mount: Invalid argument."
    )


def test_bytes_that_never_come_are_a_loss_of_our_own(
    lesson02: LessonFolder, run_async: Run
) -> None:
    result, ears = run_async(
        once(Fleet(srcu=("short",)), spec_of(lesson02, "srcu"), within("short"))
    )
    assert result.lanes["srcu"].lost_by_place["host"] == 1
    assert [(loss.events, loss.where) for _, loss in ears.losses] == [(1, "host")]


def test_a_transcript_is_bounded_and_says_so(lesson02: LessonFolder, run_async: Run) -> None:
    limits = Limits(tick_s=0.005, transcript_bytes=9000)
    result, _ = run_async(once(Fleet(), spec_of(lesson02, "srcu"), limits))
    transcript = result.lanes["srcu"].transcript
    assert transcript is not None
    assert transcript.truncated
    assert transcript.bytes <= 9000


def test_a_cancelled_run_leaves_no_guest(lesson02: LessonFolder, run_async: Run) -> None:
    fleet = Fleet(srcu=("deaf",))

    async def go() -> None:
        async with LaneGuests(Limits()) as lanes:
            session = RunSession(lanes, spec_of(lesson02, "srcu"), fleet.sources("srcu"), Ears())
            task = asyncio.create_task(session.execute())
            await until(lambda: bool(fleet.guests) and len(fleet.guests[0].sent) > 1)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task

    run_async(go())
    assert not fleet.guests[0].open


def test_an_arm_without_a_kernel_is_refused(lesson02: LessonFolder) -> None:
    with pytest.raises(InputError, match="missing: srcu-expedited"):
        RunSession(LaneGuests(), spec_of(lesson02), Fleet().sources("srcu"), Ears())


def test_raw_events_of_an_unknown_lane_or_row_are_refused(
    lesson02: LessonFolder, run_async: Run
) -> None:
    async def go() -> None:
        async with LaneGuests(FAST) as lanes:
            spec = spec_of(lesson02, "srcu")
            session = RunSession(lanes, spec, Fleet().sources("srcu"), Ears())
            await session.execute()
            assert session.raw_events("srcu", 40, 0, 2)[0]["event"] == "duet/srcu_call"
            with pytest.raises(InputError, match="no lane 'x'"):
                session.raw_events("x", 0, None)
            with pytest.raises(InputError, match="rows, but is 132"):
                session.raw_events("srcu", 40, 132)
            assert {event["cpu"] for event in session.raw_events("srcu", 40, None, 9, 0)} == {0}
            assert session.raw_events("srcu", 40, None, 9, 7) == []

    run_async(go())
