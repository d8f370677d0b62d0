# SPDX-License-Identifier: GPL-2.0-or-later
"""From a demand and the constants to hosts, CPUs, memory, bandwidth. Pure; docs/CAPACITY.md has
the formulas."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

from duet.budgets import LIVE_RUNS_MOST, SOCKETS
from duet.capacity.constants import Figures
from duet.capacity.demand import Demand
from duet.capacity.estimate import NOTHING, Estimate, exactly, larger, spanning
from duet.capacity.loads import Load, lasting, starting

SERVER_SHARE: Final = 0.7
"""Of one CPU: a server is one event loop, and answers late when it is busier for long."""
EMULATOR_BYTES: Final = 250e6
"""Of a lane beyond its guest's memory (budgets.LANE_BEYOND_GUEST_BYTES, usual)."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What a class needs.

    Args:
        hosts: all of them; with a pool the servers' own are counted beside those of guests.
        servers: processes of `duet serve`.
        guest_hosts: that run guests; with a local pool the servers' own are among them.
        run_cpus: of one live run, all of its lanes.
        run_bytes: its memory.
        web_cpus: of servers and nginx, while all come or afterwards.
        cpus: all together that are busy.
        memory_bytes: all together.
        start: while all of them come.
        steady: afterwards.
        opened_s: until the last page is open, counted from the first.
        moves_ms: from a click on *run live* to events, where a slot is free.
        alone_s: until the last of all live runs begins, if one server had to run them.
    """

    demand: Demand
    hosts: Estimate
    servers: Estimate
    guest_hosts: Estimate
    run_cpus: Estimate
    run_bytes: Estimate
    web_cpus: Estimate
    cpus: Estimate
    memory_bytes: Estimate
    start: Load
    steady: Load
    opened_s: Estimate
    moves_ms: Estimate
    alone_s: Estimate


def plan(demand: Demand, figures: Figures) -> Plan:
    """The needs of a class.

    Raises:
        InputError: see Demand.checked.
    """
    asked = demand.checked()
    known = {name: one.figure for name, one in figures.items()}
    start, steady = starting(asked, known), lasting(asked, known)
    run_cpus, run_bytes = one_run(asked, known)
    servers = _servers(asked, steady)
    guests = _guest_hosts(asked, run_cpus, run_bytes)
    hosts = larger(servers, guests) if asked.pool == "local" else servers + guests
    web = larger(*(load.server_cores + load.nginx_cores for load in (start, steady)))
    return Plan(
        demand=asked,
        hosts=hosts,
        servers=servers,
        guest_hosts=guests,
        run_cpus=run_cpus,
        run_bytes=run_bytes,
        web_cpus=web,
        cpus=web + run_cpus * asked.live,
        memory_bytes=_memory(asked, known, servers, guests, run_bytes),
        start=start,
        steady=steady,
        opened_s=_opened(asked, start, servers),
        moves_ms=_moves(asked, known),
        alone_s=_alone(asked, known["run_time"]),
    )


def one_run(asked: Demand, known: dict[str, Estimate]) -> tuple[Estimate, Estimate]:
    """CPUs and memory of one live run: as measured, and with a CPU and all memory of its own."""
    cores, memory = known["lane_cores"], known["lane_memory"]
    most_cores = max(cores.high, float(asked.vcpus))
    most_bytes = max(memory.high, asked.guest_bytes + EMULATOR_BYTES)
    least_bytes = min(memory.low, most_bytes)
    return (
        Estimate(cores.low, most_cores) * asked.lanes,
        Estimate(least_bytes, most_bytes) * asked.lanes,
    )


def _servers(asked: Demand, steady: Load) -> Estimate:
    fixed = max(1, math.ceil(asked.students / SOCKETS), math.ceil(asked.live / LIVE_RUNS_MOST))
    low, high = (
        max(fixed, math.ceil(cores / SERVER_SHARE))
        for cores in (steady.server_cores.low, steady.server_cores.high)
    )
    return Estimate(low, high)


def runs_each(asked: Demand, cpus: float, memory: float) -> int:
    """Live runs that one host carries: at least one, which may then lack CPUs."""
    fits = min(asked.host_cpus / cpus, asked.host_bytes / memory, float(LIVE_RUNS_MOST))
    return max(1, math.floor(fits + 1e-9))


def _guest_hosts(asked: Demand, cpus: Estimate, memory: Estimate) -> Estimate:
    low = math.ceil(asked.live / runs_each(asked, cpus.low, memory.low))
    high = math.ceil(asked.live / runs_each(asked, cpus.high, memory.high))
    return Estimate(low, high)


def _memory(
    asked: Demand,
    known: dict[str, Estimate],
    servers: Estimate,
    guests: Estimate,
    run_bytes: Estimate,
) -> Estimate:
    parked = Estimate(0, known["parked_memory"].high * asked.lanes) * guests
    return (
        servers * known["server_memory"]
        + known["viewer_memory"] * asked.students
        + run_bytes * asked.live
        + parked
    )


def _opened(asked: Demand, start: Load, servers: Estimate) -> Estimate:
    """All have come after arrive_s; servers or links that are too slow take longer.

    Servers share the pages and have a link each: the fewer are bought, the longer it takes.
    """
    if not asked.students:
        return NOTHING
    by_link = start.bits_per_s.over(asked.link_bits_per_s)
    low = max(1.0, max(start.server_cores.low, by_link.low) / servers.high)
    high = max(1.0, max(start.server_cores.high, by_link.high) / servers.low)
    return Estimate(low, high) * asked.arrive_s


def _moves(asked: Demand, known: dict[str, Estimate]) -> Estimate:
    if not asked.live:
        return NOTHING
    either = spanning(known["copy_start"], known["boot_start"])
    if asked.pool == "local":
        return either
    return either + spanning(known["lease_stands"], known["lease_first"])


def _alone(asked: Demand, run_time: Estimate) -> Estimate:
    rounds = math.ceil(asked.live / LIVE_RUNS_MOST) - 1
    return run_time * exactly(max(0, rounds))
