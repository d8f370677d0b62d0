# SPDX-License-Identifier: GPL-2.0-or-later
"""Sentences about a lane that has failed, and the guest's console with them."""

from __future__ import annotations

from duet.errors import DuetError, InfraError, InputError, KernelError
from duet.guests.console import killed_for_memory
from duet.session.lane.actions import Fail, Reason
from duet.session.lane.guest import Lane
from duet.session.lane.inputs import Inputs
from duet.session.trouble import agent_trouble
from duet.wire import GuestError


class Faults:
    """Makes the errors of one lane.

    Args:
        recorded: it is a recording, so the file is to blame and not a guest.
        memory_mb: of the guest.
        counted: it runs on the count clock.
    """

    def __init__(self, arm: str, *, recorded: bool, memory_mb: int, counted: bool = False) -> None:
        self._arm, self._recorded, self._memory_mb = arm, recorded, memory_mb
        self._counted = counted
        self.guest: Lane | None = None

    @property
    def _console(self) -> str:
        return self.guest.console_tail() if self.guest else ""

    def of(self, failure: Fail, inputs: Inputs) -> DuetError:
        """The error behind a failure of the state machine."""
        if failure.reason is Reason.REPORTED and inputs.error:
            return inputs.error
        return self._late(failure.waited_for) if failure.waited_for else self._gone()

    def agent(self, frame: GuestError) -> DuetError:
        """What the agent reports."""
        return agent_trouble(frame, self._console)

    def too_much(self, what: str) -> DuetError:
        """A budget is exceeded."""
        if self._recorded:
            return InputError(
                f"lane {self._arm} of the recording has {what}, which no run has.",
                remedy="Get the file anew, or record it again.",
            )
        return KernelError(
            f"the guest of lane {self._arm} sent {what}, so it was ended.",
            remedy="Ask for less of the workload, or let it write less.",
        )

    def out_of_memory(self) -> DuetError | None:
        """The cause behind a signal, odd numbers, or a guest that hangs; None: it is another."""
        console = "" if self._recorded else self._console
        victim = killed_for_memory(console)
        if victim is None:
            return None
        return KernelError(
            f"the guest of lane {self._arm} ran out of memory ({self._memory_mb} MB), and its "
            f"kernel killed `{victim}`.",
            remedy="Ask for less of the workload, or raise memory_mb in lesson.yaml.",
            detail=console,
        )

    def _gone(self) -> DuetError:
        if self.guest and self.guest.error:
            return self.guest.error
        if self._recorded:
            return InfraError(
                f"the recording of lane {self._arm} ends in the middle of its run.",
                remedy="Record it again.",
            )
        return InfraError(
            f"the guest of lane {self._arm} went away in the middle of its run.",
            remedy="Run it again; the console tail may tell why.",
            detail=self._console,
        )

    def endless(self, limit: str) -> DuetError:
        """A workload that was stopped at its limit."""
        ended = (
            f"the workload on {self._arm} did not end within its limit, {limit}, so it was stopped"
        )
        remedy = "Run it again with fewer threads or seconds, or on a machine with less to do."
        if self._counted:
            ended += (
                "; programs that wait for each other in a loop (busy waiting) are not counted well "
                "on the count clock"
            )
            remedy += " If it waits busily, measure it with --clock wall (docs/COUNT-CLOCK.md)."
        return KernelError(f"{ended}.", remedy=remedy, detail=self._console)

    def _late(self, what: str) -> DuetError:
        return KernelError(
            f"lane {self._arm} waited too long for {what}.",
            remedy="Run it again with fewer threads or seconds, or on a machine with less to do.",
            detail=self._console,
        )
