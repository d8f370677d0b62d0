# SPDX-License-Identifier: GPL-2.0-or-later
"""`duet plan`: estimate the resources that a class needs, from options and measured constants."""

from __future__ import annotations

import asyncio
import math
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import psutil
import typer

from duet.base import files as durable
from duet.base.errors import InputError
from duet.cli.keys import key, keys_text
from duet.cli.options import Json
from duet.cli.output import emit
from duet.plugins.cluster.types import POOLS, PoolSettings

if TYPE_CHECKING:
    from duet.plugins.cluster.capacity.constants import Estimate, Figures
    from duet.plugins.cluster.capacity.model import Demand, Plan
    from duet.plugins.cluster.capacity.simulation import Simulated


@dataclass(frozen=True, slots=True)
class Range:
    """A range from a low to a high estimate."""

    low: float
    high: float


@dataclass(frozen=True, slots=True)
class UseRow:
    """How much of one resource is used, according to the high estimate."""

    what: str
    share: float
    carries: int
    of: str


@dataclass(frozen=True, slots=True)
class ConstantRow:
    """One constant of the capacity model."""

    name: str
    low: float
    high: float
    unit: str
    what: str
    source: str
    samples: int
    at: str


@dataclass(frozen=True, slots=True)
class CrowdRow:
    """Simulated delays for a number of viewers of one recording, in seconds after a viewer's
    arrival."""

    viewers: int
    first_p50_s: float
    first_p99_s: float
    next_p99_s: float
    whole_p50_s: float
    whole_p99_s: float
    over_s: float
    nginx_cpu_s: float


@dataclass(frozen=True, slots=True)
class PlanResult:
    students: int
    live: int = key("runs at once")
    lanes: int = key("per run")
    pool: str = key()
    cache: bool = key("nginx or a CDN caches segments")
    hosts: Range = key("all, of the given size")
    servers: Range = key("part of hosts with a local pool, else in addition to those of guests")
    guest_hosts: Range = key()
    cpus: Range = key("busy, all hosts together")
    memory_bytes: Range = key("all hosts together")
    start_bits_per_s: Range = key("while all students come")
    steady_bits_per_s: Range = key("afterwards")
    start_server_cores: Range = key()
    steady_server_cores: Range = key()
    start_nginx_cores: Range = key()
    steady_nginx_cores: Range = key()
    connections: Range = key("while all come")
    opened_s: Range = key("until the last page is open")
    moves_ms: Range = key("from run live to events, if a slot is free")
    bottleneck: str = key("a sentence")
    notes: Sequence[str] = key()
    uses: Sequence[UseRow] = key("the scarcest first")
    constants: Sequence[ConstantRow] = key("samples 0: shipped, not measured here")
    crowds: Sequence[CrowdRow] = key("with --viewers")


KEYS = keys_text(PlanResult)


def plan(
    students: Annotated[int, typer.Option("--students", help="Open pages at once.")] = 30,
    live: Annotated[int, typer.Option("--live", help="Live runs at once.")] = 0,
    lanes: Annotated[
        int, typer.Option("--lanes", help="Lanes per run; default: as in the main step, else 2.")
    ] = 0,
    lesson: Annotated[
        str, typer.Option("--lesson", help="Plan for this lesson; default: the largest of all.")
    ] = "",
    cache: Annotated[
        bool, typer.Option("--cache/--no-cache", help="Does nginx or a CDN cache segments?")
    ] = True,
    pool: Annotated[
        str, typer.Option("--pool", help="local, slurm or kubernetes; default: $DUET_POOL.")
    ] = "",
    host_cpus: Annotated[
        int, typer.Option("--host-cpus", help="CPUs per host; default: this machine's.")
    ] = 0,
    host_gib: Annotated[
        float, typer.Option("--host-memory", help="GiB per host; default: this machine's.")
    ] = 0.0,
    link: Annotated[
        float, typer.Option("--link", help="Mbit/s from a server, or a CDN, to all students.")
    ] = 1000.0,
    arrive: Annotated[
        float, typer.Option("--arrive", help="Seconds in which all students arrive.")
    ] = 60.0,
    viewers: Annotated[
        int, typer.Option("--viewers", help="Also simulate up to this many viewers of a recording.")
    ] = 0,
    picture: Annotated[
        Path | None, typer.Option("--picture", help="Write the simulated curve to this SVG file.")
    ] = None,
    constants: Annotated[
        bool, typer.Option("--constants", help="Also list the constants and their sources.")
    ] = False,
    as_json: Json = False,
) -> int:
    """Estimate hosts, CPUs, memory and bandwidth for a class. Also say which resource runs out
    first.

    The constants are those that `make bench` measured on this machine, or else those of the
    reference machine. docs/CAPACITY.md explains the model and its limits.
    """
    from duet.cli.record import segment_sizes
    from duet.plugins.cluster.capacity.constants import constants_file, figures, read
    from duet.plugins.cluster.capacity.model import plan as planned
    from duet.runs.pack import recording_host

    options = Options(
        students, live, lanes, lesson, cache, pool, host_cpus, host_gib, link, arrive, viewers
    )
    known = figures(read(constants_file()), recording_host())
    sizes = asyncio.run(segment_sizes(options.lesson)) if options.lesson else []
    made = planned(demand_of(options, sizes), known)
    result = result_of(made, known, crowds(options, sizes, known))
    if picture is not None:
        draw(picture, options, sizes, known)
    if as_json:
        emit(result)
    else:
        print(text_of(result, constants))
    return 0


