# SPDX-License-Identifier: GPL-2.0-or-later
"""How a guest process comes up and how it comes to its end, as sentences."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections.abc import Callable

import psutil
import pytest

from duet.base.errors import InfraError, KernelError
from duet.guests.types import Accel
from duet.wire.reader import pack_frame
from tests.support.scripted import SPEAK, ScriptedGuest

Run = Callable[..., object]

PATIENCE_S = (1.0, 4.0, 16.0, 64.0)
"""Deadlines of a boot, tried in turn: how long a script takes to begin depends on the host."""
HANG = "print('[    0.1] stuck here', 'loud' if verbose else 'quiet', flush=True); time.sleep(60)"
PANIC = "print('Kernel panic - not syncing: Attempted to kill init!', flush=True)"


def alive(pid: int) -> bool:
    try:
        return bool(psutil.Process(pid).status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False


def test_a_guest_that_speaks_is_up_and_is_gone_afterwards(run_async: Run) -> None:
    async def scenario() -> None:
        async with ScriptedGuest(SPEAK + "time.sleep(60)") as guest:
            assert guest.facts.accel is Accel.TCG
            assert guest.facts.extra == {"attempts": "1"}
            assert guest.facts.pid and alive(guest.facts.pid)
            folder = guest.machines[0].folder
            assert folder.stat().st_mode & 0o777 == 0o700
            first = await anext(aiter(guest.chunks()))
            assert (first.stream, first.payload) == (-1, b"hello")
        assert not alive(guest.facts.pid)
        assert not folder.exists()

    run_async(scenario())


def test_a_boot_that_hangs_is_tried_again_and_then_reported_with_its_console(
    run_async: Run,
) -> None:
    async def hung(deadline_s: float) -> tuple[ScriptedGuest, pytest.ExceptionInfo[KernelError]]:
        guest = ScriptedGuest(HANG, deadline_s=deadline_s)
        with pytest.raises(KernelError) as caught:
            async with guest:
                pass
        sentence = f"the kernel of lane srcu did not boot within {deadline_s:g} s."
        assert caught.value.sentence == sentence
        return guest, caught

    async def scenario() -> None:
        for deadline_s in PATIENCE_S:
            guest, caught = await hung(deadline_s)
            if all("stuck here" in report.console for report in guest.reports):
                break
        assert "stuck here loud" in caught.value.detail
        assert [report.attempt for report in guest.reports] == [1, 2]
        assert "stuck here quiet" in guest.reports[0].console
        assert not any(alive(machine.pid) for machine in guest.machines)

    run_async(scenario())


def test_the_second_try_may_come_up(run_async: Run) -> None:
    async def scenario() -> None:
        script = f"if verbose: {SPEAK.strip()}\ntime.sleep(600)"
        for deadline_s in PATIENCE_S:
            with contextlib.suppress(KernelError):
                async with ScriptedGuest(script, deadline_s=deadline_s) as guest:
                    assert guest.facts.extra == {"attempts": "2"}
                    assert [report.outcome for report in guest.reports][1] == "up"
                    return
        raise AssertionError("the second try never came up")

    run_async(scenario())


def test_a_panic_at_boot_is_the_kernels_fault(run_async: Run) -> None:
    async def scenario() -> None:
        with pytest.raises(KernelError) as caught:
            async with ScriptedGuest(PANIC):
                pass
        assert caught.value.sentence == (
            "the kernel of lane srcu panicked: Attempted to kill init!."
        )

    run_async(scenario())


def test_a_process_that_fails_to_start_up_is_not_tried_again(run_async: Run) -> None:
    async def scenario() -> None:
        guest = ScriptedGuest("sys.exit('qemu: no such option')")
        with pytest.raises(InfraError) as caught:
            async with guest:
                pass
        assert caught.value.sentence == ("QEMU of lane srcu ended with exit code 1.")
        assert "qemu: no such option" in caught.value.detail
        assert len(guest.machines) == 1

    run_async(scenario())


async def read_all(guest: ScriptedGuest) -> bytes:
    return b"".join([chunk.payload async for chunk in guest.chunks()])


@pytest.mark.parametrize(
    ("end", "error", "sentence"),
    [
        (
            "os.kill(os.getpid(), signal.SIGKILL)",
            InfraError,
            "QEMU of lane srcu was killed by SIGKILL.",
        ),
        ("sys.exit(3)", InfraError, "QEMU of lane srcu ended with exit code 3."),
        ("sys.exit(0)", InfraError, "QEMU of lane srcu ended unexpectedly."),
        (PANIC, KernelError, "the kernel of lane srcu panicked: Attempted to kill init!."),
    ],
)
def test_an_end_in_mid_run_is_reported_after_the_last_bytes(
    run_async: Run, end: str, error: type[Exception], sentence: str
) -> None:
    async def scenario() -> None:
        async with ScriptedGuest(SPEAK + "time.sleep(0.3)\n" + end) as guest:
            seen = bytearray()
            with pytest.raises(error) as caught:
                async for chunk in guest.chunks():
                    seen += chunk.payload
            assert str(caught.value) == sentence
            assert seen == b"hello"

    run_async(scenario())


def test_an_end_that_was_asked_for_is_no_error(run_async: Run) -> None:
    async def scenario() -> None:
        script = SPEAK + "port.recv(12)\nport.sendall(b' bye')"
        async with ScriptedGuest(script) as guest:
            await guest.send(pack_frame(67))
            assert await read_all(guest) == b"hello bye"

    run_async(scenario())


def test_a_boot_plan_that_is_over_is_no_error(run_async: Run) -> None:
    async def scenario() -> None:
        async with ScriptedGuest(SPEAK, boot_plan="plan 1\nrun true\n") as guest:
            assert await read_all(guest) == b"hello"

    run_async(scenario())


def test_a_process_that_ignores_sigterm_ends_nevertheless(run_async: Run) -> None:
    async def scenario() -> None:
        script = "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n" + SPEAK + "time.sleep(60)"
        async with ScriptedGuest(script) as guest:
            guest.machines[0].grace_s = 0.2
            pid = guest.facts.pid
        assert pid and not alive(pid)

    run_async(scenario())


def test_cancellation_during_boot_leaves_nothing_behind(run_async: Run) -> None:
    async def scenario() -> None:
        guest = ScriptedGuest(HANG)
        entering = asyncio.ensure_future(guest.__aenter__())
        for _ in range(12_000):
            await asyncio.sleep(0.01)
            if guest.machines and guest.machines[0].pid:
                break
        machine = guest.machines[0]
        entering.cancel()
        with pytest.raises(asyncio.CancelledError):
            await entering
        assert not alive(machine.pid)
        assert not machine.folder.exists()

    run_async(scenario())


def test_guests_run_niced_below_their_owner(run_async: Run) -> None:
    async def scenario() -> None:
        async with ScriptedGuest(SPEAK + "time.sleep(60)") as guest:
            pid = guest.facts.pid
            assert pid is not None
            own = os.getpriority(os.PRIO_PROCESS, 0)
            assert os.getpriority(os.PRIO_PROCESS, pid) == min(own + 10, 19)
            assert os.getpgid(pid) == pid
            os.kill(pid, signal.SIGKILL)

    run_async(scenario())
