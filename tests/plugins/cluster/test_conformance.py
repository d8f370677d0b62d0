# SPDX-License-Identifier: GPL-2.0-or-later
"""What every pool does alike: on this machine, and on a real Slurm cluster of four nodes."""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import sys
import time
from collections.abc import Awaitable, Callable
from typing import Any

import psutil
import pytest

from duet.base.errors import InfraError, InputError
from duet.plugins.cluster.lease import Lease
from duet.plugins.cluster.limits import OUTPUT_BYTES
from duet.plugins.cluster.types import Refusal, Want
from duet.processes.cpus import choose, cores
from tests.plugins.cluster.conftest import Make

SMALL = 64 << 20
Run = Callable[..., Any]


def mine(number: int) -> str:
    """Seconds that a program of a test sleeps: other runs of the tests have other ones."""
    return f"{number}.{os.getpid()}"


def lasting(number: int) -> list[psutil.Process]:
    """Processes of `sleep`; each test has a number of its own."""
    found = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            if process.cmdline()[:2] == ["sleep", mine(number)]:
                found.append(process)
    return found


async def until(holds: Callable[[], object], within_s: float = 30.0) -> float:
    """Wait until something holds; seconds that it took."""
    began = time.monotonic()
    while not holds():
        assert time.monotonic() - began < within_s, "it does not come to hold"
        await asyncio.sleep(0.05)
    return time.monotonic() - began


def check(run_async: Run, make_pool: Make, body: Callable[[Any], Awaitable[None]]) -> None:
    """Run a test on a pool, which is closed afterwards."""

    async def whole() -> None:
        async with make_pool() as pool:
            await body(pool)

    run_async(whole(), 120)


async def leased(pool: Any, **more: Any) -> Lease:
    """A lease."""
    lease = await pool.reserve(Want(**{"memory_bytes": SMALL, "within_s": 20, "ttl_s": 60} | more))
    assert isinstance(lease, Lease), lease
    return lease


