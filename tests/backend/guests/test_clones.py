# SPDX-License-Identifier: GPL-2.0-or-later
"""Parked guests: what names them, what is stored, when they are made and given up."""

from __future__ import annotations

import asyncio
import logging
import mmap
import os
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from duet.base.errors import InfraError
from duet.guests.clones import Template, TemplateCounts, Templates, guest
from duet.guests.clones.copy import CloneMachine
from duet.guests.clones.guest import CloneableGuest
from duet.guests.clones.template import (
    copy_sparse,
    create_memfd,
    held_bytes,
    parked_plan,
    seal_memfd,
    split_plan,
    template_key,
)
from duet.guests.qemu import QemuGuest, QemuMachine
from duet.guests.types import Accel, GuestSpec

PLAN = "plan 1\ndeadline_ms 9000\nsetup duet-scratch xfs 512\nwrite /sys/a 1\nevent a/b\nrun x 3\n"
SOCKETS = {-1: Path("/r/ctl"), 0: Path("/r/c0")}


@pytest.fixture
def spec(tmp_path: Path) -> GuestSpec:
    for name in ("bzImage", "root.cpio"):
        (tmp_path / name).write_bytes(b"1")
    return GuestSpec("srcu", tmp_path / "bzImage", tmp_path / "root.cpio", plan=PLAN)


def a_template(key: str, mib: int = 1) -> Template:
    memory, state = create_memfd("m", mib << 20), create_memfd("s")
    os.pwrite(memory, b"x" * (mib << 20), 0)
    return Template(key, "plan 1\n", memory, state, (), b"hello", b"ready", 0.1)


def test_a_copy_gets_what_knobs_of_its_workload_change() -> None:
    base, amendment = split_plan(PLAN)
    assert base == "plan 1\nsetup duet-scratch xfs 512\nevent a/b\n"
    assert amendment == "deadline_ms 9000\nwrite /sys/a 1\nrun x 3\n"
    assert parked_plan(PLAN) == base + "run duet-check\n"


def test_the_key_changes_with_all_that_a_template_is_made_from(spec: GuestSpec) -> None:
    key = template_key(spec, "7.2")
    assert key is not None and key == template_key(spec, "7.2")
    other_knob = PLAN.replace("run x 3", "run x 9").replace("9000", "5000")
    assert template_key(replace(spec, plan=other_knob), "7.2") == key
    others = [
        replace(spec, plan=PLAN.replace("a/b", "a/c")),
        replace(spec, plan=PLAN.replace("512", "600")),
        replace(spec, vcpus=3),
        replace(spec, memory_mib=600),
        replace(spec, cmdline=("a=1",)),
        replace(spec, disks_mib=(8,)),
    ]
    keys = {template_key(one, "7.2") for one in others} | {template_key(spec, "8.0"), key}
    assert len(keys) == len(others) + 2
    spec.bzimage.write_bytes(b"22")
    assert template_key(spec, "7.2") not in keys


def test_what_must_boot_has_no_key(spec: GuestSpec) -> None:
    assert template_key(replace(spec, clock="count"), "7.2") is None
    assert template_key(replace(spec, plan=None), "7.2") is None
    assert template_key(replace(spec, boot_plan=PLAN), "7.2") is None


def test_zeros_become_holes_and_all_else_stays() -> None:
    source, target = create_memfd("a"), create_memfd("b")
    data = b"head" + bytes(1 << 20) + b"tail"
    os.pwrite(source, data, 0)
    copy_sparse(source, target)
    assert os.pread(target, len(data) + 1, 0) == data
    assert held_bytes(target) < held_bytes(source) // 4
    os.ftruncate(source, 1 << 24)  # a hole at the end
    copy_sparse(source, target)
    assert os.fstat(target).st_size == 1 << 24
    for number in (source, target):
        os.close(number)