# Formats the result as lines of text. The ends of ranges have two digits, because the model is not
# more exact.

GB = 1e9
BUSIEST = 4
"""Number of resources that the table lists."""


def text_of(result: PlanResult, with_constants: bool) -> str:
    """Format the complete result."""
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
    """Format a number with two digits. Whole numbers below 10,000 keep all their digits."""
    if value == 0 or (value == round(value) and value < 1e4):
        return f"{value:,.0f}"
    digits = 1 - math.floor(math.log10(abs(value)))
    return f"{round(value, digits):,.{max(0, digits)}f}"


def table(rows: Sequence[tuple[str, ...]]) -> list[str]:
    """Align the first column to the left, and the others to the right."""
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
    from duet.plugins.cluster.capacity.constants import REFERENCE

    here = [one for one in rows if one.samples]
    missing = sorted({one.source for one in rows if not one.samples})
    if not here:
        return (
            f"All {len(rows)} constants are shipped: {REFERENCE}. "
            f"Measure yours: {', '.join(missing)}."
        )
    rest = f"; shipped are {len(rows) - len(here)}, of {', '.join(missing)}" if missing else ""
    return f"{len(here)} of {len(rows)} constants were measured here{rest}."


# Draws the result of `duet plan --viewers`: simulated delays by the number of viewers.
#
# The picture is an SVG without scripts or embedded fonts. Its colours follow the reader's dark or
# light scheme.

WIDTH, HEIGHT = 720, 400
LEFT, RIGHT, TOP, BOTTOM = 70, 40, 50, 50
CURVES: Final[tuple[tuple[str, str, Callable[[CrowdRow], float]], ...]] = (
    ("first segment, median", "a", lambda row: row.first_p50_s),
    ("first segment, 99th percentile", "b", lambda row: row.first_p99_s),
    ("all segments, 99th percentile", "c", lambda row: row.whole_p99_s),
)
STYLE: Final = """
	text { font: 13px system-ui, sans-serif; fill: #1f2328; }
	.back { fill: #ffffff; } .grid { stroke: #d0d7de; }
	.curve { fill: none; stroke-width: 2.5; }
	.a { stroke: #0b6e4f; } .b { stroke: #b35900; stroke-dasharray: 7 4; } .c { stroke: #3d4fc4; }
	@media (prefers-color-scheme: dark) {
		text { fill: #e6edf3; } .back { fill: #0d1117; } .grid { stroke: #30363d; }
		.a { stroke: #4cc38a; } .b { stroke: #f0a050; } .c { stroke: #9aa6ff; }
	}
"""


def picture(rows: Sequence[CrowdRow], title: str) -> str:
    """Return the SVG. Both axes are logarithmic.

    Args:
        rows: at least two rows, sorted by number of viewers.
        title: what was simulated.
    """
    x = axis([row.viewers for row in rows], LEFT, WIDTH - RIGHT)
    seconds = [take(row) for row in rows for _, _, take in CURVES]
    y = axis(seconds, HEIGHT - BOTTOM, TOP + 3 * 18)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
        f'aria-label="{title}">',
        f"<style>{STYLE}</style>",
        f'<rect class="back" width="{WIDTH}" height="{HEIGHT}"/>',
        f'<text x="{LEFT}" y="22">{title}</text>',
    ]
    for power in powers([row.viewers for row in rows]):
        at = x(power)
        parts += line(at, TOP + 54, at, HEIGHT - BOTTOM)
        parts.append(
            f'<text x="{at:.1f}" y="{HEIGHT - BOTTOM + 20}" text-anchor="middle">'
            f"{power:,.0f}</text>"
        )
    for power in powers(seconds):
        at = y(power)
        parts += line(LEFT, at, WIDTH - RIGHT, at)
        parts.append(
            f'<text x="{LEFT - 8}" y="{at + 4:.1f}" text-anchor="end">{short(power)} s</text>'
        )
    parts.append(
        f'<text x="{(LEFT + WIDTH - RIGHT) / 2}" y="{HEIGHT - 10}" text-anchor="middle">'
        "viewers</text>"
    )
    for number, (name, kind, take) in enumerate(CURVES):
        points = " ".join(f"{x(row.viewers):.1f},{y(take(row)):.1f}" for row in rows)
        parts.append(f'<polyline class="curve {kind}" points="{points}"/>')
        below = TOP + 18 * number
        parts.append(
            f'<polyline class="curve {kind}" points="{LEFT},{below - 4} {LEFT + 34},{below - 4}"/>'
        )
        parts.append(f'<text x="{LEFT + 42}" y="{below}">{name}</text>')
    return "\n".join([*parts, "</svg>", ""])


