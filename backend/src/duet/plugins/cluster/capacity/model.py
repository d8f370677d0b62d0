# SPDX-License-Identifier: GPL-2.0-or-later
"""Computes hosts, CPUs, memory and bandwidth from a demand and the constants. Pure.

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

# The demand is what a class needs from the servers, and what the hosts and the link can provide.

MOST_STUDENTS: Final = 1_000_000
MOST_LIVE: Final = 10_000
MOST_LANES: Final = 16
MOST_CPUS: Final = 4096
MOST_MEMORY_BYTES: Final = 1 << 50
MOST_LINK: Final = 1e13
MOST_ARRIVE_S: Final = 86_400.0
RECORDING_BYTES: Final = Estimate(15e3, 300e3)
SEGMENTS: Final = Estimate(3, 12)
"""Number of segments in the largest shipped recording of each lesson."""
PLACES_PER_S: Final = 10.0
"""Positions sent per second while a class's driver plays or drags. At other times they are rare."""


@dataclass(frozen=True, slots=True)
class Demand:
    """The students, live runs and lesson of one class, and the available hosts and link.

    Args:
        students: number of pages that are open at the same time. Each page first shows the
            recording.
        live: number of simultaneous live runs.
        lanes: number of lanes per run.
        recording_bytes: size of the lesson's recording in segments.
        segments: number of segments in the recording.
        guest_bytes: memory of each guest.
        vcpus: CPUs of each guest.
        cache: true if nginx or a CDN caches segments.
        pool: where live runs take place: local (the server's own machine), slurm or kubernetes.
        host_cpus: CPUs of each host. A host runs a server, guests, or both.
        host_bytes: memory of each host.
        link_bits_per_s: capacity of the link from each server to the students.
        arrive_s: time within which all students arrive.
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
            ("seconds in which all students arrive", self.arrive_s, 1, MOST_ARRIVE_S),
        ):
            if not (math.isfinite(value) and low <= value <= high):
                raise InputError(
                    f"{what}: a plan needs {low:g} to {high:g}, but got {value:g}.",
                    remedy="./duet plan --help lists the options with their units.",
                )
        return self


# The load that students cause on the servers, while all of them arrive and afterwards.

PAGE_CONNECTIONS: Final = 6
"""Connections that a browser opens for files and segments while it loads a page."""
MS: Final = 1e-3


@dataclass(frozen=True, slots=True)
class Load:
    """The total load of all servers.

    Args:
        connections: number of connections to nginx, or to the server if there is no cache in front
            of it.
    """

    server_cores: Estimate
    nginx_cores: Estimate
    bits_per_s: Estimate
    connections: Estimate


def starting(asked: Demand, known: dict[str, Estimate]) -> Load:
    """Compute the load while all students arrive.

    Each student opens the page and its socket, and fetches the complete recording.
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
    """Compute the load afterwards, when the class follows its driver and watches live runs.

    Low estimate: the driver sends one position per second, and each run has one viewer. High
    estimate: the driver plays or drags, and all students watch one run, while each other run has
    one viewer.
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
    # The load may exceed one CPU. `uses` reports an excess, so the load is not limited.
    return Load(server, nginx, sent * 8, _connections(asked, 1 if asked.cache else 0))


def _connections(asked: Demand, fetching: int) -> Estimate:
    """Count the connections that fetch files, and the connections of WebSockets. A WebSocket has
    one connection, or two if nginx relays the WebSocket."""
    each = 2 if asked.cache else 1
    return Estimate(asked.students * each, asked.students * (each + fetching))


SERVER_SHARE: Final = 0.7
"""Share of one CPU that a server may use. A server is one event loop, and answers late if it stays
busier than this for long.
"""
EMULATOR_BYTES: Final = 250e6
"""Memory that a lane needs besides its guest's memory (the usual value in
budgets.LANE_BEYOND_GUEST_BYTES).
"""


@dataclass(frozen=True, slots=True)
class Plan:
    """The needs of a class.

    Args:
        hosts: number of all hosts. With a pool, it is the number of servers' hosts plus the number
            of guests' hosts.
        servers: number of `duet serve` processes.
        guest_hosts: number of hosts with guests. With a local pool, these may also run servers.
        run_cpus: CPUs that one live run uses in all its lanes.
        run_bytes: memory that one live run uses.
        web_cpus: CPUs that servers and nginx use while all students arrive or afterwards, whichever
            is more.
        cpus: total number of busy CPUs.
        memory_bytes: total memory.
        start: load while all students arrive.
        steady: load after all students have arrived.
        opened_s: time from the first request until the last page is open.
        moves_ms: time from a click on *run live* to the first events if a slot is free.
        alone_s: time until the last live run would begin if a single server executed all live runs.
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
        InputError: a value of the demand is out of bounds.
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
    """Return the CPUs and memory of one live run.

    The low estimate is the measured use. The high estimate assumes that each guest uses all its
    CPUs and all its memory.
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
    """Return how many live runs fit on one host. It is at least one, even if the host has too few
    CPUs."""
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
    """Return the time until all pages are open. It is at least arrive_s, and longer with slow
    servers or links.

    The servers share the pages, and each server has its own link. So the time is longer with fewer
    servers.
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


# Computes which share of each resource is in use, and describes the scarcest resource.


MIB = 1 << 20


@dataclass(frozen=True, slots=True)
class Use:
    """The use of one resource according to the high estimate.

    Args:
        share: share of the resource that is in use. Above 1, there is too little of the resource.
        grows: whether students or live runs increase the use.
        count: current number of these students or live runs.
        remedy: what is needed if there is too little of the resource.
    """

    what: str
    share: float
    grows: str
    count: int
    remedy: str

    @property
    def carries(self) -> int:
        """Return the number of students or live runs that would use up the resource."""
        return int(self.count / self.share) if self.share else 0


def uses(plan: Plan) -> list[Use]:
    """Return the use of every resource, the scarcest resource first."""
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
    """Say which resource runs out first."""
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
