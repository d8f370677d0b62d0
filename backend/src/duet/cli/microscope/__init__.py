# SPDX-License-Identifier: GPL-2.0-or-later
"""`duet microscope`: counts loads and stores of chosen kernel functions by line, field,
function.
"""

from __future__ import annotations

from typing import Annotated

import typer

from duet.cli.keys import keys_text, shape_of
from duet.cli.microscope.results import MicroscopeResult, NativeResult, PredictResult
from duet.cli.options import Json, Set, Slug, Workload

KEYS = keys_text(
    MicroscopeResult,
    "An atomic is one rmw. Shared lines come first, by writes. Stacks are counted, not "
    f"listed. --predict: {shape_of(PredictResult)}. --native: {shape_of(NativeResult)}.",
)


def microscope(
    lesson: Slug,
    functions: Annotated[
        str,
        typer.Option("--functions", help="Functions, separated by commas; default: the lesson's."),
    ] = "",
    operation: Annotated[
        str,
        typer.Option(
            "--operation",
            help="The function whose calls are operations; FIRST..LAST: from the entry of FIRST to "
            "the return of LAST.",
        ),
    ] = "",
    line: Annotated[
        str,
        typer.Option(
            "--line", help="Show only the lines of a variable, or of a field: dentry.d_lockref."
        ),
    ] = "",
    arm: Annotated[
        str, typer.Option("--arm", help="The arm whose kernel runs; default: stock, or the first.")
    ] = "",
    workload: Workload = "",
    set: Set = None,
    top: Annotated[int, typer.Option(min=1, max=1000, help="Number of lines to show.")] = 20,
    predict: Annotated[
        bool, typer.Option("--predict", help="Model the first and last arm on 1 to 64 CPUs.")
    ] = False,
    native: Annotated[
        bool,
        typer.Option(
            "--native", help="Measure the arms' layouts on this host; saved for the page."
        ),
    ] = False,
    threads: Annotated[
        int, typer.Option(min=0, max=64, help="With --native: threads, even on too few cores.")
    ] = 0,
    as_json: Json = False,
) -> int:
    """Count each load and store of kernel functions, by cache line.

    The guest runs under a QEMU plugin that sees each access; nothing is sampled. --predict runs a
    cache model on the counted accesses. --native measures a replica of the accesses on at
    least four cores, and saves the result with the lesson's recordings.
    """
    if native:
        from duet.cli.microscope.native import measure_here

        return measure_here(lesson, threads, as_json)
    if predict:
        from duet.cli.microscope.predict import predict_arms

        return predict_arms(lesson, workload, set or [], as_json)
    from duet.cli.microscope.count import count_accesses

    return count_accesses(
        (lesson, arm, workload, set or []), functions, operation, line, top, as_json
    )
