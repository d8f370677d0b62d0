# SPDX-License-Identifier: GPL-2.0-or-later
"""`duet microscope --predict`: models the arms' counted accesses on many CPUs."""

from __future__ import annotations

import asyncio
from collections.abc import Container, Iterable
from dataclasses import asdict
from typing import Any

from duet.base.errors import InfraError, InputError
from duet.cli.keys import from_tree
from duet.cli.microscope.count import count_run, read_microscope_request
from duet.cli.microscope.results import PredictResult
from duet.cli.output import emit, note
from duet.cli.sinks import ConsoleSink
from duet.lenses.scope import model
from duet.lenses.scope.coherence import Stream, part_numbers, stated
from duet.lenses.scope.model import recorded_streams, whole_operations
from duet.lessons.load import load
from duet.session import Batch

CPUS = (1, 2, 4, 8, 16, 20, 32, 64)
SEEDS = (1, 2, 3, 4, 5)
OPS = 1000
"""Operations that all CPUs together do in each modelled run."""

Tree = dict[str, Any]


class AccessSink(ConsoleSink):
    """Stores the access log, which a run delivers in its table `points`."""

    def __init__(self) -> None:
        self._batches: list[Batch] = []

    def on_batch(self, arm: str, new: Batch) -> None:
        """Store the batch if it is part of the access log. Ignore batches of other tables."""
        if new.table == "points":
            self._batches.append(new)

    def column(self, name: str) -> list[int]:
        """Return one column of the complete access log."""
        return [int(n) for new in self._batches for n in new.columns[name]]


def predict_arms(lesson: str, workload: str, settings: list[str], as_json: bool) -> int:
    """Run the model on the counted accesses of the first and the last arm, and print curves."""
    arms = load(lesson).usual_arms
    if len(arms) < 2:
        raise InputError(
            f"lesson {lesson} has one arm, so there is nothing to compare.",
            remedy="Leave --predict out.",
        )
    pair = {arm: counted_streams(lesson, arm, workload, settings) for arm in (arms[0], arms[-1])}
    note("the model runs: about a minute")
    predicted = model.predict(pair, cpus=CPUS, seeds=SEEDS, ops=OPS)
    tree = asdict(from_tree(PredictResult, {"lesson": lesson, **predicted}))
    if as_json:
        emit(tree)
    else:
        print("\n".join(text(tree)))
    return 0


def counted_streams(lesson: str, arm: str, workload: str, settings: list[str]) -> list[Stream]:
    """Run an arm once, and return the counted accesses of each vCPU's complete operations.

    Raises:
        InputError: the lesson watches no object.
        InfraError: no complete operation was logged.
    """
    request, microscope = read_microscope_request((lesson, arm, workload, settings), "", "")
    if microscope.aim is None:
        raise InputError(
            f"workload {request.workload} of lesson {lesson} watches no object, but "
            "the model needs "
            "the accesses to an object.",
            remedy="Leave --predict out, or choose another --workload.",
        )
    sink = AccessSink()
    scope, _ = asyncio.run(count_run(request, microscope, sink))
    names = [
        microscope.functions[n] if 0 <= n < len(microscope.functions) else ""
        for n in sink.column("d")
    ]
    counted = stated()["counted"]
    refuse_unknown(names, counted["at"])
    streams = recorded_streams(
        cpu=sink.column("cpu"),
        at=sink.column("a"),
        size=sink.column("b"),
        kind=sink.column("c"),
        op=sink.column("e"),
        functions=names,
        counted=counted["at"],
        instructions=counted["instructions"],
        parts=part_numbers(),
    )
    whole = [cut for stream in streams if (cut := whole_operations(stream)).op]
    if not whole:
        raise InfraError(
            f"no complete operation of {arm} was logged, although {scope.cells.ops_ended} "
            "operations ended.",
            remedy="Run the command again with more operations, e.g. --set stats=1000.",
        )
    return whole


def refuse_unknown(names: Iterable[str], known: Container[str]) -> None:
    """Check that the model knows at which points of an operation the functions access memory.

    Raises:
        InputError: the model does not know a function that made accesses.
    """
    unknown = dict.fromkeys(name for name in names if name not in known)
    if unknown:
        raise InputError(
            "no rate is predicted, because the model does not know at which points of an "
            f"operation these functions access memory: {', '.join(unknown):.200}.",
            remedy="Leave --predict out; the counts themselves are exact.",
        )


def text(tree: Tree) -> list[str]:
    """Format the curves, the comparison, and how each number of the model affects the ratio."""
    found, mail = tree["comparison"], tree["mail"]
    before, after = found["before"], found["after"]
    lines = [
        f"{tree['lesson']}: modelled, from accesses that were counted and latencies that are "
        "stated",
        "",
        f"{'CPUs':>5} " + " ".join(f"{arm + ', ops/s':>27}" for arm in (before, after))
        + f" {'ratio':>7}   transfers an operation",
    ]  # fmt: skip
    for one, other in zip(tree["curves"][before], tree["curves"][after], strict=True):
        rates = [point["ops_per_s"] for point in (one, other)]
        cells = " ".join(
            f"{r['median']:>11,.0f} ({r['low'] / 1e6:.2f}-{r['high'] / 1e6:.2f} M)".rjust(27)
            for r in rates
        )
        moved = " ".join(f"{p['transfers_per_op']['median']:.2f}" for p in (one, other))
        ratio = rates[1]["median"] / rates[0]["median"]
        lines.append(f"{one['cpus']:>5} {cells} {ratio:>7.3f}   {moved}")
    owning, reading = found["owning"], found["reading"]
    lines += [
        "",
        f"{after} over {before} at {found['cpus']} CPUs: {owning['ratio']:.3f}",
        f"  if loads that lead to a cmpxchg only read: {reading['ratio']:.3f} "
        f"({reading['before_per_s']:,.0f} and {reading['after_per_s']:,.0f} ops/s)",
        f"  the mail: {mail['moved_per_s'] / mail['stock_per_s']:.3f} "
        f"({mail['stock_per_s']:,} and {mail['moved_per_s']:,} ops/s, {mail['cpus']} CPUs)",
        "",
        f"{'the ratio, if one number is':>28} {'halved':>13} {'doubled':>13}   where loads read",
        f"{'(points off the profile)':>28}",
        *(f"{x['what']:>28} {row_cells(x)} {row_cells(y)}"
          for x, y in zip(owning["sensitivity"], reading["sensitivity"], strict=True)),
        "",
        *profile_lines(tree["profile"]),
        "",
        stated()["explained"],
    ]  # fmt: skip
    return lines


def row_cells(row: Tree) -> str:
    """Format a row: the ratio if a number of the model is halved, and if the number is doubled.

    Each ratio is followed by the distance of the modelled profile from the published profile.
    """
    ways = ("halved", "doubled")
    off = ["" if row[f"{way}_off"] is None else f"({row[f'{way}_off']:.1f})" for way in ways]
    return " ".join(f"{row[way]:>6.3f} {off[i]:>6}" for i, way in enumerate(ways))


def profile_lines(profile: Tree) -> list[str]:
    """Format each function's share of the time: in the mail, and by both rules of the model."""
    least = stated()["profile"]["least_shown"]
    lines = [f"{'time by function, %':>28} {'mail':>8} {'own':>8} {'read':>8}"]
    for arm, parts in profile.items():
        for part in parts:
            mail = f"{part['mail']:.1f}" if part["mail"] is not None else f"< {least:.1f}"
            name = f"{arm}, {part['part']}"
            lines.append(f"{name:>28} {mail:>8} {part['owning']:>8.1f} {part['reading']:>8.1f}")
    return lines
