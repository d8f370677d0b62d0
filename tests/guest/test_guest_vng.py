# SPDX-License-Identifier: GPL-2.0-or-later
"""A virtme-ng guest gives the same kinds of events as a sealed one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import psutil
import pytest

from tests.support.guest_driver import Outcome

pytestmark = pytest.mark.guest

PLAN = """plan 1
probe p:duet/umount __x64_sys_umount
event duet/umount comm ~ "storm-*"
event sched/sched_switch prev_comm ~ "storm*"
event rcu/srcu_gp_state
run storm --hogs 2 --seconds 0.5
"""


def test_vng_and_sealed_guests_give_the_same_events(
    run_async: Callable[..., Any], boot: Callable[..., Any]
) -> None:
    async def once(kind: str) -> Outcome:
        async with boot("srcu", kind=kind) as driver:
            outcome = await driver.run(PLAN)
            below = psutil.Process(driver.guest.facts.pid).children(recursive=True)
        assert below or kind == "qemu"
        assert psutil.wait_procs(below, timeout=60)[1] == []
        return outcome

    async def scenario() -> None:
        sealed, vng = await once("qemu"), await once("vng")
        assert set(vng.counts()) == set(sealed.counts())
        assert set(vng.files) == set(sealed.files)
        assert sum(vng.counts().values()) == vng.read
        assert vng.overrun == 0

    run_async(scenario())
