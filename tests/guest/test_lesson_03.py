# SPDX-License-Identifier: GPL-2.0-or-later
"""Lesson 03: who waits for a grace period and how often, and that no inode is left behind.

Rates are claims of evidence.yaml (test_claims_live.py). Here stands what takes several numbers of a
run to say, and what the workloads leave out: a filesystem that stops, and a CPU that goes, while
inodes wait to be inactivated.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

from duet.guests import GuestOptions, GuestRoot, GuestSpec, open_guest
from duet.lessons.load import load
from duet.measure import Table
from tests.support.guest_driver import Driver
from tests.support.live_measure import TIMEOUT_S, counted, value

pytestmark = [pytest.mark.guest, pytest.mark.timeout(TIMEOUT_S)]

SLUG = "03-inode-recycling"
ARMS = ("stock", "wait-in-worker", "wait-at-recycle", "call-rcu")
WAITING = ("wait-in-worker", "wait-at-recycle")
BATCH = {"batch": 32}
CLUSTER = 32
"""Inodes of a cluster: the worker starts at once when more are queued."""
NS_PER_S = 1e9
SCRATCH = "setup duet-scratch xfs 320"
CPU1 = "/sys/devices/system/cpu/cpu1/online"
TROUBLE = re.compile(
    r"WARNING|\bBUG\b|Oops|Call Trace|hung task|rcu.*stall|XFS.*(?:orrupt|rror|hutdown)"
)


def table_of(arms: tuple[str, ...]) -> Table:
    """The loop at batch 32: one run an arm for times, one for counts."""
    table = counted(SLUG, arms, "recycle", BATCH)
    assert not table.errors, table.errors
    return table


def files() -> int:
    return load(SLUG).lesson.params["files"].default


@pytest.mark.parametrize("arm", ARMS)
def test_every_inode_is_queued_once_and_most_are_used_again(arm: str) -> None:
    table = table_of(ARMS)
    assert value(table, "queued", arm) == files()
    assert files() / 2 < value(table, "reused", arm) < files()


@pytest.mark.parametrize("arm", ARMS[1:])
def test_no_arm_but_stock_uses_an_inode_again_too_early(arm: str) -> None:
    table = table_of(ARMS)
    assert value(table, "reused_early", "stock") > files() / 2
    assert value(table, "reused_early", arm) == 0


@pytest.mark.parametrize("arm", WAITING)
def test_one_wait_covers_a_whole_group_of_inodes(arm: str) -> None:
    table = table_of(ARMS)
    assert value(table, "queued", arm) / value(table, "gp_waits", arm) > CLUSTER


@pytest.mark.parametrize("arm", ["stock", "call-rcu"])
def test_where_nobody_asks_for_a_grace_period_nobody_waits_for_one(arm: str) -> None:
    assert value(table_of(ARMS), "gp_waits", arm) == 0


def test_the_time_lost_at_recycle_is_the_time_waited_for_grace_periods() -> None:
    """Time of an untraced run against waits of a counted one, which has its probes to pay for."""
    table = table_of(ARMS)
    spent = {arm: files() / value(table, "files_per_s", arm) for arm in ARMS}
    lost = spent["wait-at-recycle"] - spent["stock"]
    waited = value(table, "gp_wait_ns", "wait-at-recycle") / 1000
    assert waited == pytest.approx(lost, rel=0.1)


def plan(*lines: str, run: str) -> str:
    return "\n".join(("plan 1", "trace off", *lines, f"run {run}", ""))


REMOVED = "setup taskset 2 removal --files 1500"
"""On CPU 1, and over before all that it has removed is inactivated."""
STOPS = {
    "frozen": (plan(SCRATCH, REMOVED, run="removal --files 1500 --drain"), "removal: drain_ms="),
    "remounted": (
        plan(
            REMOVED,
            "setup mount -o remount,ro /scratch",
            "setup mount -o remount,rw /scratch",
            run="recycle --batch 64 --files 512",
        ),
        "recycle: batch=64 files=512 ",
    ),
    "unmounted": (
        plan(REMOVED, SCRATCH, run="recycle --batch 8 --files 256"),
        "recycle: batch=8 files=256 ",
    ),
    "a CPU gone": (
        plan(REMOVED, f"write {CPU1} 0", run="removal --files 600 --drain"),
        "removal: files=600 ",
    ),
    "and back": (
        plan(f"write {CPU1} 1", REMOVED, SCRATCH, run="removal --files 600"),
        "removal: files=600 ",
    ),
}


@pytest.mark.parametrize("arm", ARMS[1:])
def test_inodes_that_wait_hold_up_no_stop(
    run_async: Callable[..., Any],
    images_of: Callable[[str], dict[str, Any]],
    guest_root: GuestRoot,
    arm: str,
) -> None:
    """Freeze, remount, unmount and a CPU that goes: each ends, and the kernel has no complaint."""
    spec = GuestSpec(
        arm=arm,
        bzimage=images_of(SLUG)[arm].bzimage,
        initrd=guest_root.image,
        vcpus=2,
        memory_mib=768,
    )

    async def scenario() -> str:
        options = GuestOptions(policy="tcg", programs=guest_root.programs)
        async with open_guest("qemu", spec, options) as guest:
            driver = Driver(guest)
            for name, (text, wanted) in STOPS.items():
                outcome = await driver.run(text)
                assert outcome.ended is not None and outcome.ended.status == 0, (name, outcome.text)
                assert wanted in outcome.text, (name, outcome.text)
            return (await driver.run(plan(run="dmesg"))).text

    log = run_async(scenario())
    assert "XFS" in log and "CPU 1" in log, log[-2000:]
    assert not TROUBLE.search(log), [line for line in log.splitlines() if TROUBLE.search(line)]
