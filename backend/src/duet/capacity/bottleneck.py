# SPDX-License-Identifier: GPL-2.0-or-later
"""What is short first: how much of each resource of a plan is in use, and one sentence. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from duet.budgets import LIVE_RUNS_MOST, SOCKETS, SOCKETS_PER_ADDRESS
from duet.capacity.model import SERVER_SHARE, Plan, runs_each

MIB = 1 << 20


@dataclass(frozen=True, slots=True)
class Use:
    """Of one resource, by the high estimate.

    Args:
        share: that is in use; above 1 it is short.
        grows: what makes it more: students or live runs.
        count: of these now.
        remedy: when it is short.
    """

    what: str
    share: float
    grows: str
    count: int
    remedy: str

    @property
    def carries(self) -> int:
        """So many of `grows` use all of it."""
        return int(self.count / self.share) if self.share else 0


def uses(plan: Plan) -> list[Use]:
    """Every resource that is in use, the shortest first."""
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
    """What is short first, if more come."""
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
    """What else an operator has to know before the class."""
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
