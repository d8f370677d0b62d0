# SPDX-License-Identifier: GPL-2.0-or-later
"""Compute hosts, CPUs, memory and bandwidth from a demand and the constants. Pure.

docs/CAPACITY.md has the formulas.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from duet.base.budgets import DIRECT_VIEWERS, LIVE_RUNS_MOST, SOCKETS, SOCKETS_PER_ADDRESS
from duet.base.errors import InputError
from duet.plugins.cluster.capacity.constants import (
    NOTHING,
    Estimate,
    Figures,
    exactly,
    larger,
    spanning,
)

# The demand: students, live runs, the lesson, the available hosts and link.

MOST_STUDENTS: Final = 1_000_000
MOST_LIVE: Final = 10_000
MOST_LANES: Final = 16
MOST_CPUS: Final = 4096
MOST_MEMORY_BYTES: Final = 1 << 50
MOST_LINK: Final = 1e13
MOST_ARRIVE_S: Final = 86_400.0
RECORDING_BYTES: Final = Estimate(15e3, 300e3)
SEGMENTS: Final = Estimate(3, 12)
"""Of the largest shipped recording of each lesson."""
PLACES_PER_S: Final = 10.0
"""While the driver of a class plays or drags; otherwise positions are rare."""


@dataclass(frozen=True, slots=True)
class Demand:
    """One class.

    Args:
        students: pages open at once; each shows the recording at the start.
        live: runs at once.
        lanes: per run.
        recording_bytes: of the lesson's recording as segments.
        segments: of the recording.
        guest_bytes: memory of each guest.
        vcpus: of each guest.
        cache: nginx or a CDN caches segments.
        pool: where live runs are: local (the server's own machine), slurm or kubernetes.
        host_cpus: of each host; a host runs a server, guests, or both.
        host_bytes: memory of each host.
        link_bits_per_s: from each server to the students.
        arrive_s: all of them arrive in this time.
    """

    students: int
    live: int
    lanes: int
    recording_bytes: Estimate
    segments: Estimate
    guest_bytes: int
    vcpus: int
    cache: bool
    pool: str
    host_cpus: int
    host_bytes: int
    link_bits_per_s: float
    arrive_s: float

    def checked(self) -> Demand:
        """Check the bounds, and return the demand.

        Raises:
            InputError: a value is out of bounds.
        """
        for what, value, low, high in (
            ("students", self.students, 0, MOST_STUDENTS),
            ("live runs", self.live, 0, MOST_LIVE),
            ("lanes of a run", self.lanes, 1, MOST_LANES),
            ("CPUs of a host", self.host_cpus, 1, MOST_CPUS),
            ("bytes of memory of a host", self.host_bytes, 1 << 28, MOST_MEMORY_BYTES),
            ("bits per second of the link", self.link_bits_per_s, 1e5, MOST_LINK),
            ("seconds in which all come", self.arrive_s, 1, MOST_ARRIVE_S),
        ):
            if not (math.isfinite(value) and low <= value <= high):
                raise InputError(
                    f"a plan needs {low:g} to {high:g} {what}, but got {value:g}.",
                    remedy="./duet plan --help lists the options with their units.",
                )
        return self


# The load of the servers by students: while all of them arrive, and afterwards.

PAGE_CONNECTIONS: Final = 6
"""Connections of a browser for files and segments, while it loads a page."""
MS: Final = 1e-3


@dataclass(frozen=True, slots=True)
class Load:
    """Load of all servers together.

    Args:
        connections: at nginx, or at the server if there is no cache in front of it.
    """

    server_cores: Estimate
    nginx_cores: Estimate
    bits_per_s: Estimate
    connections: Estimate


def starting(asked: Demand, known: dict[str, Estimate]) -> Load:
    """Load while all arrive: each opens the page and its socket, and fetches the whole
    recording.
    """
    per_s = asked.students / asked.arrive_s
    of_segments = asked.segments * known["segment_nginx" if asked.cache else "segment_server"]
    server, nginx = known["open_server"], NOTHING
    if asked.cache:
        nginx = known["open_nginx"] + of_segments
    else:
        server = server + of_segments
    page = spanning(known["page_first_bytes"], known["page_all_bytes"])
    sent = page + known["open_bytes"] + asked.recording_bytes
    return Load(
        server_cores=server * (per_s * MS),
        nginx_cores=nginx * (per_s * MS),
        bits_per_s=sent * (per_s * 8),
        connections=_connections(asked, PAGE_CONNECTIONS),
    )


def lasting(asked: Demand, known: dict[str, Estimate]) -> Load:
    """Load afterwards: the class follows its driver, and watches live runs.

    Low: one position a second, and one viewer per run. High: the driver drags, and all watch one
    run,
    while the others have one viewer each.
    """
    places = Estimate(1.0, PLACES_PER_S) * asked.students
    server, nginx = places * (known["place_server"] * MS), NOTHING
    sent = places * known["place_bytes"]
    least = min(asked.live, asked.students)
    most = asked.students + max(0, least - 1) if least else 0
    if least:
        packed = max(0, asked.students - DIRECT_VIEWERS) if asked.cache else 0
        direct = Estimate(least, max(least, most - packed))
        by_segments = Estimate(0, packed)
        server = server + direct * (known["live_messages_server"] * MS)
        server = server + by_segments * (known["live_segments_server"] * MS)
        nginx = by_segments * (known["live_segments_nginx"] * MS)
        sent = sent + direct * known["live_messages_bytes"]
        sent = sent + by_segments * known["live_segments_bytes"]
    # The load may exceed one CPU: `uses` reports that; nothing is capped here.
    return Load(server, nginx, sent * 8, _connections(asked, 1 if asked.cache else 0))


def _connections(asked: Demand, fetching: int) -> Estimate:
    """Count a socket per page, twice if nginx relays it, and connections that fetch."""
    each = 2 if asked.cache else 1
    return Estimate(asked.students * each, asked.students * (each + fetching))


SERVER_SHARE: Final = 0.7
"""Of one CPU: a server is one event loop, which answers late when it is busier for long."""
EMULATOR_BYTES: Final = 250e6
"""Of a lane beyond its guest's memory (budgets.LANE_BEYOND_GUEST_BYTES, usual)."""


@dataclass(frozen=True, slots=True)
class Plan:
    """The needs of a class.

    Args:
        hosts: all of them; with a pool, hosts of servers and of guests are added.
        servers: processes of `duet serve`.
        guest_hosts: hosts with guests; with a local pool they include those of servers.
        run_cpus: of one live run, all of its lanes.
        run_bytes: its memory.
        web_cpus: of servers and nginx, while all arrive or afterwards.
        cpus: busy ones, all together.
        memory_bytes: all together.
        start: while all arrive.
        steady: afterwards.
        opened_s: from the first page until the last is open.
        moves_ms: from a click on *run live* to events, if a slot is free.
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
    """Compute the needs of a class.

    Raises:
        InputError: as of Demand.checked.
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
    """Return CPUs and memory of one live run: low as measured, high with a CPU and all memory
    per guest.
    """
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
    """Return how many live runs one host carries: at least one, which may then lack CPUs."""
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
    """All have arrived after arrive_s; slow servers or links take longer.

    Servers share the pages and have a link each: with fewer servers it takes longer.
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


# The scarcest resource: how much of each is in use, and one sentence.


MIB = 1 << 20


@dataclass(frozen=True, slots=True)
class Use:
    """Use of one resource, by the high estimate.

    Args:
        share: in use; above 1 there is too little of it.
        grows: what increases it: students or live runs.
        count: of these now.
        remedy: if there is too little.
    """

    what: str
    share: float
    grows: str
    count: int
    remedy: str

    @property
    def carries(self) -> int:
        """How many of `grows` use all of it."""
        return int(self.count / self.share) if self.share else 0


def uses(plan: Plan) -> list[Use]:
    """Return every resource in use, the scarcest first."""
    return sorted(
        (use for use in (*_of_students(plan), *_of_live(plan)) if use.share > 0),
        key=lambda use: -use.share,
    )


def _of_students(plan: Plan) -> Iterable[Use]:
    asked, servers = plan.demand, max(1.0, plan.servers.high)
    link = asked.link_bits_per_s * servers

    def use(what: str, share: float, remedy: str) -> Use:
        return Use(what, share, "students", asked.students, remedy)

    wider = "a wider link, a CDN, or students who come over a longer time"
    yield use("the link while all come", plan.start.bits_per_s.high / link, wider)
    yield use(
        "the link afterwards",
        plan.steady.bits_per_s.high / link,
        "a wider link" if asked.cache else "a cache before the server (docs/SEGMENTS.md)",
    )
    yield use(
        "the CPU of the server's one process while all come",
        plan.start.server_cores.high / servers,
        "students who come over a longer time, or one more server"
        + ("" if asked.cache else ", or a cache before the server"),
    )
    yield use(
        "the CPU of the server's one process afterwards",
        plan.steady.server_cores.high / (servers * SERVER_SHARE),
        "one more server",
    )
    web = plan.web_cpus.high / (servers * asked.host_cpus)
    yield use("the CPUs of the servers' hosts", web, "more CPUs")
    yield use("the sockets of the server", asked.students / (servers * SOCKETS), "one more server")


def _of_live(plan: Plan) -> Iterable[Use]:
    asked, hosts = plan.demand, max(1.0, plan.guest_hosts.high)

    def use(what: str, share: float, remedy: str) -> Use:
        return Use(what, share, "live runs", asked.live, remedy)

    runs = plan.servers.high * LIVE_RUNS_MOST
    yield use(f"the {LIVE_RUNS_MOST} live runs of a server", asked.live / runs, "one more server")
    cpus = asked.live * plan.run_cpus.high / (hosts * asked.host_cpus)
    yield use("the CPUs of the guests' hosts", cpus, "hosts with more CPUs")
    memory = asked.live * plan.run_bytes.high / (hosts * asked.host_bytes)
    yield use("the memory of the guests' hosts", memory, "hosts with more memory")


def sentence(plan: Plan) -> str:
    """Say which resource is scarce first."""
    found = uses(plan)
    if not found:
        return "Nothing is in use."
    first = found[0]
    if first.share > 1:
        return (
            f"Short now: {first.what}, by {first.share:.1f} times; it carries {first.carries} "
            f"{first.grows}. Needed: {first.remedy}."
        )
    return (
        f"Short first: {first.what}, {first.share:.0%} in use; it carries {first.carries} "
        f"{first.grows}. Then needed: {first.remedy}."
    )


def notes(plan: Plan) -> list[str]:
    """Return what else an operator should know before the class."""
    asked, found = plan.demand, []
    if asked.students > SOCKETS_PER_ADDRESS and not asked.cache:
        found.append(
            f"A server takes {SOCKETS_PER_ADDRESS} sockets from one address: students behind one "
            "router, or a proxy that is not trusted, are one address."
        )
    if asked.students > SOCKETS:
        found.append(
            f"A server takes {SOCKETS} sockets: a larger class takes several with one PostgreSQL. "
            "A recording alone can be an exported site (docs/RECORDINGS.md), without a server."
        )
    return [*found, *_notes_of_live(plan)] if asked.live else found


def _notes_of_live(plan: Plan) -> list[str]:
    asked, found = plan.demand, list[str]()
    if asked.live > LIVE_RUNS_MOST:
        found.append(
            f"A server runs {LIVE_RUNS_MOST} live runs at once and queues the rest: on one server "
            f"the last of {asked.live} begins after {plan.alone_s.low:.0f} to "
            f"{plan.alone_s.high:.0f} s."
        )
    if plan.hosts.high > 1 and asked.pool == "local":
        found.append(
            "Guests on further hosts take a pool (docs/CLUSTER.md), or further servers there."
        )
    if runs_each(asked, plan.run_cpus.high, 1.0) * plan.run_cpus.high > asked.host_cpus:
        found.append(
            f"One run may want {plan.run_cpus.high:.0f} CPUs of a host's {asked.host_cpus}: its "
            "lanes wait for each other, and the page says that shapes are distorted."
        )
    if plan.run_bytes.high > asked.host_bytes:
        found.append(f"One run may want {plan.run_bytes.high / MIB:.0f} MiB, more than a host has.")
    return found
