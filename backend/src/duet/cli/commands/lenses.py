# SPDX-License-Identifier: GPL-2.0-or-later
"""Verbs that look into a kernel: microscope, x-ray and drgn."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from duet.cli.commands.options import Clock, Json, Lesson, Set, Workload
from duet.cli.results.keys import keys_text, shape_of
from duet.cli.results.lenses import (
    DrgnResult,
    MicroscopeResult,
    NativeResult,
    PredictResult,
    XrayResult,
)

MICROSCOPE_KEYS = keys_text(
    MicroscopeResult,
    "An atomic is one rmw. Lines that are shared come first, by writes. Stacks are counted, not "
    f"listed. --predict: {shape_of(PredictResult)}. --native: {shape_of(NativeResult)}.",
)
XRAY_KEYS = keys_text(
    XrayResult,
    "Before these stand the probe's own facts. docs/PROBES.md says what generic probes report, "
    "each file of a lesson's probes/ what its own reports.",
)
DRGN_KEYS = keys_text(DrgnResult)


def microscope(
    lesson: Lesson,
    functions: Annotated[
        str, typer.Option("--functions", help="With commas; default: the lesson's.")
    ] = "",
    operation: Annotated[
        str,
        typer.Option(
            "--operation",
            help="The function whose calls are operations; FIRST..LAST: from the entry of one to "
            "the return of another.",
        ),
    ] = "",
    line: Annotated[
        str,
        typer.Option(
            "--line", help="Only the lines of this variable, or of a field: dentry.d_lockref."
        ),
    ] = "",
    arm: Annotated[
        str, typer.Option("--arm", help="The arm whose kernel runs; default: stock, or the first.")
    ] = "",
    workload: Workload = "",
    set: Set = None,
    top: Annotated[int, typer.Option(min=1, max=1000, help="Lines to show.")] = 20,
    predict: Annotated[
        bool, typer.Option("--predict", help="What the first and last arm do on 1 to 64 CPUs.")
    ] = False,
    native: Annotated[
        bool,
        typer.Option("--native", help="The arms' layouts on this host's CPUs; saved for the page."),
    ] = False,
    threads: Annotated[
        int, typer.Option(min=0, max=64, help="With --native: so many, on however few cores.")
    ] = 0,
    json: Json = False,
) -> int:
    """Count every load and store that kernel functions make, by cache line, field and function.

    The guest runs under a QEMU plugin that sees each access; nothing is sampled. --predict merges
    the counted accesses under a model of caches; --native measures a replica of them on four cores
    or more, and saves the result beside the lesson's recordings.
    """
    if native:
        from duet.cli.microscope_native import microscope_native

        return microscope_native(lesson, threads, json)
    if predict:
        from duet.cli.microscope_predict import microscope_predict

        return microscope_predict(lesson, workload, set or [], json)
    from duet.cli.microscope import microscope as body

    return body((lesson, arm, workload, set or []), functions, operation, line, top, json)


def xray(
    lesson: Lesson,
    probe: Annotated[str, typer.Argument(help="What to read; docs/PROBES.md lists it.")],
    arm: Annotated[str, typer.Option("--arm", help="The arm whose kernel is read.")],
    workload: Workload = "",
    clock: Clock = "",
    set: Set = None,
    hz: Annotated[float, typer.Option(min=0.1, max=30, help="Samples a second.")] = 30,
    of: Annotated[
        str, typer.Option("--of", help="Which of several: see the probe's own file.")
    ] = "",
    json: Json = False,
) -> int:
    """Boot an arm, run the workload, and read a structure of its kernel with drgn meanwhile.

    The guest is not stopped. Shown is one sample: the last of the largest (most memcgs and
    shrinkers, inodes, extents), since a workload takes down at its end what it made.
    """
    from duet.cli.xray import xray as body

    return body((lesson, arm, workload, clock, set or []), probe, hz, of, json)


def drgn(
    lane: Annotated[
        str | None,
        typer.Argument(help="ARM, LESSON/ARM or a pid; may be left out when one lane runs."),
    ] = None,
    script: Annotated[
        Path | None, typer.Option("--script", exists=True, help="Run it instead of a shell.")
    ] = None,
    json: Json = False,
) -> int:
    """Open drgn's own shell on a lane that runs (of `duet serve`, `run`, `xray`)."""
    from duet.cli.shell import shell as body

    return body(lane, script, json)
