# SPDX-License-Identifier: GPL-2.0-or-later
"""What the soak asks of copies and budgets: each of its checks can fail."""

from __future__ import annotations

import asyncio
import mmap
import os
from pathlib import Path

import pytest

from duet.confine.control_groups import Budget, Group
from duet.guests.clones.template import create_memfd
from tests.soak import parked
from tests.soak.parked import (
    Memory,
    Starts,
    group_faults,
    groups_left,
    mapped_files,
    memory_faults,
    template_memory,
    until_parked,
)
from tests.soak.people import Message
from tests.soak.soak import unexplained

NOW = {"held": 2.0, "held_bytes": 2.0, "making": 1.0, "waiting": 0.0}


def lane(arm: str, phase: str, **more: object) -> Message:
    return {"run_id": "r", "arm": arm, "phase": phase, "accel": "tcg", **more}


def test_lanes_are_counted_once_by_how_they_came_up() -> None:
    starts = Starts()
    for arm, cloned in (("a", True), ("b", False), ("c", True)):
        starts.take(lane(arm, "waiting"))
        if arm != "c":  # its guest was up
            starts.take(lane(arm, "booting"))
        for phase in ("ready", "running", "done"):
            starts.take(lane(arm, phase, boot_s=0.2, cloned=cloned))
    starts.take(lane("d", "booting"))
    starts.take(lane("d", "failed"))
    assert starts.ways == {"copied": 1, "booted": 1, "reused": 1}
    both = Starts()
    both.add(starts)
    both.add(starts)
    assert both.ways["copied"] == 2 and both.emulated


def test_a_long_run_without_a_copy_is_a_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    starts = Starts()
    starts.take(lane("a", "booting"))
    starts.take(lane("a", "ready", boot_s=2.0))
    assert starts.missing_copies(3.0) == ["no lane was a copy, and 1 booted"]
    assert starts.missing_copies(2.9) == []
    monkeypatch.setenv("DUET_TEMPLATES_MIB", "0")
    assert starts.missing_copies(3.0) == []
    monkeypatch.delenv("DUET_TEMPLATES_MIB")
    starts.ways["copied"] += 1
    assert starts.missing_copies(60) == []


def test_memory_that_no_template_has_is_a_leak() -> None:
    assert memory_faults(Memory(3, 9, 1 << 20), NOW, 0) == []
    assert "memory of 4 parked guests" in memory_faults(Memory(4, 9, 1 << 20), NOW, 0)[0]
    assert "10 descriptors" in memory_faults(Memory(3, 10, 1 << 20), NOW, 0)[0]
    assert memory_faults(Memory(3, 12, 1 << 20), NOW, 1) == []
    much = NOW | {"held_bytes": float(1 << 40)}
    assert "beyond the budget" in memory_faults(Memory(3, 9, 1 << 20), much, 0)[0]


def test_files_in_memory_of_a_process_are_found_and_those_that_copies_map_are_not_unused() -> None:
    files = [
        create_memfd("duet-memory", 1 << 20),
        create_memfd("duet-memory", 1 << 20),
        create_memfd("other"),
    ]
    try:
        os.pwrite(files[0], b"x" * 8192, 0)
        found = template_memory(os.getpid(), [])
        assert (found.unused, found.descriptors, found.bytes) == (2, 2, 8192)
        with mmap.mmap(files[1], 1 << 20, mmap.MAP_PRIVATE):
            assert mapped_files(Path("/proc/self/maps").read_text()) == {os.fstat(files[1]).st_ino}
            assert template_memory(os.getpid(), [os.getpid()]).unused == 1
    finally:
        for number in files:
            os.close(number)


def test_each_guest_has_its_control_group_and_no_group_is_left() -> None:
    assert group_faults(os.getpid(), 0, []) == []
    with Group(Budget(64 << 20, 8), "lane") as group:
        if not group.folders:
            pytest.skip("no control group can be made here")
        assert group_faults(os.getpid(), 1, []) == []
        assert "1 control groups for 0 guests" in group_faults(os.getpid(), 0, [])[0]
        assert "1 control groups for 2 guests" in group_faults(os.getpid(), 2, [])[0]
        assert "control group duet-lane-" in group_faults(os.getpid(), 1, [os.getpid()])[0]
        assert groups_left(os.getpid())


class Parks:
    """A server that has parked after some questions, and the page that opens its lesson."""

    def __init__(self, after: int) -> None:
        self.left, self.said = after, 0

    def text(self, path: str) -> str:
        self.left -= 1
        held = 2 if self.left <= 0 else 0
        assert path == "/metrics"
        return f"duet_templates_held {held}\nduet_templates_waiting 0\nduet_runs_active 7\n"

    async def say(self, **message: object) -> None:
        self.said += message["type"] == "open"


def test_a_new_server_is_left_alone_until_guests_are_parked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(parked, "kvm_refusal", lambda: "There is no /dev/kvm.")
    server = Parks(2)
    assert asyncio.run(until_parked(server, server, first=True)) == []  # type: ignore[arg-type]
    assert server.said == 1 and server.left == 0
    monkeypatch.setattr(parked, "PARK_S", 0.6)
    (why,) = asyncio.run(until_parked(Parks(99), server, first=True))  # type: ignore[arg-type]
    assert why.startswith("guests were not parked within 1 s")
    monkeypatch.setenv("DUET_TEMPLATES_MIB", "0")
    assert asyncio.run(until_parked(Parks(99), server, first=True)) == []  # type: ignore[arg-type]
    monkeypatch.delenv("DUET_TEMPLATES_MIB")
    monkeypatch.setattr(parked, "kvm_refusal", lambda: "")
    assert asyncio.run(until_parked(Parks(99), server, first=True)) == []  # type: ignore[arg-type]


def test_what_follows_an_explained_line_is_explained_with_it() -> None:
    log = "ERROR duet.clones: no guest could be parked\nTraceback (most recent):\nOSError: [28]\n"
    assert unexplained(log, r"duet\.clones: ") == []
    assert len(unexplained(log, r"$^")) == 3
    assert len(unexplained(log + "INFO duet.api: x\nTraceback\n", r"duet\.clones: ")) == 1
