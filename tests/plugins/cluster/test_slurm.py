# SPDX-License-Identifier: GPL-2.0-or-later
"""A real Slurm cluster: kinds of hosts, a node that dies, a controller that is away, silence."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from duet.plugins.cluster.slurm.pool import SlurmPool
from duet.plugins.cluster.types import PoolSettings, Refusal, Want
from tests.plugins.cluster.slurm_cluster import Cluster
from tests.plugins.cluster.test_conformance import SMALL, Run, check, lasting, leased, mine, until

Make = Callable[..., SlurmPool]
Body = Callable[[Any], Awaitable[None]]
DEATH_S = 30.0
"""Within which the death of a node is reported."""


def test_alike_lanes_are_on_hosts_of_one_kind(
    slurm: Cluster, slurm_pool: Make, run_async: Run
) -> None:
    a, b, c, d = slurm.nodes

    async def body(pool: SlurmPool) -> None:
        one = await leased(pool)  # leaves three CPUs of its kind
        four = await leased(pool, lanes=4, alike=True)
        assert set(four.hosts) == {c, d} and set(one.hosts) <= {a, b}
        refusal = await pool.reserve(Want(lanes=4, memory_bytes=SMALL, alike=True, within_s=1))
        assert isinstance(refusal, Refusal)
        spread = await pool.reserve(Want(lanes=3, memory_bytes=SMALL, within_s=5))
        assert not isinstance(spread, Refusal) and set(spread.hosts) == {a, b}

    check(run_async, slurm_pool, body)


def test_hosts_with_kvm_and_of_a_kind_are_chosen(
    slurm: Cluster, slurm_pool: Make, run_async: Run
) -> None:
    a, b, c, d = slurm.nodes

    async def body(pool: SlurmPool) -> None:
        both = await leased(pool, lanes=4, alike=True, accel="kvm")
        assert set(both.hosts) == {c, d}  # two CPUs of a have no KVM
        one = await leased(pool, accel="kvm", kind="cpuA")
        assert set(one.hosts) == {b}
        kinds = await pool.kinds()
        assert not isinstance(kinds, Refusal)
        assert [(k.name, list(k.hosts)) for k in kinds] == [("cpuA", [a, b]), ("cpuB", [c, d])]
        async with SlurmPool(PoolSettings("slurm")) as other:
            refusal = await other.reserve(Want(accel="kvm"))
            assert isinstance(refusal, Refusal) and "DUET_POOL_KVM" in refusal.sentence

    check(run_async, slurm_pool, body)


def test_an_exclusive_lease_has_its_host_alone(
    slurm: Cluster, slurm_pool: Make, run_async: Run
) -> None:
    async def body(pool: SlurmPool) -> None:
        leases = [await leased(pool, exclusive=True) for _ in slurm.nodes]
        assert sorted(lease.hosts[0] for lease in leases) == slurm.nodes
        refusal = await pool.reserve(Want(memory_bytes=SMALL, within_s=0))
        assert isinstance(refusal, Refusal)

    check(run_async, slurm_pool, body)


def test_what_slurm_refuses_is_a_sentence(slurm: Cluster, run_async: Run) -> None:
    del slurm

    async def whole() -> None:
        async with SlurmPool(PoolSettings("slurm", partition="nosuch")) as pool:
            refusal = await pool.reserve(Want())
            assert isinstance(refusal, Refusal)
            assert refusal.sentence == "Slurm gives no lease: Invalid partition name specified."

    run_async(whole(), 60)


def test_the_death_of_a_node_is_reported_and_others_are_untouched(
    slurm: Cluster, slurm_pool: Make, run_async: Run
) -> None:
    a, b, c, _ = slurm.nodes

    async def body(pool: SlurmPool) -> None:
        lease = await leased(pool, lanes=4, kind="cpuA")
        other = await leased(pool, kind="cpuB")
        programs = [await lease.start(["sleep", mine(1201)], lane=lane) for lane in range(4)]
        stays = await other.start(["sleep", mine(1202)])
        await until(lambda: len(lasting(1201)) == 4 and len(lasting(1202)) == 1)
        began = time.monotonic()
        slurm.kill(b)
        try:
            loss = await asyncio.wait_for(lease.lost(), DEATH_S)
            assert loss.whose == "host" and b in loss.sentence and a not in loss.sentence
            ends = await asyncio.gather(*(program.wait() for program in programs))
            assert {ended.lost for ended in ends} == {loss.sentence}
            # Those on the dead node as well: its daemon is gone, the runners are not.
            await until(lambda: not lasting(1201), DEATH_S - (time.monotonic() - began))
            assert stays.running and other.loss is None and len(lasting(1202)) == 1
            after = await leased(pool, lanes=2, within_s=20)
            assert b not in after.hosts and set(after.hosts) <= {a, c, slurm.nodes[3]}
        finally:
            slurm.start(b)
            slurm.wait_for("idle", b)

    check(run_async, slurm_pool, body)


def test_a_host_that_hangs_is_reported_by_its_silence(
    slurm: Cluster, slurm_pool: Make, run_async: Run
) -> None:
    """SlurmdTimeout is 300 s where nobody has changed it."""
    del slurm

    async def body(pool: SlurmPool) -> None:
        lease = await leased(pool)
        program = await lease.start(["sleep", mine(1203)])
        await until(lambda: lasting(1203))
        runner = lasting(1203)[0].parent()
        assert runner is not None and "duet.plugins.cluster.runner" in runner.cmdline()
        runner.send_signal(signal.SIGSTOP)
        began = time.monotonic()
        loss = await asyncio.wait_for(lease.lost(), DEATH_S)
        assert loss.whose == "host" and "no heartbeat for 2 s" in loss.sentence
        assert time.monotonic() - began < 10
        assert (await program.wait()).lost == loss.sentence
        await until(lambda: not lasting(1203))

    check(run_async, lambda: slurm_pool(silent_s=2.0), body)


def test_a_runner_that_is_cut_off_ends_its_program(
    slurm: Cluster, slurm_pool: Make, run_async: Run
) -> None:
    async def body(pool: SlurmPool) -> None:
        lease = await leased(pool)
        program = await lease.start(["sh", "-c", f"setsid sleep {mine(1204)} & sleep {mine(1204)}"])
        await until(lambda: len(lasting(1204)) == 2)
        runner = lasting(1204)[0].parents()[0]
        while "duet.plugins.cluster.runner" not in runner.cmdline():
            runner = runner.parents()[0]
        step = runner.parents()[0]
        assert "slurmstepd" in " ".join(step.cmdline())
        step.send_signal(signal.SIGSTOP)  # nothing passes to the runner or from it
        try:
            await until(lambda: not lasting(1204), 15)
        finally:
            step.send_signal(signal.SIGCONT)
        ended = await asyncio.wait_for(program.wait(), DEATH_S)
        assert ended.code is None and ended.lost

    del slurm
    check(run_async, lambda: slurm_pool(silent_s=2.0), body)


FAILS = """#!/bin/sh
# Fails while there are marks; then it is the real one.
for mark in {folder}/mark-*; do
	[ -e "$mark" ] && rm "$mark" && echo "slurm_load_jobs error: Socket timed out" >&2 && exit 1
