# SPDX-License-Identifier: GPL-2.0-or-later
"""What only the pool of this machine does: budgets, order of those who wait, settings."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import datetime
from typing import Any

import pytest

from duet.base.errors import InputError
from duet.plugins.cluster.choose import open_pool
from duet.plugins.cluster.lease import Lease, Room, Size
from duet.plugins.cluster.local import LocalPlace, LocalPool
from duet.plugins.cluster.slurm.words import (
    complaint,
    constraint,
    estimate_s,
    lanes_of,
    seconds_of,
    selection,
)
from duet.plugins.cluster.types import PoolSettings, Refusal, Want
from duet.processes.cpus import OwnCpus
from tests.plugins.cluster.test_conformance import SMALL

Run = Callable[..., Any]


def test_kvm_is_refused_with_the_hosts_reason(run_async: Run) -> None:
    async def body() -> None:
        async with LocalPool(kvm=lambda: "this machine has no /dev/kvm.") as pool:
            refusal = await pool.reserve(Want(accel="kvm"))
            assert refusal == Refusal("this machine has no /dev/kvm.")

    run_async(body(), 60)


def test_a_lease_is_held_to_its_memory_where_the_host_gives_control_groups(run_async: Run) -> None:
    async def body() -> None:
        room = Room(Size(2, 1 << 40))
        place = LocalPlace(room, Want(memory_bytes=256 << 20))
        await place.begin()
        lacks = set(place.lacks)
        await place.give_back()
        async with LocalPool() as pool:
            lease = await pool.reserve(Want(memory_bytes=256 << 20, ttl_s=60))
            assert isinstance(lease, Lease)
            hungry = "x = bytearray(600 << 20); print(len(x))"
            ended = await (await lease.start(["python3", "-c", hungry])).wait()
            assert (ended.code == 0) == ("memory" in lacks), ended

    run_async(body(), 60)


def test_this_machine_has_no_other_host(run_async: Run) -> None:
    async def body() -> None:
        async with LocalPool() as pool:
            (kind,) = await pool.kinds()
            refusal = await pool.reserve(Want(avoid=tuple(kind.hosts)))
            assert isinstance(refusal, Refusal) and "to be avoided" in refusal.sentence
            assert isinstance(await pool.reserve(Want(avoid=("n1",))), Lease)
            with pytest.raises(InputError, match="not a host name"):
                await pool.reserve(Want(avoid=("n1,--uid=0",)))

    run_async(body(), 60)


def test_those_who_wait_are_served_in_the_order_of_arrival(run_async: Run) -> None:
    async def body() -> None:
        async with LocalPool(Size(2, 1 << 40)) as pool:
            first = await pool.reserve(Want(lanes=2, memory_bytes=SMALL))
            assert isinstance(first, Lease)
            wants = [Want(lanes=n, memory_bytes=SMALL, within_s=30) for n in (2, 1)]
            waiting = [asyncio.create_task(pool.reserve(want)) for want in wants]
            await asyncio.sleep(0.1)
            await first.release()
            second = await waiting[0]
            assert isinstance(second, Lease) and not waiting[1].done()
            await second.release()
            assert isinstance(await waiting[1], Lease)

    run_async(body(), 60)


def test_cpus_that_a_measurement_of_this_process_has_are_waited_for(run_async: Run) -> None:
    async def body() -> None:
        async with LocalPool() as pool:
            with OwnCpus(1, 1) as own:
                if not own.cpus:
                    pytest.skip("this machine has one core")
                refusal = await pool.reserve(Want(memory_bytes=SMALL, exclusive=True, within_s=0.1))
                assert isinstance(refusal, Refusal) and "another measurement" in refusal.sentence
            lease = await pool.reserve(Want(memory_bytes=SMALL, exclusive=True, within_s=5))
            assert isinstance(lease, Lease)

    run_async(body(), 60)


def test_settings_name_the_pool_and_refuse_what_is_no_name() -> None:
    assert PoolSettings.from_environment({}) == PoolSettings()
    given = {
        "DUET_POOL": "slurm",
        "DUET_POOL_PARTITION": "class",
        "DUET_POOL_ACCOUNT": "os24",
        "DUET_POOL_KINDS": "skylake, epyc-9",
        "DUET_POOL_KVM": "kvm",
        "DUET_POOL_PYTHON": "/opt/duet/.venv/bin/python",
    }
    settings = PoolSettings.from_environment(given)
    assert (settings.pool, settings.partition, settings.account) == ("slurm", "class", "os24")
    assert settings.kinds == ("skylake", "epyc-9") and settings.kvm == "kvm"
    for name, wrong in (
        ("DUET_POOL", "nomad"),
        ("DUET_POOL_PARTITION", "--uid=0"),
        ("DUET_POOL_KINDS", "a,b|c"),
        ("DUET_POOL_KVM", "kvm&x"),
        ("DUET_POOL_IMAGE", "an image"),
    ):
        with pytest.raises(InputError, match=f"{name} must be"):
            PoolSettings.from_environment({name: wrong})
    assert open_pool(PoolSettings()).name == "local"


def test_lanes_are_spread_over_hosts_of_a_pool_and_not_over_one_machine() -> None:
    given = {"DUET_POOL": "slurm", "DUET_POOL_SPREAD": "lanes"}
    assert PoolSettings.from_environment(given).spread
    for wrong in ({**given, "DUET_POOL": "local"}, {**given, "DUET_POOL_SPREAD": "yes"}):
        with pytest.raises(InputError, match="DUET_POOL_SPREAD"):
            PoolSettings.from_environment(wrong)


def test_words_of_slurm() -> None:
    settings = PoolSettings("slurm", partition="class", account="os24", kinds=("a", "b"), kvm="v")
    assert constraint(Want(lanes=2, alike=True, accel="kvm"), settings) == "[a|b]&v"
    assert constraint(Want(lanes=2, alike=True, kind="b"), settings) == "b"
    assert constraint(Want(lanes=2, alike=True, exclusive=True), settings) == ""
    words = selection(Want(lanes=3, vcpus=2, memory_bytes=1 << 30, ttl_s=61), settings)
    assert isinstance(words, list)
    assert {"--ntasks=3", "--cpus-per-task=2", "--mem-per-cpu=512M", "--time=3"} <= set(words)
    assert {"--partition=class", "--account=os24"} <= set(words)
    other = selection(Want(avoid=("n1", "n-2.x")), PoolSettings("slurm"))
    assert isinstance(other, list) and "--exclude=n1,n-2.x" in other
    alone = selection(Want(lanes=3, exclusive=True), PoolSettings("slurm"))
    assert isinstance(alone, list) and {"--exclusive", "--nodes=1", "--ntasks=1"} <= set(alone)
    together = selection(Want(lanes=3, alike=True), PoolSettings("slurm"))
    assert isinstance(together, list) and "--nodes=1" in together


def test_answers_of_slurm() -> None:
    assert lanes_of("2(x2),1", ["a", "b", "c"], 5) == ["a", "a", "b", "b", "c"]
    assert lanes_of("1", ["a"], 3) == ["a", "a", "a"]  # exclusive: one task, lanes in turn
    assert complaint("salloc: error: Job submit/allocate failed: Not so.\n") == "Not so"
    assert complaint("allocation failure: Not so\n") == "Not so" and complaint("") == ""
    now = datetime(2026, 1, 2, 3, 4, 5)
    said = "sbatch: Job 9 to start at 2026-01-02T03:05:05 using 2 processors on nodes n1"
    assert estimate_s(said, now) == 60 and estimate_s("no idea", now) is None


def test_time_limits_of_partitions() -> None:
    for text, wanted in (
        ("1:00:00", 3600), ("2-00:00:00", 172800), ("30:00", 1800), ("1-02:30:00", 95400),
        ("infinite", None), ("n/a", None), ("", None),
    ):  # fmt: skip
        assert seconds_of(text) == wanted, text
