# SPDX-License-Identifier: GPL-2.0-or-later
"""`duet measure --pool`: run a measurement's comparisons on leases of a pool."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from duet.base.errors import InfraError, InputError
from duet.cli.measure.args import command_of
from duet.cli.measure.pooling import Pooling
from duet.cli.measure.results import AgreementResult, ComparedFigure, ComparedHosts
from duet.cli.measuring import interrupted_exit_code, interruptible
from duet.cli.output import document, note
from duet.measure import MeasurePlan, Report
from duet.measure.model import host_words
from duet.plugins.cluster.choose import open_pool
from duet.plugins.cluster.limits import TTL_MOST_S
from duet.plugins.cluster.measuring.limits import WAIT_S
from duet.plugins.cluster.measuring.merge import (
    Agreement,
    agreement,
    checked_plan,
    difference_words,
    merged,
    pairs_of,
)
from duet.plugins.cluster.measuring.request import parts_of
from duet.plugins.cluster.measuring.schedule import Job, Schedule, Terms
from duet.plugins.cluster.types import POOLS, Pool, PoolSettings, Refusal

# Output of `duet measure --check-hosts`.

MAX_SHOWN = 20
"""Maximum number of unequal figures that the text lists. --json lists all."""


def report_agreement(
    found: Sequence[Agreement], jobs: Sequence[Job], as_json: bool
) -> tuple[str, int]:
    """Return the text and the exit code, which is 0 if all figures are equal. Otherwise, the code
    is that of InfraError."""
    code = 0 if all(one.equal for one in found) else InfraError.exit_code
    if as_json:
        return document(result_of(found, verdict(found))), code
    lines = [verdict(found), ""]
    for one in found:
        lines += [f"{one.comparison}: {sentence}" for sentence in one.trouble]
        apart = [figure for figure in one.figures if not figure.equal]
        lines += [f"DIFFERS: {difference_words(one, figure)}" for figure in apart[:MAX_SHOWN]]
        if len(apart) > MAX_SHOWN:
            lines.append(f"DIFFERS: and {len(apart) - MAX_SHOWN} more; --json has all.")
    if len(lines) > 2:
        lines.append("")
    facts = [job.facts() for job in jobs if job.result is not None and job.error is None]
    return "\n".join([*lines, "Hosts:", *(f"  {host_words(one)}" for one in facts)]) + "\n", code


def verdict(found: Sequence[Agreement]) -> str:
    """Return a sentence that sums up all comparisons."""
    figures = [figure for one in found for figure in one.figures]
    apart = sum(not figure.equal for figure in figures)
    if any(one.trouble for one in found):
        return "No answer: some comparisons could not be compared between hosts."
    if apart:
        return f"NOT EQUAL: {apart} of {len(figures)} figures differ between hosts."
    hosts = ", ".join(" and ".join(nodes) for nodes in dict.fromkeys(one.nodes for one in found))
    return f"Equal to the instruction: {len(figures)} figures, each the same on {hosts}."


def result_of(found: Sequence[Agreement], sentence: str) -> AgreementResult:
    return AgreementResult(
        equal=all(one.equal for one in found),
        sentence=sentence,
        comparisons=[
            ComparedHosts(
                comparison=one.comparison,
                nodes=list(one.nodes),
                equal=one.equal,
                trouble=list(one.trouble),
                figures=[
                    ComparedFigure(
                        arm=figure.arm,
                        metric=figure.metric,
                        unit=figure.unit,
                        run=figure.run,
                        values=list(figure.values),
                        equal=figure.equal,
                    )
                    for figure in one.figures
                ],
            )
            for one in found
        ],
    )


MAX_AT_ONCE = 1024


def check(pooling: Pooling) -> None:
    """Check the options. Raise InputError if a value is out of range."""
    settings(pooling)
    terms(pooling)


def settings(pooling: Pooling) -> PoolSettings:
    """Return the environment's settings for the chosen pool.

    Raises:
        InputError: there is no such pool, or a variable is invalid.
    """
    if pooling.pool not in POOLS:
        raise InputError(
            f"'{pooling.pool:.40}' is no pool.", remedy=f"Choose from: {', '.join(POOLS)}."
        )
    return replace(PoolSettings.from_environment(), pool=pooling.pool)


def terms(pooling: Pooling) -> Terms:
    """Return how the measurement uses the pool.

    Raises:
        InputError: a value is not a number, or is out of range.
    """
    at_once = _number(pooling.at_once, "--at-once", 1, MAX_AT_ONCE)
    wait = _number(pooling.wait, "--wait", 0, int(TTL_MOST_S))
    lease = _number(pooling.lease, "--lease", 1, int(TTL_MOST_S / 60))
    return Terms(
        at_once=at_once,
        wait_s=WAIT_S if wait is None else float(wait),
        lease_s=None if lease is None else 60.0 * lease,
    )


def measure_on_pool(plan: MeasurePlan, pooling: Pooling) -> tuple[Report, bool]:
    """Measure on the pool. Return the report, and whether it is complete (not interrupted).

    Raises:
        DuetError: the pool cannot be used.
    """
    pool = open_pool(settings(pooling))
    jobs = [Job(part) for part in parts_of(plan)]
    note(f"pool {pooling.pool}: {len(jobs)} comparison" + ("s" if len(jobs) > 1 else ""))
    whole = asyncio.run(interruptible(_on(pool, terms(pooling), jobs)))
    report = merged(plan, jobs, f"{command_of(plan)} --pool {pooling.pool}")
    return report, whole


def check_hosts(
    plan: MeasurePlan,
    pooling: Pooling,
    how: str,
    write: Callable[[str, Path | None], int],
    output: Path | None,
) -> int:
    """Run each comparison on two hosts, and report whether their figures are exactly equal.

    Args:
        how: the output format: "json", or "mail" for plain text.

    Raises:
        InputError: the plan is not for the count clock, or the pool has fewer than two hosts.
        DuetError: the pool cannot be used.
    """
    if how not in ("mail", "json"):
        raise InputError(
            f"--check-hosts has no format '{how:.40}'.", remedy="Leave out --format, or add --json."
        )
    pairs = pairs_of(checked_plan(plan))
    jobs = [job for pair in pairs for job in pair]
    pool = open_pool(settings(pooling))
    whole = asyncio.run(interruptible(_on_two(pool, terms(pooling), jobs)))
    found = [agreement(*pair) for pair in pairs]
    text, code = report_agreement(found, jobs, how == "json")
    unwritten = write(text, output)
    return max(code, unwritten) if whole else interrupted_exit_code()


async def _on(pool: Pool, terms: Terms, jobs: Sequence[Job]) -> None:
    async with pool:
        await Schedule(pool, terms, note).run(jobs)


async def _on_two(pool: Pool, terms: Terms, jobs: Sequence[Job]) -> None:
    async with pool:
        kinds = await pool.kinds()
        if isinstance(kinds, Refusal):
            raise InfraError(kinds.sentence, remedy="Run: ./duet pool doctor")
        hosts = {host for kind in kinds for host in kind.hosts}
        if len(hosts) < 2:
            raise InputError(
                f"--check-hosts compares two hosts, but the pool has {len(hosts)}.",
                remedy="Use a pool with more hosts; ./duet pool doctor lists them.",
            )
        await Schedule(pool, terms, note).run(jobs)


def _number(text: str, option: str, least: int, most: int) -> int | None:
    if not text:
        return None
    number = -1
    with suppress(ValueError):
        number = int(text) if re.fullmatch(r"\d{1,9}", text.strip()) else -1
    if not least <= number <= most:
        raise InputError(
            f"{option} must be a whole number from {least} to {most}, but is {text:.20}.",
            remedy="Leave the option out to use the default.",
        )
    return number