def test_sealed_memory_takes_private_writes_alone() -> None:
    number = create_memfd("m", 4096)
    seal_memfd(number)
    with pytest.raises(PermissionError):
        os.pwrite(number, b"x", 0)
    again = os.open(f"/proc/self/fd/{number}", os.O_RDWR)
    with pytest.raises(PermissionError):
        mmap.mmap(again, 4096, mmap.MAP_SHARED)
    with mmap.mmap(again, 4096, mmap.MAP_PRIVATE) as private:
        private[0] = 7
    assert os.pread(number, 1, 0) == b"\0"
    for one in (number, again):
        os.close(one)


def test_a_copy_is_the_machine_that_boots_but_for_its_memory(
    spec: GuestSpec, tmp_path: Path
) -> None:
    template = a_template("k")
    machine = CloneMachine(spec, Accel.TCG, template)
    copied = machine.argv(tmp_path, SOCKETS)
    booted = QemuMachine(spec, Accel.TCG, False).argv(tmp_path, SOCKETS)
    assert copied[-3:] == ["-S", "-incoming", "defer"]
    backend = copied.index("-object")
    rest = [*copied[:backend], *copied[backend + 2 : -3]]
    rest[rest.index("q35,memory-backend=ram")] = "q35"
    assert rest == booted
    assert copied[backend + 1].endswith(f"/proc/self/fd/{machine.memory},share=off")
    template.close()
    assert os.fstat(machine.memory).st_size == 1 << 20  # its own hold on it
    asyncio.run(machine.close())


async def settled(templates: Templates) -> None:
    async with asyncio.timeout(60):
        await templates.wait_settled()


def test_templates_are_made_when_nothing_runs(spec: GuestSpec) -> None:
    async def body() -> None:
        made: list[str] = []
        gate = asyncio.Event()

        async def make(key: str, _: GuestSpec) -> Template:
            made.append(key)
            await gate.wait()
            return a_template(key)

        async with Templates(1 << 30, make) as templates:
            async with templates.paused():
                templates.request("a", spec)
                await asyncio.sleep(0.01)
                assert made == []
            await asyncio.sleep(0.01)
            assert made == ["a"]
            async with templates.paused():  # a run begins: the one in the making is given up
                await asyncio.sleep(0.01)
                gate.set()
            await settled(templates)
            assert made == ["a", "a"] and templates.find("a") is not None
            templates.request("a", spec)
            await settled(templates)
            assert len(made) == 2
            assert templates.find(None) is None and templates.find("b") is None

    asyncio.run(body())


def test_beyond_the_budget_the_one_unused_longest_goes(spec: GuestSpec) -> None:
    async def body() -> None:
        async def make(key: str, _: GuestSpec) -> Template:
            return a_template(key, mib=2)

        async with Templates(5 << 20, make) as templates:
            for key in ("a", "b"):
                templates.request(key, spec)
                await settled(templates)
            templates.find("a")
            templates.request("c", spec)
            await settled(templates)
            assert [bool(templates.find(key)) for key in "abc"] == [True, False, True]
            assert templates.held_bytes <= 5 << 20

    asyncio.run(body())


def test_what_may_be_made_later_comes_last_and_goes_first(spec: GuestSpec) -> None:
    async def body() -> None:
        made: list[str] = []
        gate = asyncio.Event()

        async def make(key: str, _: GuestSpec) -> Template:
            made.append(key)
            if key == "later-1":
                await gate.wait()
            return a_template(key, mib=2)

        async with Templates(7 << 20, make) as templates:
            async with templates.paused():
                for key in ("later-1", "later-2", "later-3", "later-4"):
                    templates.request(key, spec, later=True)
                templates.request("now", spec)
                templates.request("later-4", spec)  # a lane of it had to boot
            await settled(templates)
            await asyncio.sleep(0.05)
            assert made == ["later-4", "now", "later-1"]
            assert templates.counts().later == 3
            templates.request("sooner", spec)  # ends the one that nobody waits for
            await settled(templates)
            await asyncio.sleep(0.05)
            assert made == ["later-4", "now", "later-1", "sooner"]
            assert templates.counts().later == 0, "there is no room for a fourth"
            gate.set()
            templates.discard("sooner")
            templates.request("later-2", spec, later=True)
            await asyncio.sleep(0.05)
            assert made[4:] == ["later-2"] and templates.count == 3
            templates.request("more", spec)
            await settled(templates)
            assert templates.find("later-2") is None and templates.find("now") is not None

    asyncio.run(body())


