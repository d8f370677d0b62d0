# SPDX-License-Identifier: GPL-2.0-or-later
"""The microscope in real QEMU: counts equal the program's own, to the access, and nothing that a
host does to it holds up a guest."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from duet.guests import GuestOptions, GuestRoot, GuestSpec, open_guest
from duet.lenses.scope import RESET, Hello, Reply, watch_line
from tests.support import scope_driver as hammer
from tests.support.guest_driver import Driver
from tests.support.scope_driver import Said
from tests.support.scope_end import ScopeEnd, Victim

pytestmark = pytest.mark.guest

LOG = 1 << 20
ROUNDS = 700
"""A thread's log fits into a vCPU's ring, if nobody reads before the end."""
Run = Callable[..., object]
Look = Callable[..., AbstractAsyncContextManager[tuple[Driver, ScopeEnd]]]


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return hammer.build(tmp_path_factory.mktemp("hammer"))


@pytest.fixture(scope="module")
def neighbour(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return hammer.build(tmp_path_factory.mktemp("neighbour"), "neighbour")


@pytest.fixture(scope="module")
def address(program: Path) -> int:
    return hammer.address_of(program, " object")


@pytest.fixture
def look(program: Path, neighbour: Path, guest_root: GuestRoot, tmp_path: Path) -> Look:
    """`async with look(vcpus=2, ...) as (driver, end)`: a guest with both programs, and its
    microscope."""
    kernel = hammer.stock()
    switch = hammer.entry_of(kernel.vmlinux, "__switch_to_asm")
    image = hammer.initrd("bin/hammer", program, tmp_path / "hammer.cpio", guest_root.image)
    image = hammer.initrd("bin/neighbour", neighbour, tmp_path / "root.cpio", image)
    scope = hammer.microscope(program, switch, neighbour)

    @asynccontextmanager
    async def enter(
        operation: str = "strike", **changes: Any
    ) -> AsyncIterator[tuple[Driver, ScopeEnd]]:
        text = scope.functions.replace("operation strike", f"operation {operation}")
        spec = GuestSpec(
            "stock", kernel.bzimage, image, microscope=replace(scope, functions=text), **changes
        )
        async with open_guest("qemu", spec, GuestOptions(policy="kvm")) as guest:
            assert guest.facts.scope_socket is not None
            with ScopeEnd(guest.facts.scope_socket) as end:
                yield Driver(guest), end

    return enter


async def strike(driver: Driver, threads: int, rounds: int = ROUNDS) -> Said:
    """Run it; what it says itself is right."""
    outcome = await driver.run(f"plan 1\ntrace off\nrun hammer {threads} {rounds}\n")
    said = Said.of(outcome.text)
    assert said.calls == said.xadd == said.cmpxchg == threads * rounds
    assert said.tries >= said.calls
    return said


def agrees(end: ScopeEnd, said: Said, address: int, log: int = LOG) -> np.ndarray:
    """Counts and log against what the program said; returns the log."""
    cells, records = end.snapshot()
    assert hammer.counted(cells, address) == hammer.wanted(said)
    sizes = {at: 1 << (size.bit_length() - 1) for at, _, size in hammer.STRIKE}
    assert {at: bits for at, bits in hammer.sizes(cells, address).items() if at in sizes} == sizes
    of_object = hammer.PER_CALL * said.calls + said.tries
    # Neither push and pop of %rbx, in strike()'s own frame, nor the return address.
    assert cells.accesses == of_object
    assert cells.untold == 0
    assert cells.ops_begun == said.calls
    assert cells.ops_ended + cells.ops_broken == said.calls
    assert cells.ops_touching == cells.ops_ended
    assert cells.logged + cells.lost + cells.over == of_object
    assert cells.over == max(0, of_object - cells.lost - log)
    assert records["seq"].tolist() == list(range(cells.logged))
    return records if not cells.lost else records[:0]


async def charges_nobody_elses(
    driver: Driver, end: ScopeEnd, neighbour: Path, vcpus: int, rounds: int = hammer.REP_ROUNDS
) -> None:
    """Watched functions leave in every way there is; what unwatched code does then is not theirs.

    The program's own counters are the count: each call of a watched function is one atomic.
    """
    counters = hammer.address_of(neighbour, " own")
    assert end.ask(RESET).ok
    outcome = await driver.run(f"plan 1\ntrace off\nrun neighbour {vcpus} {ROUNDS}\n")
    calls, own = hammer.counters_of(outcome.text)
    assert calls == sum(own) == len(own) * vcpus * ROUNDS
    cells, _ = end.snapshot()
    names = ["strike", *hammer.WAYS]
    wanted = {(way, str(8 * n)): [0, 0, own[n]] for n, way in enumerate(hammer.WAYS)}
    for way, (reads, writes) in hammer.BESIDES.items():
        count = own[hammer.WAYS.index(way)]
        wanted[way, "elsewhere"] = [reads * count, writes * count, 0]
    charged: dict[tuple[str, str], list[int]] = {}
    for cell in cells.cells:
        at = int(cell["address"]) - counters
        place = str(at) if 0 <= at < 8 * len(own) else "elsewhere"
        row = charged.setdefault((names[cell["function"]], place), [0, 0, 0])
        row[:] = (row[i] + int(cell[kind]) for i, kind in enumerate(("reads", "writes", "rmws")))
    assert charged == wanted
    assert cells.untold == rounds * own[hammer.WAYS.index("leave_rep")]
    assert cells.accesses == sum(sum(row) for row in wanted.values()) + cells.untold


@pytest.mark.parametrize("vcpus", [1, 2, 4, 8])
def test_counts_are_the_programs_own_to_the_access(
    vcpus: int, look: Look, address: int, neighbour: Path, run_async: Run
) -> None:
    watched = 1 + len(hammer.WAYS)

    async def scenario() -> None:
        async with look(vcpus=vcpus) as (driver, end):
            assert end.until(lambda _: True) == Hello(2, hammer.PLUGIN_API, vcpus, watched)
            assert end.ask(watch_line(address, hammer.OBJECT_BYTES, LOG)).ok
            log = agrees(end, await strike(driver, max(2, vcpus)), address)
            for cpu in range(vcpus if vcpus > 1 else 0):  # a thread on each
                mine = hammer.without_tries(log[log["cpu"] == cpu])
                once = mine[: hammer.PER_CALL]
                assert [at for at, _, _ in once] == [at for at, _, _ in hammer.STRIKE][: len(once)]
                assert mine == once * ROUNDS or len(log) == 0
            # A zero in a running guest, and once more.
            assert end.ask(RESET) == Reply(True, "reset")
            assert end.ask(watch_line(address, hammer.OBJECT_BYTES, 100)).ok
            agrees(end, await strike(driver, 2, 200), address, 100)
            await charges_nobody_elses(driver, end, neighbour, vcpus)

    run_async(scenario())


def test_counts_on_the_count_clock(
    look: Look, address: int, neighbour: Path, run_async: Run
) -> None:
    async def scenario() -> None:
        async with look(clock="count") as (driver, end):
            end.ask(watch_line(address, hammer.OBJECT_BYTES, LOG))
            log = agrees(end, await strike(driver, 2, 300), address)
            assert set(log["cpu"].tolist()) == {0}
            await charges_nobody_elses(driver, end, neighbour, 1, hammer.COUNTED_REP_ROUNDS)

    run_async(scenario())


def test_an_operation_that_ends_by_a_tail_call_is_broken_and_says_so(
    look: Look, run_async: Run
) -> None:
    async def scenario() -> None:
        async with look(operation="leave_jmp") as (driver, end):
            assert end.ask(RESET).ok
            outcome = await driver.run("plan 1\ntrace off\nrun neighbour 1 50\n")
            _, own = hammer.counters_of(outcome.text)
            cells, _ = end.snapshot()
            calls = own[hammer.WAYS.index("leave_jmp")]
            assert (cells.ops_begun, cells.ops_left) == (calls, calls)
            assert (cells.ops_ended, cells.ops_slept, cells.ops_again) == (0, 0, 0)
            inside = cells.cells[cells.cells["inside"] == 1]
            assert inside["rmws"].tolist() == [calls], "what follows the jump lies outside"
        # From one function to the return of another, whatever the first one leaves by.
        async with look(operation="leave_jmp\nuntil leave_taken") as (driver, end):
            assert end.ask(RESET).ok
            await driver.run("plan 1\ntrace off\nrun neighbour 1 50\n")
            cells, _ = end.snapshot()
            assert (cells.ops_begun, cells.ops_ended, cells.ops_broken) == (calls, calls, 0)
            inside = cells.cells[cells.cells["inside"] == 1]
            assert inside["rmws"].tolist() == [calls] * 3, "leave_jmp, leave_jcc, leave_taken"

    run_async(scenario())


def test_a_reader_that_is_killed_is_forgotten(look: Look, address: int, run_async: Run) -> None:
    async def scenario() -> None:
        async with look(vcpus=2) as (driver, end):
            path = driver.guest.facts.scope_socket  # QEMU names it without its folder
            end.socket.close()
            victim = Victim(path, watch_line(address, hammer.OBJECT_BYTES, LOG))
            outcome = await driver.plan("plan 1\ntrace off\nrun hammer 2 3000\n")
            assert outcome.error is None
            victim.kill()
            with ScopeEnd(path) as second:
                second.ask(watch_line(address, hammer.OBJECT_BYTES, LOG))
                agrees(second, await strike(driver, 2), address)

    run_async(scenario())


def test_a_client_that_never_reads_loses_log_and_the_guest_goes_on(
    look: Look, address: int, run_async: Run
) -> None:
    async def scenario() -> None:
        async with look(vcpus=2) as (driver, end):
            end.ask(watch_line(address, hammer.OBJECT_BYTES, 1 << 24))
            said = await strike(driver, 2, 20000)
            cells, log = end.snapshot()
            assert cells.lost > 0
            assert cells.logged + cells.lost == hammer.PER_CALL * said.calls + said.tries
            assert log["seq"].tolist() == list(range(cells.logged))
            assert hammer.counted(cells, address) == hammer.wanted(said)

    run_async(scenario())
