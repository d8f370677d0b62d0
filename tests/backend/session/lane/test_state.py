# SPDX-License-Identifier: GPL-2.0-or-later
"""The states of a lane, driven with no event loop: every step, every failure, and any order."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from duet.base.errors import KernelError
from duet.messages.base import LanePhase
from duet.session import Limits
from duet.session.lane.state import (
    ACTIONS,
    REPORTS,
    Action,
    Course,
    Fail,
    Inputs,
    LaneMachine,
    Output,
    Reason,
    Report,
    Step,
)
from duet.wire import Drained, Ended, Frame, Hello, Ready, Started

LIMITS = Limits(hello_s=10, drain_s=20, stop_s=5, missing_s=3)
LIVE = Course(ready_s=30, run_s=100, sends_plan=True, sends_start=True)
REPLAY = Course(ready_s=30, run_s=100, sends_plan=False, sends_start=False)
ERROR = KernelError("The agent says no.", remedy="Again.")
HELLO = Hello({"kernel": "6.1", "cpus": "2"})
FRAMES = (HELLO, Ready(), Started(1, 2), Ended(3, 0), Drained(4))


@dataclass
class Lane:
    """A machine, its inputs and a clock that only the test moves."""

    course: Course = LIVE
    inputs: Inputs = field(default_factory=Inputs)
    now: float = 1000.0

    def __post_init__(self) -> None:
        self.machine = LaneMachine(self.inputs, LIMITS, self.course)

    def next(self, after_s: float = 0) -> Output:
        self.now += after_s
        return self.machine.next(self.now)

    def gives(self, *outputs: Output) -> None:
        for output in outputs:
            assert self.next() == output

    def receive(self, *frames: Frame) -> None:
        for frame in frames:
            self.inputs.receive(frame)


def booting() -> Lane:
    """It waits for the guest's port."""
    lane = Lane()
    lane.gives(Action.FIND_GUEST, Report("booting"), Action.OPEN_GUEST, Action.WAIT)
    return lane


def greeting() -> Lane:
    """It waits for the agent's greeting."""
    lane = booting()
    lane.inputs.port_open = True
    lane.gives(Action.WAIT)
    return lane


def setting_up() -> Lane:
    """It waits for READY."""
    lane = greeting()
    lane.receive(HELLO)
    lane.gives(Report("booting"), Action.ATTACH_LENSES, Action.SEND_PLAN, Action.WAIT)
    return lane


def ready() -> Lane:
    """It has waited for the others, and is to start."""
    lane = setting_up()
    lane.receive(Ready())
    lane.gives(Action.CALIBRATE, Report("ready"), Action.AWAIT_OTHERS)
    return lane


def started() -> Lane:
    """START was sent."""
    lane = ready()
    lane.gives(Action.START, Action.REDUCE)
    return lane


def running() -> Lane:
    """The workload runs."""
    lane = started()
    lane.receive(Started(1, 2))
    lane.gives(Report("running"), Action.REDUCE)
    return lane


def stopping() -> Lane:
    """STOP was sent."""
    lane = running()
    lane.inputs.stop_requested = True
    lane.gives(Action.RELEASE_HOLD, Action.SEND_STOP, Action.REDUCE)
    return lane


def draining() -> Lane:
    """The workload has ended."""
    lane = running()
    lane.receive(Ended(3, 0))
    lane.gives(Report("draining"), Action.REDUCE)
    return lane


def pages() -> Lane:
    """All frames are here, and pages are missing."""
    lane = draining()
    lane.inputs.missing_bytes = 8192
    lane.receive(Drained(4))
    lane.gives(Action.LAST_COUNTS, Action.REDUCE)
    return lane


WAITING = (booting, greeting, setting_up)
ON_ITS_WAY = (started, running, stopping, draining)


def test_a_whole_run() -> None:
    lane = pages()
    lane.inputs.missing_bytes = 0
    lane.gives(Action.REDUCE_REST, Report("done"), Action.END, Action.END)
    assert lane.machine.over
    assert (lane.inputs.status, lane.inputs.hello) == (0, HELLO)


