# SPDX-License-Identifier: GPL-2.0-or-later
"""Targets of a measurement of this program: what is wanted, what was found, whether that meets it.

The numbers are those that docs/CLONES.md and docs/OPERATING.md promise.
"""

from __future__ import annotations

from collections.abc import Iterable

from duet.cli.bench.results import Target


def at_most(what: str, bound: float, unit: str, found: float | None) -> Target:
    """A target that no more than `bound` meets; None was not measured."""
    met = None if found is None else found <= bound
    return Target(what, f"at most {_number(bound, unit)}", _said(found, unit), met)


def at_least(what: str, bound: float, unit: str, found: float | None) -> Target:
    """A target that `bound` or more meets; None was not measured."""
    met = None if found is None else found >= bound
    return Target(what, f"at least {_number(bound, unit)}", _said(found, unit), met)


def target_lines(targets: Iterable[Target]) -> list[str]:
    """A line each: met, MISSED, or not measured."""
    words = {True: "met", False: "MISSED", None: "not measured"}
    return [
        f"{words[one.met]:12}  {one.what}: {one.wanted} wanted, {one.found} found"
        if one.met is not None
        else f"{words[None]:12}  {one.what}: {one.wanted} wanted"
        for one in targets
    ]


def _said(found: float | None, unit: str) -> str:
    return "" if found is None else _number(found, unit)


def _number(value: float, unit: str) -> str:
    text = f"{value:.1f}".removesuffix(".0")
    return f"{text} {unit}".rstrip()
