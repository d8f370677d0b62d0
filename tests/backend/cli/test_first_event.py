# SPDX-License-Identifier: GPL-2.0-or-later
"""A lane that is started and waited for: what goes wrong is in the answer."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from duet.base.errors import InfraError, KernelError
from duet.cli.arguments import read_request
from duet.cli.doctor import first_event
from duet.cli.doctor.first_event import LaneStart, recording_guests
from duet.guests.boot import BootReport
from duet.guests.qemu import QemuGuest
from duet.guests.types import GuestSpec
from duet.session import LaneSource

SLUG = "02-grace-periods"
WHY = "the kernel of lane rwsem panicked: no."


def test_tries_to_boot_are_those_of_all_guests_of_a_lane(tmp_path: Any) -> None:
    spec = GuestSpec("rwsem", tmp_path / "b", tmp_path / "r")
    made: list[Any] = []
    source = recording_guests(LaneSource("rwsem", {}, lambda _: QemuGuest(spec, "tcg")), made)
    guest = source.guest(None)  # type: ignore[arg-type]
    assert made == [guest]
    guest.reports = (BootReport(1, 1.0, "hung"), replace(BootReport(2, 1.0, "up")))  # type: ignore[attr-defined]
    assert sum(len(one.reports) for one in made) == 2


class NeverUp(QemuGuest):
    """A guest that was tried twice and did not come up."""

    async def __aenter__(self) -> Any:
        self.reports = (BootReport(1, 1.0, "hung"), BootReport(2, 1.0, "hung"))
        raise KernelError(WHY, remedy="none.")


def test_a_guest_that_does_not_come_up_is_a_start_that_failed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Any, run_async: Any
) -> None:
    spec = GuestSpec("rwsem", tmp_path / "b", tmp_path / "r")
    source = LaneSource("rwsem", {}, lambda _: NeverUp(spec, "tcg"))

    async def kernel_sources(*_: object) -> dict[str, LaneSource]:
        return {"rwsem": source}

    monkeypatch.setattr(first_event, "kernel_sources", kernel_sources)
    request = read_request(SLUG, "", "", "wall", [])
    start = run_async(first_event.first_event(request, "rwsem", None))
    assert start == LaneStart("", None, False, 2, WHY)

    async def no_kernel(*_: object) -> dict[str, LaneSource]:
        raise InfraError("no kernel.", remedy="none.")

    monkeypatch.setattr(first_event, "kernel_sources", no_kernel)
    start = run_async(first_event.first_event(request, "rwsem", None))
    assert start == LaneStart("", None, False, 0, "no kernel.")
