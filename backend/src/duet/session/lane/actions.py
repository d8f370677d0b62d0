# SPDX-License-Identifier: GPL-2.0-or-later
"""Steps of one run on one lane, and what its state machine asks of its driver."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto

from duet.session.events import LanePhase

OVER = (LanePhase.DONE, LanePhase.STOPPED, LanePhase.FAILED)


class Step(Enum):
    """What comes next; finer than the phase that viewers see."""

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
    """What the driver is to do now."""

    WAIT = auto()
    """Until a frame or an event has come; ask again after a while in any case."""
    FIND_GUEST = auto()
    """Look for a guest that is up; report `guest_found` if there is one."""
    OPEN_GUEST = auto()
    ATTACH_LENSES = auto()
    SEND_PLAN = auto()
    CALIBRATE = auto()
    AWAIT_OTHERS = auto()
    """Return when every lane of the run is ready or over."""
    START = auto()
    REDUCE = auto()
    """Let events gather for a moment, then decode and reduce them."""
    RELEASE_HOLD = auto()
    SEND_STOP = auto()
    LAST_COUNTS = auto()
    """The workload has ended: read the microscope's last counts."""
    REDUCE_REST = auto()
    """Nothing more will come: reduce all, and check it."""
    DROP_GUEST = auto()
    """Its answers to this plan must not reach the next run."""
    END = auto()


@dataclass(frozen=True, slots=True)
class Report:
    """The phase is reported, even one that was reported before: more is known of the guest."""

    phase: LanePhase


class Reason(Enum):
    """Why a lane failed."""

    REPORTED = auto()
    """The agent said so: LaneMachine.error."""
    GONE = auto()
    LATE = auto()


@dataclass(frozen=True, slots=True)
class Fail:
    """The run ends here.

    Args:
        waited_for: what has not come in time, if it is late.
    """

    reason: Reason
    waited_for: str = ""


Output = Action | Report | Fail


@dataclass(frozen=True, slots=True)
class Course:
    """How a run goes, as far as it is known before.

    Args:
        ready_s: from the plan to READY.
        run_s: from START to the workload's end, before it is stopped from here.
        sends_plan: the guest gets its plan by a frame; a recording and a plan at boot need none.
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
"""Steps that are one action: what is done, and which step follows."""
REPORTS = {
    Step.BOOT: (LanePhase.BOOTING, Step.OPEN),
    Step.READY: (LanePhase.READY, Step.OTHERS),
    Step.ABANDONED: (LanePhase.STOPPED, Step.OVER),
}
"""Steps that are one report."""
