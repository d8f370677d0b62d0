# SPDX-License-Identifier: GPL-2.0-or-later
"""The state machine of a lane's run, which turns frames, events and time into actions. No I/O.

The driver calls `next(now)`, carries out the action, and calls again. The next call tells the
machine that the action is done. A replay sends all frames immediately and without commands, so
phases follow the received frames, not the driver's commands.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto
from typing import Final

from duet.base.errors import DuetError
from duet.messages.base import LanePhase
from duet.session.limits import Limits
from duet.wire import Drained, Ended, Frame, Hello, Ready, Started

# Steps of one run of one lane, and actions for the driver.

OVER = ("done", "stopped", "failed")


class Step(Enum):
    """State of the machine. States are finer-grained than the phases that viewers see."""

    FIND = auto()
    BOOT = auto()
    OPEN = auto()
    PORT = auto()
    GREETING = auto()
    LENSES = auto()
    PLAN = auto()
    SETUP = auto()
    READY = auto()
    OTHERS = auto()
    START = auto()
    RUN = auto()
    STOP = auto()
    STOPPING = auto()
    COLLECT = auto()
    PAGES = auto()
    FINISH = auto()
    ABANDONED = auto()
    OVER = auto()


class Action(Enum):
    """What the driver must do now."""

    WAIT = auto()
    """Wait for a frame or an event, with a timeout."""
    FIND_GUEST = auto()
    """Look for a suitable running guest, and call `guest_found` if there is one."""
    OPEN_GUEST = auto()
    ATTACH_LENSES = auto()
    SEND_PLAN = auto()
    CALIBRATE = auto()
    AWAIT_OTHERS = auto()
    """Wait until every lane of the run is ready or over."""
    START = auto()
    REDUCE = auto()
    """Wait briefly for more events, then decode and reduce them."""
    RELEASE_HOLD = auto()
    SEND_STOP = auto()
    LAST_COUNTS = auto()
    """Read the microscope's last counts after the workload's end."""
    REDUCE_REST = auto()
    """Reduce all remaining events, and check the result."""
    DROP_GUEST = auto()
    """Close the guest, so that its answers to this plan never reach the next run."""
    END = auto()


@dataclass(frozen=True, slots=True)
class Report:
    """Report a phase. A phase may be reported a second time, with more facts about the guest."""

    phase: LanePhase


class Reason(Enum):
    """Why a lane failed."""

    REPORTED = auto()
    """The agent reported an error (Inputs.error)."""
    GONE = auto()
    LATE = auto()


@dataclass(frozen=True, slots=True)
class Fail:
    """End the run with an error.

    Args:
        waited_for: for LATE, the event that did not happen in time.
    """

    reason: Reason
    waited_for: str = ""


Output = Action | Report | Fail


@dataclass(frozen=True, slots=True)
class Course:
    """Parameters of the state machine that are known before the run.

    Args:
        ready_s: timeout from the plan to READY.
        run_s: timeout from START to the workload's end. Then the host stops the workload.
        sends_plan: whether to send the plan as a frame. False for a recording, and for a plan at
            boot.
        sends_start: the workload waits for START.
    """

    ready_s: float
    run_s: float
    sends_plan: bool
    sends_start: bool


ACTIONS = {
    Step.FIND: (Action.FIND_GUEST, Step.BOOT),
    Step.OPEN: (Action.OPEN_GUEST, Step.PORT),
    Step.LENSES: (Action.ATTACH_LENSES, Step.PLAN),
    Step.PLAN: (Action.SEND_PLAN, Step.SETUP),
    Step.OTHERS: (Action.AWAIT_OTHERS, Step.START),
    Step.START: (Action.START, Step.RUN),
    Step.COLLECT: (Action.LAST_COUNTS, Step.PAGES),
}
"""Steps that consist of one action -> the action and the next step."""
REPORTS: Final[dict[Step, tuple[LanePhase, Step]]] = {
    Step.BOOT: ("booting", Step.OPEN),
    Step.READY: ("ready", Step.OTHERS),
    Step.ABANDONED: ("stopped", Step.OVER),
}
"""Steps that consist of one report -> the phase and the next step."""


class Inputs:
    """Inputs of the state machine. Frames may arrive in any order, even before the first action."""

    def __init__(self) -> None:
        self.error: DuetError | None = None
        """The error that the agent reported, or the reason why the lane failed."""
        self.hello: Hello | None = None
        self.status: int | None = None
        """Exit code of the workload, negative for a signal; None until it has ended."""
        self.port_open = False
        self.missing_bytes = 0
        """Number of page bytes that the agent has sent, but that have not arrived."""
        self.gone = False
        """Whether the guest has ended."""
        self.stop_requested = False
        self.ready = self.started = self.ended = self.drained = False

    def receive(self, frame: Frame) -> None:
        """Update the inputs from a frame of the control port."""
        match frame:
            case Hello():
                self.hello = frame
            case Ready():
                self.ready = True
            case Started():
                self.started = True
            case Ended(_, status):
                self.started = self.ended = True
                self.status = status
            case Drained():
                self.drained = True
            case _:
                pass


class LaneMachine:
    """The state machine of one run of one lane."""

    def __init__(self, inputs: Inputs, limits: Limits, course: Course) -> None:
        self._in, self._limits, self._course = inputs, limits, course
        self.step = Step.FIND
        self.phase: LanePhase = "waiting"
        self.deadline: float | None = None
        """Deadline of the current step, on the clock of `next`."""
        self._drain_by: float | None = None
        self.overran = False
        """Whether the workload was stopped at its timeout."""
        self._missing_before = 0

    @property
    def over(self) -> bool:
        """Whether the run has ended."""
        return self.phase in OVER

    @property
    def workload_runs(self) -> bool:
        """Whether the clock whose time `next` receives must stop while the guest is held."""
        return self.step in (Step.RUN, Step.STOP, Step.STOPPING)

    def guest_found(self) -> None:
        """Continue with the running guest that FIND_GUEST has found, without a boot."""
        self._enter(Step.LENSES)

    def fail(self, error: DuetError) -> Report:
        """End the run with an error."""
        self._in.error = error
        return self._report("failed", Step.OVER)

    def next(self, now: float) -> Output:
        """Return the next action.

        Args:
            now: seconds of a monotonic clock. During `workload_runs`, this clock stops while the
                guest is held.
        """
        if self.step in (Step.FIND, Step.START) and self._in.stop_requested:
            return self._abandon()
        if self.step is Step.PLAN and not self._course.sends_plan:
            self._enter(Step.SETUP)
        if self.step in ACTIONS:
            return self._do(*ACTIONS[self.step])
        if self.step in REPORTS:
            return self._report(*REPORTS[self.step])
        match self.step:
            case Step.PORT | Step.GREETING | Step.SETUP:
                return self._await_guest(now)
            case Step.RUN | Step.STOPPING:
                return self._run(now)
            case Step.STOP:
                self._enter(Step.STOPPING)
                self.deadline = now + self._limits.stop_s
                return Action.SEND_STOP
            case Step.PAGES:
                return self._await_pages(now)
            case Step.FINISH:
                return self._finish()
            case _:
                return Action.END

    def _enter(self, step: Step) -> None:
        self.step, self.deadline = step, None

    def _do(self, action: Action, then: Step) -> Action:
        self._enter(then)
        return action

    def _report(self, phase: LanePhase, then: Step) -> Report:
        if then is not self.step:
            self._enter(then)
        self.phase = phase
        return Report(phase)

    def _abandon(self) -> Output:
        """Handle a stop before the workload has started."""
        if not self._in.ready and self.step is not Step.FIND:
            return self._do(Action.DROP_GUEST, Step.ABANDONED)
        return self._report("stopped", Step.OVER)

    def _await_guest(self, now: float) -> Output:
        done, limit_s, what = {
            Step.PORT: (self._in.port_open, None, "the guest to boot"),
            Step.GREETING: (self._in.hello is not None, self._limits.hello_s, "its agent"),
            Step.SETUP: (self._in.ready, self._course.ready_s, "its probes to be set up"),
        }[self.step]
        if self._in.error:
            return Fail(Reason.REPORTED)
        if done:
            if self.step is Step.PORT:
                self._enter(Step.GREETING)
                return self._await_guest(now)
            if self.step is Step.GREETING:
                return self._report("booting", Step.LENSES)
            return self._do(Action.CALIBRATE, Step.READY)
        if self._in.gone:
            return Fail(Reason.GONE)
        if self._in.stop_requested:
            return self._abandon()
        if self.deadline is None and limit_s is not None:
            self.deadline = now + limit_s
        if self.deadline is not None and now > self.deadline:
            return Fail(Reason.LATE, what)
        return Action.WAIT

    def _run(self, now: float) -> Output:
        if self.deadline is None:
            self.deadline = now + self._course.run_s
            return self._collect(now) if self._in.drained else Action.REDUCE
        if self._in.error:
            return Fail(Reason.REPORTED)
        if self._in.gone and not self._in.drained:
            return Fail(Reason.GONE)
        if self._in.started and self.phase == "ready":
            return self._report("running", self.step)
        if self._in.ended and self._drain_by is None:
            self._drain_by = now + self._limits.drain_s
            return self._report("draining", self.step)
        overdue = now > self.deadline
        if self.step is Step.RUN and (overdue or self._in.stop_requested):
            self.overran = not self._in.stop_requested
            self._in.stop_requested = True
            return self._do(Action.RELEASE_HOLD, Step.STOP)  # a held guest cannot receive STOP
        if overdue or (self._drain_by is not None and now > self._drain_by):
            return Fail(Reason.LATE, "its workload to end and its events to come")
        return self._collect(now) if self._in.drained else Action.REDUCE

    def _collect(self, now: float) -> Output:
        self._enter(Step.COLLECT)
        return self.next(now)

    def _await_pages(self, now: float) -> Output:
        """Wait for pages that arrive after DRAINED. Stop after `missing_s` seconds of silence."""
        if self.deadline is None or self._in.missing_bytes < self._missing_before:
            self._missing_before = self._in.missing_bytes
            self.deadline = now + self._limits.missing_s
        if self._in.missing_bytes and not self._in.gone and now < self.deadline:
            return Action.REDUCE
        return self._do(Action.REDUCE_REST, Step.FINISH)

    def _finish(self) -> Output:
        if self._in.started and self.phase == "ready":
            return self._report("running", self.step)
        return self._report("stopped" if self._in.stop_requested else "done", Step.OVER)
