# SPDX-License-Identifier: GPL-2.0-or-later
"""`duet plan`: a demand from options, constants from this installation, and what comes of both."""

from __future__ import annotations

import asyncio
import math
import os
from collections.abc import Sequence
from pathlib import Path

import psutil

from duet.base.errors import InputError
from duet.capacity.constants import Estimate, Figures, constants_file, exactly, figures, read
from duet.capacity.model import (
    MOST_MEMORY_BYTES,
    RECORDING_BYTES,
    SEGMENTS,
    Demand,
    Plan,
    notes,
    sentence,
    uses,
)
from duet.capacity.model import plan as planned
from duet.cli.cut_recording import segment_sizes
from duet.cli.output import emit
from duet.cli.plan_crowd import Options, crowds, draw
from duet.cli.plan_text import text_of
from duet.cli.results.planning import ConstantRow, CrowdRow, PlanResult, Range, UseRow
from duet.lessons import load as lessons
from duet.lessons import load as roles
from duet.pools.types import POOLS, PoolSettings
from duet.runs.pack import host_fingerprint

GIB = 1 << 30
USUAL_LANES = 2


def plan(options: Options, with_constants: bool, js: bool, picture_file: Path | None = None) -> int:
    """See `duet plan --help`."""
    known = figures(read(constants_file()), host_fingerprint())
    sizes = asyncio.run(segment_sizes(options.lesson)) if options.lesson else []
    made = planned(demand_of(options, sizes), known)
    result = result_of(made, known, crowds(options, sizes, known))
    if picture_file is not None:
        draw(picture_file, options, sizes, known)
    if js:
        emit(result)
    else:
        print(text_of(result, with_constants))
    return 0


def demand_of(options: Options, sizes: Sequence[int]) -> Demand:
    """What is asked for, with the lesson's and this machine's numbers where none were given.

    Raises:
        InputError: there is no such lesson or pool.
    """
    if options.pool and options.pool not in POOLS:
        raise InputError(
            f"'{options.pool:.40}' is no pool.", remedy=f"Choose from: {', '.join(POOLS)}."
        )
    names = [options.lesson] if options.lesson else lessons.slugs()
    found = [lessons.load(slug).lesson for slug in names]
    lanes = options.lanes
    if not lanes and options.lesson:
        lanes = next((len(s.arms) for s in found[0].scenes if s.id == found[0].hero), 0)
    defaults = [{name: one.default for name, one in each.params.items()} for each in found]
    memory = options.host_gib * GIB if options.host_gib else psutil.virtual_memory().total
    if not math.isfinite(memory):
        memory = 2.0 * MOST_MEMORY_BYTES  # refused with the sentence of its bound
    return Demand(
        students=options.students,
        live=options.live,
        lanes=lanes or USUAL_LANES,
        recording_bytes=exactly(sum(sizes)) if sizes else RECORDING_BYTES,
        segments=exactly(len(sizes)) if sizes else SEGMENTS,
        guest_bytes=max(each.memory_mb for each in found) << 20,
        vcpus=max(
            roles.cpus(each, params) for each, params in zip(found, defaults, strict=True)
        ),
        cache=options.cache,
        pool=options.pool or PoolSettings.from_environment().pool,
        host_cpus=options.host_cpus or os.cpu_count() or 1,
        host_bytes=int(memory),
        link_bits_per_s=options.link_mbit_per_s * 1e6,
        arrive_s=options.arrive_s,
    )  # fmt: skip


def result_of(made: Plan, known: Figures, rows: list[CrowdRow]) -> PlanResult:
    """The document."""
    asked, start, steady = made.demand, made.start, made.steady
    return PlanResult(
        students=asked.students,
        live=asked.live,
        lanes=asked.lanes,
        pool=asked.pool,
        cache=asked.cache,
        hosts=span(made.hosts),
        servers=span(made.servers),
        guest_hosts=span(made.guest_hosts),
        cpus=span(made.cpus),
        memory_bytes=span(made.memory_bytes),
        start_bits_per_s=span(start.bits_per_s),
        steady_bits_per_s=span(steady.bits_per_s),
        start_server_cores=span(start.server_cores),
        steady_server_cores=span(steady.server_cores),
        start_nginx_cores=span(start.nginx_cores),
        steady_nginx_cores=span(steady.nginx_cores),
        connections=span(start.connections),
        opened_s=span(made.opened_s),
        moves_ms=span(made.moves_ms),
        bottleneck=sentence(made),
        notes=notes(made),
        uses=[UseRow(u.what, round(u.share, 3), u.carries, u.grows) for u in uses(made)],
        constants=[
            ConstantRow(
                *(name, one.figure.low, one.figure.high, one.constant.unit, one.constant.what),
                *(one.constant.source, one.samples, one.at),
            )
            for name, one in known.items()
        ],
        crowds=rows,
    )


def span(found: Estimate) -> Range:
    """As a document has it."""
    return Range(round(found.low, 4), round(found.high, 4))