def test_a_program_gets_words_environment_and_input_and_gives_output_and_code(
    make_pool: Make, run_async: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DUET_SECRET_OF_THE_SERVER", "x")

    async def body(pool: Any) -> None:
        lease = await leased(pool)
        script = 'echo "$1 $A ${DUET_SECRET_OF_THE_SERVER-none}"; cat; echo trouble >&2; exit 3'
        words = ["sh", "-c", script, "sh", "one"]
        ended = await (await lease.start(words, {"A": "b"}, b"token")).wait()
        assert (ended.code, ended.lost, ended.cut_bytes) == (3, "", 0)
        assert ended.output == b"one b none\ntoken" and ended.errors == b"trouble\n"
        assert (await (await lease.start(["true"])).wait()).code == 0  # the next on the same lane
        killed = await (await lease.start(["sh", "-c", "kill -9 $$"])).wait()
        assert (killed.code, killed.lost) == (-9, "")
        absent = await (await lease.start(["/no/such/program"])).wait()
        assert absent.code == 127 and b"cannot be started" in absent.errors

    check(run_async, make_pool, body)


def test_much_output_and_much_input_are_bounded(make_pool: Make, run_async: Run) -> None:
    async def body(pool: Any) -> None:
        lease = await leased(pool)
        much = b"x" * (3 << 20)
        ended = await (await lease.start(["sh", "-c", "cat; echo end"], stdin=much)).wait()
        assert ended.code == 0 and ended.output.endswith(b"xend\n")
        assert len(ended.output) == OUTPUT_BYTES
        assert ended.cut_bytes == len(much) + 4 - OUTPUT_BYTES
        with pytest.raises(InputError, match="bytes of arguments"):
            await lease.start(["cat"], stdin=b"x" * (5 << 20))

    check(run_async, make_pool, body)


def test_a_secret_stands_in_no_command_line_and_in_no_job(
    make_pool: Make, run_async: Run, request: pytest.FixtureRequest
) -> None:
    async def body(pool: Any) -> None:
        lease = await leased(pool)
        program = await lease.start(["sleep", mine(1101)], {"TOKEN": "s3cr3t"}, b"s3cr3t")
        await until(lambda: lasting(1101))
        for process in psutil.process_iter():
            with contextlib.suppress(psutil.Error):
                assert "s3cr3t" not in " ".join(process.cmdline())
        if pool.name == "slurm":
            said = request.getfixturevalue("slurm").said
            shown = said("scontrol", "-d", "show", "job") + said("scontrol", "show", "step")
            assert "JobId" in shown and "s3cr3t" not in shown
        await program.end()

    check(run_async, make_pool, body)


def test_lanes_are_places_that_run_one_program_each(make_pool: Make, run_async: Run) -> None:
    async def body(pool: Any) -> None:
        lease = await leased(pool, lanes=3, alike=True)
        assert len(lease.hosts) == 3
        programs = [await lease.start(["sleep", mine(1102)], lane=lane) for lane in range(3)]
        await until(lambda: len(lasting(1102)) == 3)
        with pytest.raises(InputError, match="one program at a time"):
            await lease.start(["true"], lane=1)
        with pytest.raises(InputError, match="lanes 0 to 2"):
            await lease.start(["true"], lane=3)
        await programs[1].end()
        assert (await programs[1].wait()).code == -15 and len(lasting(1102)) == 2
        assert (await (await lease.start(["true"], lane=1)).wait()).code == 0

    check(run_async, make_pool, body)
    assert lasting(1102) == []  # the pool's end released the lease


def test_release_ends_also_a_child_that_left_its_session(make_pool: Make, run_async: Run) -> None:
    async def body(pool: Any) -> None:
        lease = await leased(pool)
        script = f"trap '' TERM; setsid sleep {mine(1103)} & sleep {mine(1103)}"
        program = await lease.start(["sh", "-c", script])
        await until(lambda: len(lasting(1103)) == 2)
        await asyncio.gather(lease.release(), lease.release())
        assert lasting(1103) == []
        assert (await program.wait()).lost == "the lease was released."
        assert (await lease.lost()).whose == "released"
        await lease.release()
        with pytest.raises(InfraError, match="the lease is over"):
            await lease.start(["true"])

    check(run_async, make_pool, body)


def test_the_deadline_ends_it(make_pool: Make, run_async: Run) -> None:
    async def body(pool: Any) -> None:
        lease = await leased(pool, ttl_s=1)
        program = await lease.start(["sleep", mine(1104)])
        loss = await lease.lost()
        assert loss.whose == "deadline" and "limit of 1 s" in loss.sentence
        assert (await program.wait()).lost == loss.sentence
        await until(lambda: not lasting(1104))

    check(run_async, make_pool, body)


def test_a_full_pool_refuses_within_the_time_and_says_when(make_pool: Make, run_async: Run) -> None:
    async def body(pool: Any) -> None:
        lease = await leased(pool, lanes=8, vcpus=1, ttl_s=50)
        for within_s in (0, 1):
            began = time.monotonic()
            refusal = await pool.reserve(Want(memory_bytes=SMALL, within_s=within_s))
            assert time.monotonic() - began < within_s + 10
            assert isinstance(refusal, Refusal) and f"within {within_s} s" in refusal.sentence
            assert refusal.estimate_s is not None and 0 < refusal.estimate_s < 200
        waiting = asyncio.create_task(leased(pool))
        await asyncio.sleep(0.3)
        assert not waiting.done()
        await lease.release()
        await (await waiting).release()

    check(run_async, make_pool, body)


def test_who_waits_may_go_away(make_pool: Make, run_async: Run) -> None:
    async def body(pool: Any) -> None:
        lease = await leased(pool, lanes=8)
        waiting = asyncio.create_task(pool.reserve(Want(memory_bytes=SMALL, within_s=60)))
        await asyncio.sleep(0.5)
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
        await lease.release()
        await leased(pool, lanes=8)  # what waited holds nothing

    check(run_async, make_pool, body)


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"memory_bytes": 1 << 45}, "memory|configuration|Memory"),
        ({"lanes": 64, "vcpus": 99}, "CPUs|not available"),
        ({"kind": "nosuch"}, "kind 'nosuch'"),
    ],
)
def test_what_a_pool_does_not_have_is_refused_at_once(
    make_pool: Make, run_async: Run, more: dict[str, Any], words: str
) -> None:
    async def body(pool: Any) -> None:
        began = time.monotonic()
        refusal = await pool.reserve(Want(**{"memory_bytes": SMALL, "within_s": 30} | more))
        assert isinstance(refusal, Refusal), refusal
        assert re.search(words, refusal.sentence), refusal.sentence
        assert time.monotonic() - began < 10
        with pytest.raises(InputError, match="lanes of a lease"):
            await pool.reserve(Want(lanes=0))

    check(run_async, make_pool, body)