def line(x1: float, y1: float, x2: float, y2: float) -> list[str]:
    """Return a grid line as an SVG path."""
    return [f'<path class="grid" d="M{x1:.1f} {y1:.1f}L{x2:.1f} {y2:.1f}"/>']


def powers(values: Sequence[float]) -> list[float]:
    """Return consecutive powers of ten that span all values."""
    low = math.floor(math.log10(min(values)) + 1e-9)
    high = math.ceil(math.log10(max(values)) - 1e-9)
    return [10.0**n for n in range(low, max(high, low + 1) + 1)]


def axis(values: Sequence[float], begin: float, end: float) -> Callable[[float], float]:
    """Return a function that maps values to a logarithmic axis."""
    ticks = powers(values)
    low, high = math.log10(ticks[0]), math.log10(ticks[-1])
    return lambda value: begin + (end - begin) * (math.log10(value) - low) / (high - low)


HEAD_BYTES = 450
"""Size of the HTTP headers of a segment's response."""
OWN_BITS_PER_S = 20e6
LEAST_DRAWN = 200
ROUND_TRIP_S = 0.02
"""Round-trip time of each simulated viewer, as within a building or a campus."""


@dataclass(frozen=True, slots=True)
class Options:
    """Options of the command. 0 and "" mean the default."""

    students: int = 30
    live: int = 0
    lanes: int = 0
    lesson: str = ""
    cache: bool = True
    pool: str = ""
    host_cpus: int = 0
    host_gib: float = 0.0
    link_mbit_per_s: float = 1000.0
    arrive_s: float = 60.0
    viewers: int = 0


def draw(file: Path, options: Options, sizes: Sequence[int], known: Figures) -> None:
    """Write the picture of the simulated viewers.

    Raises:
        InputError: there are too few viewers to draw, or the file cannot be written.
    """
    if options.viewers < LEAST_DRAWN:
        raise InputError(
            f"--picture needs more viewers to draw, but --viewers is {options.viewers}.",
            remedy=f"Set --viewers to {LEAST_DRAWN} or more, for example 100000.",
        )
    rows = crowds(options, sizes, known, (1, 2, 5))
    title = (
        f"Viewers who come within {options.arrive_s:g} s, at a link of "
        f"{options.link_mbit_per_s:g} Mbit/s (simulated)"
    )
    try:
        durable.write(file, picture(rows, title).encode())
    except OSError as error:
        raise InputError(
            f"the picture cannot be written to {file} ({error.strerror}).",
            remedy="Choose a file in an existing folder.",
        ) from None


def crowds(
    options: Options, sizes: Sequence[int], known: Figures, digits: Sequence[int] = (1,)
) -> list[CrowdRow]:
    """Simulate several numbers of viewers, up to the requested number.

    Each number is a power of ten, multiplied by one of `digits`.

    Raises:
        InputError: there are too many viewers.
    """
    from duet.plugins.cluster.capacity.model import RECORDING_BYTES, SEGMENTS
    from duet.plugins.cluster.capacity.simulation import Scene, simulate

    if not options.viewers:
        return []
    if not sizes:  # use the largest shipped recording
        count = round(SEGMENTS.high)
        sizes = [round(RECORDING_BYTES.high / count)] * count
    scene = Scene(
        segment_bytes=[size + HEAD_BYTES for size in sizes],
        link_bytes_per_s=options.link_mbit_per_s * 1e6 / 8,
        own_bytes_per_s=OWN_BITS_PER_S / 8,
        nginx_s=known["segment_nginx"].figure.high * 1e-3,
        round_trip_s=ROUND_TRIP_S,
        arrive_s=options.arrive_s,
    )
    counts = {options.viewers}
    counts |= {m * 10**n for n in range(2, 7) for m in digits if m * 10**n < options.viewers}
    return [crowd_row(simulate(scene, count)) for count in sorted(counts)]


def crowd_row(found: Simulated) -> CrowdRow:
    return CrowdRow(
        viewers=found.viewers,
        first_p50_s=round(found.first_s[0], 3),
        first_p99_s=round(found.first_s[2], 3),
        next_p99_s=round(found.next_s[2], 3),
        whole_p50_s=round(found.whole_s[0], 3),
        whole_p99_s=round(found.whole_s[2], 3),
        over_s=round(found.over_s, 1),
        nginx_cpu_s=round(found.nginx_s, 2),
    )


GIB = 1 << 30
USUAL_LANES = 2


def demand_of(options: Options, sizes: Sequence[int]) -> Demand:
    """Build the demand from the options, with defaults from the lesson and this machine.

    Raises:
        InputError: there is no such lesson or pool.
    """
    from duet.lessons import load as lessons
    from duet.lessons import load as roles
    from duet.plugins.cluster.capacity.constants import exactly
    from duet.plugins.cluster.capacity.model import (
        MOST_MEMORY_BYTES,
        RECORDING_BYTES,
        SEGMENTS,
        Demand,
    )

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
        memory = 2.0 * MOST_MEMORY_BYTES  # checked() refuses this value with an error message
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
    from duet.plugins.cluster.capacity.model import notes, sentence, uses

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
    return Range(round(found.low, 4), round(found.high, 4))
