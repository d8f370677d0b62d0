# SPDX-License-Identifier: GPL-2.0-or-later
"""Kinds of guests by name; and what a console says."""

from __future__ import annotations

from pathlib import Path

import pytest

from duet.base.errors import InputError
from duet.guests import REGISTRY, GuestOptions, default_kind, open_guest
from duet.guests.machine import Console, killed_for_memory
from duet.guests.qemu import QemuGuest
from duet.guests.registry import Registry
from duet.guests.replay import ReplayGuest
from duet.guests.vng import VngGuest
from tests.support.scripted import spec


def test_two_kinds_stand_behind_one_interface() -> None:
    options = GuestOptions(policy="tcg", programs=Path("/p"))
    kinds = {kind: type(open_guest(kind, spec(), options)) for kind in REGISTRY.kinds()}
    assert kinds == {"qemu": QemuGuest, "vng": VngGuest}


def test_a_name_can_be_taken_once() -> None:
    registry = Registry()
    registry.register("x", lambda spec, options: ReplayGuest([]))
    with pytest.raises(ValueError, match="`x` is registered twice"):
        registry.register("x", lambda spec, options: ReplayGuest([]))


def test_an_unknown_kind_lists_the_known() -> None:
    with pytest.raises(InputError) as caught:
        open_guest("xen", spec())
    assert caught.value.remedy == "Use one of: qemu, vng."


def test_kind_comes_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DUET_GUEST", raising=False)
    assert default_kind() == "qemu"
    monkeypatch.setenv("DUET_GUEST", "vng")
    assert default_kind() == "vng"


def test_console_keeps_its_tail_and_finds_a_panic() -> None:
    console = Console(limit=64)
    console.feed(b"x" * 100 + b"\r\n\x1b[0m")
    assert len(console.tail()) <= 64 and "\x1b" not in console.tail()
    assert console.panic() is None
    console.feed(b"Kernel panic - not syncing: Fatal excep")
    console.feed(b"tion\r\nmore")
    assert console.panic() == "Fatal exception"


def test_a_kill_for_want_of_memory_is_found_and_one_within_a_cgroup_is_not() -> None:
    line = "Killed process 77 (storm-3) total-vm:1kB, anon-rss:1kB"
    assert killed_for_memory(f"[    9.1] Memory cgroup out of memory: {line}\n") is None
    assert killed_for_memory(f"Out of memory: {line}\n") == "storm-3"
    twice = f"[    9.1] Out of memory: {line}\n[    9.2] Out of memory: Killed process 8 (b c) x\n"
    assert killed_for_memory(twice) == "b c"
    assert killed_for_memory("") is None
