# SPDX-License-Identifier: GPL-2.0-or-later
"""Cost curves: how fast a cost grows with a size, and a picture of it.

A picture is an SVG without scripts or embedded fonts. Its colours follow the reader's dark or
light scheme.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape

from tools.bench.speed.pairs import Point
from tools.bench.speed.tables import rate_text

CONSTANT, LESS, MORE = 0.1, 0.9, 1.1
"""Exponents: constant below the first, less than linear below the second, worse above the third."""
WIDTH, HEIGHT = 560, 320
LEFT, RIGHT, TOP, BOTTOM = 76, 24, 44, 56
STYLE = """
	text { font: 13px system-ui, sans-serif; fill: #1f2328; }
	.back { fill: #ffffff; } .grid { stroke: #d0d7de; }
	.curve { fill: none; stroke: #0b6e4f; stroke-width: 2.5; } circle { fill: #0b6e4f; }
	.linear { stroke: #b35900; stroke-dasharray: 6 4; }
	@media (prefers-color-scheme: dark) {
		text { fill: #e6edf3; } .back { fill: #0d1117; } .grid { stroke: #30363d; }
		.curve { stroke: #4cc38a; } circle { fill: #4cc38a; } .linear { stroke: #f0a050; }
	}
"""


@dataclass(frozen=True, slots=True)
class Curve:
    """The points of one curve, by size."""

    name: str
    points: tuple[Point, ...]

    @property
    def exponent(self) -> float | None:
        """Exponent of the power law that fits best; None if all sizes are equal."""
        return exponent([(p.size, p.cost) for p in self.points])

    @property
    def growth(self) -> str:
        """The growth as words: "grows as events^1.02: linear"."""
        found = self.exponent
        unit = self.points[0].unit
        if found is None:
            return "has too few sizes for a growth"
        if abs(found) < CONSTANT:
            return f"grows as {unit}^{found:.2f}: constant"
        words = "less than linear" if found < LESS else "linear"
        return f"grows as {unit}^{found:.2f}: {words if found <= MORE else 'worse than linear'}"

    @property
    def file_name(self) -> str:
        return re.sub(r"[^a-z0-9]+", "-", self.name.lower()).strip("-") + ".svg"


def curves_of(points: Sequence[Point]) -> list[Curve]:
    """Return the curves that the points belong to, in order of appearance."""
    names = dict.fromkeys(point.curve for point in points)
    return [
        Curve(name, tuple(sorted((p for p in points if p.curve == name), key=lambda p: p.size)))
        for name in names
    ]


def exponent(points: Sequence[tuple[float, float]]) -> float | None:
    """Fit cost = factor * size^exponent by least squares of the logarithms."""
    logs = [(math.log(size), math.log(cost)) for size, cost in points if size > 0 and cost > 0]
    if len({x for x, _ in logs}) < 2:
        return None
    middle_x = sum(x for x, _ in logs) / len(logs)
    middle_y = sum(y for _, y in logs) / len(logs)
    above = sum((x - middle_x) * (y - middle_y) for x, y in logs)
    return above / sum((x - middle_x) ** 2 for x, _ in logs)


def picture(curve: Curve) -> str:
    """Return the SVG of a curve. Both axes are logarithmic; the dashed line is linear growth."""
    sizes = [point.size for point in curve.points]
    costs = [max(point.cost, 1e-9) for point in curve.points]
    straight = [costs[0] * size / sizes[0] for size in sizes]
    x = _axis(sizes, LEFT, WIDTH - RIGHT)
    y = _axis([*costs, *straight], HEIGHT - BOTTOM, TOP)
    first = curve.points[0]
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
        f'aria-label="{escape(curve.name)}: {escape(curve.growth)}">',
        f"<style>{STYLE}</style>",
        f'<rect class="back" width="{WIDTH}" height="{HEIGHT}"/>',
        f'<text x="{LEFT}" y="24">{escape(curve.name)}</text>',
    ]
    for tick in _ticks(sizes):
        parts.append(_line(x(tick), TOP, x(tick), HEIGHT - BOTTOM))
        parts.append(_text(x(tick), HEIGHT - BOTTOM + 18, rate_text(tick), "middle"))
    for tick in _ticks([*costs, *straight]):
        parts.append(_line(LEFT, y(tick), WIDTH - RIGHT, y(tick)))
        parts.append(_text(LEFT - 8, y(tick) + 4, rate_text(tick), "end"))
    parts.append(_text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 12, first.unit, "middle"))
    parts.append(
        f'<text transform="translate(16 {(TOP + HEIGHT - BOTTOM) / 2}) rotate(-90)" '
        f'text-anchor="middle">{escape(first.cost_unit)}</text>'
    )
    for kind, values in (("linear", straight), ("curve", costs)):
        places = " ".join(f"{x(a):.1f},{y(b):.1f}" for a, b in zip(sizes, values, strict=True))
        parts.append(f'<polyline class="{kind}" fill="none" points="{places}"/>')
    parts += [
        f'<circle cx="{x(a):.1f}" cy="{y(b):.1f}" r="3.5"/>'
        for a, b in zip(sizes, costs, strict=True)
    ]
    return "\n".join([*parts, "</svg>", ""])


def _ticks(values: Sequence[float]) -> list[float]:
    """Return ticks around all values: powers of ten; on short axes also 2 and 5 times these."""
    low, high = math.log10(min(values)), math.log10(max(values))
    steps = (1, 2, 5) if high - low < 2.2 else (1,)
    found = [
        step * 10.0**power
        for power in range(math.floor(low) - 1, math.ceil(high) + 2)
        for step in steps
    ]
    begin = max((t for t in found if t <= min(values) * 1.0001), default=found[0])
    end = min((t for t in found if t >= max(values) * 0.9999), default=found[-1])
    return [tick for tick in found if begin <= tick <= end] if begin < end else [begin, 10 * begin]


def _axis(values: Sequence[float], begin: float, end: float) -> Callable[[float], float]:
    """Return a function that maps values to a logarithmic axis."""
    ticks = _ticks(values)
    low, high = math.log10(ticks[0]), math.log10(ticks[-1])
    return lambda value: begin + (end - begin) * (math.log10(value) - low) / (high - low)


def _line(x1: float, y1: float, x2: float, y2: float) -> str:
    return f'<path class="grid" d="M{x1:.1f} {y1:.1f}L{x2:.1f} {y2:.1f}"/>'


def _text(x: float, y: float, text: str, anchor: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'