def test_memory_of_templates_is_given_back_beside_the_event_loop(
    spec: GuestSpec, monkeypatch: pytest.MonkeyPatch
) -> None:
    closed: list[tuple[str, bool]] = []
    close = Template.close

    def noted(template: Template) -> None:
        on_loop = threading.current_thread() is threading.main_thread()
        closed.append((template.key, on_loop))
        close(template)

    async def make(key: str, _: GuestSpec) -> Template:
        return a_template(key)

    async def body() -> None:
        async with Templates(2 << 20, make) as templates:
            for key in "abc":  # the first has to go for the third
                templates.request(key, spec)
                await settled(templates)
            templates.discard("b")

    monkeypatch.setattr(Template, "close", noted)
    asyncio.run(body())
    assert sorted(closed) == [("a", False), ("b", False), ("c", False)]


FAILURES = [InfraError("no.", remedy="none."), OSError(28, "No space left on device")]


@pytest.mark.parametrize("failure", FAILURES, ids=["ours", "the-host's"])
def test_what_fails_twice_is_not_tried_again(
    spec: GuestSpec, failure: Exception, caplog: pytest.LogCaptureFixture
) -> None:
    async def body() -> None:
        tries: list[str] = []

        async def make(key: str, _: GuestSpec) -> Template:
            tries.append(key)
            raise failure

        async with Templates(1 << 30, make) as templates:
            templates.request("a", spec)
            await settled(templates)
            templates.request("a", spec)
            await settled(templates)
            assert tries == ["a", "a"]
            assert templates.counts() == TemplateCounts(failed=2)

    caplog.set_level(logging.INFO, "duet.clones")
    asyncio.run(body())
    if isinstance(failure, InfraError):  # the first is tried again
        assert [record.levelname for record in caplog.records] == ["INFO", "WARNING"]


def test_a_template_whose_copy_failed_is_given_up(spec: GuestSpec) -> None:
    async def body() -> None:
        async def make(key: str, _: GuestSpec) -> Template:
            return a_template(key)

        async with Templates(1 << 30, make) as templates:
            templates.request("a", spec)
            await settled(templates)
            assert templates.counts() == TemplateCounts(1, templates.held_bytes, made=1)
            templates.discard("a")
            assert templates.find("a") is None and templates.held_bytes == 0
            assert templates.counts() == TemplateCounts(made=1, refused=1)

    asyncio.run(body())


@pytest.mark.parametrize("failure", FAILURES, ids=["ours", "the-host's"])
@pytest.mark.parametrize("where", ["made", "started"])
def test_a_lane_whose_copy_fails_boots(
    spec: GuestSpec, monkeypatch: pytest.MonkeyPatch, where: str, failure: Exception
) -> None:
    closed: list[bool] = []

    class Failing:
        def __init__(self, *_: object) -> None:
            if where == "made":
                raise failure

        async def start(self) -> None:
            raise failure

        async def close(self) -> None:
            closed.append(True)

    async def boots(self: QemuGuest, accel: Accel, version: str) -> str:
        return "booted"

    monkeypatch.setattr(guest, "CloneMachine", Failing)
    monkeypatch.setattr(QemuGuest, "start", boots)

    async def body() -> None:
        async def make(key: str, _: GuestSpec) -> Template:
            return a_template(key)

        async with Templates(1 << 30, make) as templates:
            key = template_key(spec, "7.2")
            templates.request(key, spec)
            await settled(templates)
            lane = CloneableGuest(spec, "auto", templates)
            assert await lane.start(Accel.TCG, "7.2") == "booted"
            assert templates.count == 0 and not lane.cloned
            assert bool(closed) == (where == "started")

    asyncio.run(body())