done
echo x >> {folder}/answered
exec {real} "$@"
"""


def test_an_squeue_that_fails_for_a_moment_ends_no_lease(
    slurm: Cluster,
    slurm_pool: Make,
    run_async: Run,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    del slurm
    wrapper = tmp_path / "squeue"
    wrapper.write_text(FAILS.format(folder=tmp_path, real=shutil.which("squeue")))
    wrapper.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")

    async def body(pool: SlurmPool) -> None:
        lease = await leased(pool)
        program = await lease.start(["sleep", mine(1205)])
        for mark in "12":
            (tmp_path / f"mark-{mark}").touch()
        await until(lambda: not list(tmp_path.glob("mark-*")))
        (tmp_path / "answered").unlink(missing_ok=True)
        await until((tmp_path / "answered").exists)
        assert lease.loss is None and program.running

    check(run_async, slurm_pool, body)


def test_a_controller_that_stays_away_is_a_loss(
    slurm: Cluster,
    slurm_pool: Make,
    run_async: Run,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    del slurm
    (tmp_path / "squeue").symlink_to("/bin/false")

    async def body(pool: SlurmPool) -> None:
        lease = await leased(pool)
        monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
        loss = await asyncio.wait_for(lease.lost(), DEATH_S)
        assert loss.whose == "pool" and "has not answered for" in loss.sentence

    check(run_async, lambda: slurm_pool(away_s=1.0), body)


def test_a_controller_that_restarts_ends_no_lease(
    slurm: Cluster, slurm_pool: Make, run_async: Run
) -> None:
    async def body(pool: SlurmPool) -> None:
        lease = await leased(pool)
        program = await lease.start(["sleep", mine(1206)])
        await until(lambda: lasting(1206))
        slurm.kill("slurmctld", signal.SIGTERM)  # it stores its state, as at any restart
        try:
            refusal = await pool.reserve(Want(memory_bytes=SMALL, within_s=0))
            assert isinstance(refusal, Refusal) and "controller" in refusal.sentence
        finally:
            slurm.start("slurmctld")
        await until(lambda: slurm.said("squeue", "-h", "-o", "%T") == "RUNNING")
        assert lease.loss is None and program.running
        await program.end()
        assert (await (await lease.start(["true"])).wait()).code == 0  # a step after the restart

    check(run_async, slurm_pool, body)
    run_async(until(lambda: slurm.said("squeue", "-h") == ""))