def test_a_guest_that_is_up_is_neither_booted_nor_waited_for() -> None:
    lane = Lane()
    lane.gives(Action.FIND_GUEST)
    lane.machine.guest_found()
    lane.gives(Action.ATTACH_LENSES, Action.SEND_PLAN, Action.WAIT)


def test_a_replay_whose_frames_are_all_here_runs_and_is_done() -> None:
    lane = Lane(REPLAY)
    lane.gives(Action.FIND_GUEST, Report("booting"), Action.OPEN_GUEST)
    lane.inputs.port_open = True
    lane.receive(*FRAMES)
    lane.gives(
        Report("booting"),
        Action.ATTACH_LENSES,
        Action.CALIBRATE,
        Report("ready"),
        Action.AWAIT_OTHERS,
        Action.START,
        Action.LAST_COUNTS,
        Action.REDUCE_REST,
        Report("running"),
        Report("done"),
        Action.END,
    )


def test_frames_that_come_at_once_in_a_live_run_give_every_phase() -> None:
    lane = started()
    lane.receive(*FRAMES[2:])
    lane.gives(
        Report("running"),
        Report("draining"),
        Action.LAST_COUNTS,
        Action.REDUCE_REST,
        Report("done"),
    )


@pytest.mark.parametrize("at", [*WAITING, *ON_ITS_WAY], ids=lambda at: at.__name__)
def test_an_error_of_the_agent_fails_the_lane(at: Callable[[], Lane]) -> None:
    lane = at()
    lane.inputs.error = ERROR
    assert lane.next() == Fail(Reason.REPORTED)


@pytest.mark.parametrize("at", [*WAITING, *ON_ITS_WAY], ids=lambda at: at.__name__)
def test_a_guest_that_goes_away_fails_the_lane(at: Callable[[], Lane]) -> None:
    lane = at()
    lane.inputs.gone = True
    assert lane.next() == Fail(Reason.GONE)


def test_the_end_of_a_drained_guest_is_no_failure() -> None:
    lane = draining()
    lane.receive(Drained(4))
    lane.inputs.gone = True
    lane.inputs.missing_bytes = 4096
    lane.gives(Action.LAST_COUNTS, Action.REDUCE_REST, Report("done"))


@pytest.mark.parametrize(
    ("at", "limit_s", "waited_for"),
    [
        (greeting, LIMITS.hello_s, "its agent"),
        (setting_up, LIVE.ready_s, "its probes to be set up"),
        (stopping, LIMITS.stop_s, "its workload to end and its events to come"),
        (draining, LIMITS.drain_s, "its workload to end and its events to come"),
    ],
)
def test_each_wait_has_its_limit(at: Callable[[], Lane], limit_s: float, waited_for: str) -> None:
    lane = at()
    assert isinstance(lane.next(limit_s), Action), "exactly the limit is in time"
    assert lane.next(0.001) == Fail(Reason.LATE, waited_for)


def test_a_boot_has_no_limit_here() -> None:
    lane = booting()
    assert lane.machine.deadline is None
    assert lane.next(1e6) is Action.WAIT


def test_a_workload_that_does_not_end_is_stopped_and_counts_as_stopped() -> None:
    lane = running()
    assert lane.next(LIVE.run_s) is Action.REDUCE
    assert lane.next(0.001) is Action.RELEASE_HOLD
    assert lane.next(50) is Action.SEND_STOP
    assert lane.machine.deadline == lane.now + LIMITS.stop_s, "a hold does not shorten it"
    lane.receive(Ended(3, -15), Drained(4))
    lane.gives(
        Report("draining"),
        Action.LAST_COUNTS,
        Action.REDUCE_REST,
        Report("stopped"),
        Action.END,
    )


@pytest.mark.parametrize("at", WAITING, ids=lambda at: at.__name__)
def test_a_stop_before_ready_drops_the_guest(at: Callable[[], Lane]) -> None:
    lane = at()
    lane.inputs.stop_requested = True
    lane.gives(Action.DROP_GUEST, Report("stopped"), Action.END)


def test_a_stop_before_the_boot_and_before_the_start_leaves_guests_alone() -> None:
    for lane in (Lane(), ready()):
        lane.inputs.stop_requested = True
        lane.gives(Report("stopped"), Action.END)


