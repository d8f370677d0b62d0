# SPDX-License-Identifier: GPL-2.0-or-later
"""The simulated crowd of `duet plan --viewers` as a picture: delays by the number of viewers.

An SVG without scripts and fonts of its own, whose colours follow the reader's dark or light scheme.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Final

from duet.cli.plan_text import short
from duet.cli.results.planning import CrowdRow

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
    """The SVG; both axes have powers of ten.

    Args:
        rows: at least two, by number of viewers.
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
    """One line of the grid."""
    return [f'<path class="grid" d="M{x1:.1f} {y1:.1f}L{x2:.1f} {y2:.1f}"/>']


def powers(values: Sequence[float]) -> list[float]:
    """Powers of ten from below the smallest to above the largest."""
    low = math.floor(math.log10(min(values)) + 1e-9)
    high = math.ceil(math.log10(max(values)) - 1e-9)
    return [10.0**n for n in range(low, max(high, low + 1) + 1)]


def axis(values: Sequence[float], begin: float, end: float) -> Callable[[float], float]:
    """Places of values on a logarithmic axis."""
    ticks = powers(values)
    low, high = math.log10(ticks[0]), math.log10(ticks[-1])
    return lambda value: begin + (end - begin) * (math.log10(value) - low) / (high - low)
