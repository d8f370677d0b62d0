# SPDX-License-Identifier: GPL-2.0-or-later
"""`duet compare`: two recordings, first what they differ in, then their figures by arm."""

from __future__ import annotations

from pathlib import Path

from duet.api.comparing import Comparison
from duet.api.comparing import compare as compared
from duet.cli.output import emit
from duet.cli.reproduce import figure_table


def compare(first: Path, second: Path, as_json: bool) -> int:
    """See `duet compare --help`."""
    found = compared(first, second)
    if as_json:
        emit({"first": str(first), "second": str(second)} | found.tree())
    else:
        print("\n".join(text(first, second, found)))
    return 0


def text(first: Path, second: Path, found: Comparison) -> list[str]:
    """For people: the differences stand before any number."""
    lines = [f"first:  {first.name}, {said(found, 0)}", f"second: {second.name}, {said(found, 1)}"]
    lines.append("")
    if found.differences:
        lines.append("They differ in:")
        lines += [f"  {one.of}: {one}" for one in found.differences]
    else:
        lines.append("Knobs, kernels, config, patches, host and programs are the same.")
    lines += [f"{arm} is in the {which} alone." for arm, which in found.only.items()]
    return [*lines, "", *figure_table(found.figures, ("first", "second")), found.worth]


def said(found: Comparison, side: int) -> str:
    """When and where one of them was recorded."""
    manifest = (found.one, found.other)[side].manifest
    host = manifest.host.get("cpu", "a host that is not named")
    return f"recorded {manifest.created} on {host}, {manifest.clock} clock"
