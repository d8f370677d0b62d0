# SPDX-License-Identifier: GPL-2.0-or-later
"""The result of `duet plan` as lines: ranges in two digits, since they are no more exact."""

from __future__ import annotations

import math
from collections.abc import Sequence

from duet.capacity.constants import REFERENCE
from duet.cli.results.planning import ConstantRow, CrowdRow, PlanResult, Range

GB = 1e9
BUSIEST = 4
"""Resources that the table shows."""


def text_of(result: PlanResult, with_constants: bool) -> str:
    """All of it."""
    caching = "a cache before the server" if result.cache else "no cache before the server"
    lines = [
        f"{result.students} students, {result.live} live runs at once of {result.lanes} lanes; "
        f"{caching}; pool: {result.pool}",
        "",
        *table(_rows(result)),
        "",
        result.bottleneck,
        *result.notes,
    ]
    if result.uses:
        head = ("in use, high estimate", "", "carries")
        busiest = result.uses[:BUSIEST]
        body = [(one.what, f"{one.share:.0%}", f"{one.carries:,} {one.of}") for one in busiest]
        lines += ["", *table([head, *body])]
    if result.crowds:
        lines += ["", *_crowds(result.crowds)]
    if with_constants:
        lines += ["", *_constants(result.constants)]
    return "\n".join([*lines, "", _origin(result.constants)])


def _rows(result: PlanResult) -> list[tuple[str, ...]]:
    hosts = "servers and guests" if result.pool == "local" else "all"
    return [
        ("", "low", "high"),
        _row(f"hosts ({hosts})", result.hosts),
        _row("  servers", result.servers),
        _row("  hosts with guests", result.guest_hosts),
        _row("CPUs that are busy", result.cpus),
        _row("memory, GB", result.memory_bytes, GB),
        _row("bandwidth while all come, Mbit/s", result.start_bits_per_s, 1e6),
        _row("bandwidth afterwards, Mbit/s", result.steady_bits_per_s, 1e6),
        _row("server, CPUs while all come", result.start_server_cores),
        _row("server, CPUs afterwards", result.steady_server_cores),
        _row("connections while all come", result.connections),
        _row("until the last page is open, s", result.opened_s),
        _row("from run live to events, s", result.moves_ms, 1e3),
    ]


def _row(what: str, found: Range, unit: float = 1.0) -> tuple[str, ...]:
    return what, short(found.low / unit), short(found.high / unit)


def short(value: float) -> str:
    """Two digits; whole numbers and those above 100 without a point."""
    if value == 0 or (value == round(value) and value < 1e4):
        return f"{value:,.0f}"
    digits = 1 - math.floor(math.log10(abs(value)))
    return f"{round(value, digits):,.{max(0, digits)}f}"


def table(rows: Sequence[tuple[str, ...]]) -> list[str]:
    """Columns, the first to the left and numbers to the right."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return [
        "  ".join(
            word.ljust(width) if column == 0 else word.rjust(width)
            for column, (word, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]


def _crowds(rows: Sequence[CrowdRow]) -> list[str]:
    head = ("viewers", "first, p50", "p99", "next, p99", "whole, p50", "p99", "all over", "nginx")
    body = [
        (
            f"{one.viewers:,}",
            *(f"{short(s)} s" for s in (one.first_p50_s, one.first_p99_s, one.next_p99_s)),
            *(f"{short(s)} s" for s in (one.whole_p50_s, one.whole_p99_s, one.over_s)),
            f"{short(one.nginx_cpu_s)} CPU s",
        )
        for one in rows
    ]
    return ["simulated: one recording, segments alone, until the first, the next, all are there",
            *table([head, *body])]  # fmt: skip


def _constants(rows: Sequence[ConstantRow]) -> list[str]:
    head = ("constant", "low", "high", "unit", "from")
    body = [
        (
            one.name,
            short(one.low),
            short(one.high),
            one.unit,
            f"here, {one.samples} of {one.at}" if one.samples else f"shipped ({one.source})",
        )
        for one in rows
    ]
    return table([head, *body])


def _origin(rows: Sequence[ConstantRow]) -> str:
    here = [one for one in rows if one.samples]
    missing = sorted({one.source for one in rows if not one.samples})
    if not here:
        return (
            f"All {len(rows)} constants are shipped: {REFERENCE}. "
            f"Measure yours: {', '.join(missing)}."
        )
    rest = f"; shipped are {len(rows) - len(here)}, of {', '.join(missing)}" if missing else ""
    return f"{len(here)} of {len(rows)} constants were measured here{rest}."