@pytest.mark.skipif(
    not choose(cores(os.sched_getaffinity(0)), 1), reason="this machine has one core"
)
def test_an_exclusive_lease_has_cpus_of_its_own_and_arms_one_after_another(
    make_pool: Make, run_async: Run
) -> None:
    own = "import os; print(sorted(os.sched_getaffinity(0)))"

    async def body(pool: Any) -> None:
        lease = await leased(pool, lanes=2, exclusive=True)
        assert len(set(lease.hosts)) == 1 and len(lease.hosts) == 2
        seen = set()
        for lane in (0, 1):
            ended = await (await lease.start(["python3", "-c", own], lane=lane)).wait()
            seen.add(ended.output)
            assert ended.code == 0 and len(eval(ended.output)) == 1
        assert len(seen) == 1  # both arms on the same CPU
        if pool.name == "local":
            assert not set(eval(seen.pop())) & os.sched_getaffinity(0)
            refusal = await pool.reserve(Want(memory_bytes=SMALL, exclusive=True, within_s=0.5))
            assert isinstance(refusal, Refusal) and "another measurement" in refusal.sentence

    check(run_async, make_pool, body)


OWNER = """
import asyncio, sys
from duet.plugins.cluster.choose import open_pool
from duet.plugins.cluster.types import PoolSettings
from duet.plugins.cluster.types import Want
async def main():
    async with open_pool(PoolSettings(sys.argv[1])) as pool:
        lease = await pool.reserve(Want(memory_bytes=64 << 20, within_s=20))
        await lease.start(["sh", "-c", "setsid sleep $1 & sleep $1", "sh", sys.argv[2]])
        print("started", flush=True)
        await asyncio.sleep(60)
asyncio.run(main())
"""


def test_a_killed_owner_leaves_no_program_and_no_job(
    make_pool: Make, run_async: Run, request: pytest.FixtureRequest
) -> None:
    async def body(pool: Any) -> None:
        words = (sys.executable, "-c", OWNER, pool.name, mine(1105))
        owner = await asyncio.create_subprocess_exec(*words, stdout=asyncio.subprocess.PIPE)
        assert owner.stdout is not None
        assert await asyncio.wait_for(owner.stdout.readline(), 30) == b"started\n"
        await until(lambda: len(lasting(1105)) == 2)
        owner.kill()
        await owner.wait()
        await until(lambda: not lasting(1105))
        if pool.name == "slurm":
            said = request.getfixturevalue("slurm").said
            await until(lambda: said("squeue", "-h") == "")

    check(run_async, make_pool, body)


def test_what_a_program_says_is_read_while_it_runs(run_async: Run, make_pool: Make) -> None:
    async def body(pool: Any) -> None:
        lease = await pool.reserve(Want(memory_bytes=SMALL, within_s=20, ttl_s=60))
        assert isinstance(lease, Lease)
        pieces: list[bytes] = []
        words = ["sh", "-c", f"echo first >&2; sleep {mine(1106)}"]
        program = await lease.start(words, said=pieces.append)
        await until(lambda: b"first" in b"".join(pieces))
        assert program.running
        await program.end()
        assert b"first" in (await program.wait()).errors

    check(run_async, make_pool, body)