def test_stop_is_sent_once() -> None:
    lane = stopping()
    assert [lane.next(0.1) for _ in range(5)] == [Action.REDUCE] * 5


def test_missing_pages_are_waited_for_while_they_come() -> None:
    lane = pages()
    for left in (6000, 4000, 2000):
        assert lane.next(LIMITS.missing_s - 0.1) is Action.REDUCE
        lane.inputs.missing_bytes = left
        assert lane.next() is Action.REDUCE
    assert lane.next(LIMITS.missing_s) is Action.REDUCE_REST


def test_time_stands_only_for_what_a_hold_delays() -> None:
    assert [at().machine.workload_runs for at in (*WAITING, ready)] == [False] * 4
    assert [at().machine.workload_runs for at in ON_ITS_WAY] == [True] * 4
    assert not pages().machine.workload_runs


@pytest.mark.parametrize("at", [Lane, *WAITING, ready, *ON_ITS_WAY, pages])
def test_a_failure_of_an_action_ends_the_lane(at: Callable[[], Lane]) -> None:
    lane = at()
    assert lane.machine.fail(ERROR) == Report("failed")
    assert (lane.machine.phase, lane.inputs.error, lane.machine.over) == ("failed", ERROR, True)
    lane.gives(Action.END)


def test_every_step_that_is_one_action_or_report_is_another() -> None:
    assert not ACTIONS.keys() & REPORTS.keys()
    assert all(step is not then for step, (_, then) in (*ACTIONS.items(), *REPORTS.items()))


ORDER = get_args(LanePhase)
EVENTS: dict[str, Callable[[Lane], None]] = {
    **{type(frame).__name__: (lambda lane, f=frame: lane.receive(f)) for frame in FRAMES},
    "port": lambda lane: setattr(lane.inputs, "port_open", True),
    "gone": lambda lane: setattr(lane.inputs, "gone", True),
    "stop": lambda lane: setattr(lane.inputs, "stop_requested", True),
    "error": lambda lane: setattr(lane.inputs, "error", ERROR),
    "missing": lambda lane: setattr(lane.inputs, "missing_bytes", 4096),
    "here": lambda lane: setattr(lane.inputs, "missing_bytes", 0),
    "found": lambda lane: lane.machine.guest_found() if lane.machine.step is Step.BOOT else None,
    "a second": lambda lane: setattr(lane, "now", lane.now + 1),
    "a minute": lambda lane: setattr(lane, "now", lane.now + 60),
}
IDLE = (Action.WAIT, Action.REDUCE)


def outputs(lane: Lane, events: list[str]) -> Iterator[Output]:
    """All that the machine asks for, with an event before each question, to its end.

    When the events are used up time passes, which ends every wait but the one for the port.
    """
    for number in range(2000):
        if number < len(events):
            EVENTS[events[number]](lane)
        elif number > 1000:
            EVENTS["gone"](lane)
        else:
            EVENTS["a minute"](lane)
        output = lane.next()
        yield output
        if output is Action.END:
            return
        if isinstance(output, Fail):
            yield lane.machine.fail(ERROR)
    raise AssertionError("the lane never ends")


@given(st.lists(st.sampled_from(sorted(EVENTS)), max_size=60), st.booleans())
def test_whatever_comes_in_whatever_order_a_lane_ends_once_and_asks_for_nothing_twice(
    events: list[str], live: bool
) -> None:
    lane = Lane(LIVE if live else REPLAY)
    asked = list(outputs(lane, events))
    phases = [output.phase for output in asked if isinstance(output, Report)]
    assert phases == sorted(phases, key=ORDER.index), "a phase never goes back"
    assert [phase for phase in phases if phase in ORDER[-3:]] == phases[-1:]
    once = [output for output in asked if isinstance(output, Action) and output not in IDLE]
    assert len(once) == len(set(once)), "each action once"
    order = list(Action)
    assert once == sorted(once, key=order.index) or Action.DROP_GUEST in once
    if Action.SEND_STOP in once:
        assert Action.START in once
    if lane.inputs.error is None:
        assert phases[-1] is ("stopped" if lane.inputs.stop_requested else "done")
    else:
        late = lane.inputs.stop_requested or Action.REDUCE_REST in once  # it was over by then
        assert phases[-1] == "failed" or late
