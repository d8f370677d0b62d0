# SPDX-License-Identifier: GPL-2.0-or-later
"""Verbs that look into a kernel: microscope, x-ray and drgn."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from duet.cli.commands.options import Clock, Json, Lesson, Set, Workload

MICROSCOPE_KEYS = (
    "JSON keys: lesson, arm, workload, clock, params, evidence (counted), functions, operation, "
    "object, ops, ops_begun, ops_broken, broken_by: {ops_slept, ops_left (by a jump to another "
    "function), ops_again (entered again)}, no_operation (why nothing is per operation, or null), "
    "accesses, untold, all_lines, stack_lines, stack_accesses, outside (accesses that no operation "
    "did, or null), lines: [{line (address), field (what is written most there), fields: {name: "
    "counts}, vcpus, shared (several vCPUs, and one writes), accesses, reads, writes, rmws, "
    "reads_per_op, writes_per_op, rmw_per_op, outside, by_function: {name: counts}}]; counts: "
    "reads to outside; an atomic is one rmw. Lines that are shared come first, by writes. Stacks "
    "are counted, not listed. --predict: lesson, evidence "
    "(modelled), curves: {arm: [{cpus, ops_per_s: {median, low, high}, transfers_per_op, "
    "upgrades_per_op, bus_events_per_op}]}, comparison: {before, after, cpus, ratio, sensitivity: "
    "[{what, halved, doubled}], owning}, mail, left_out. --native: lesson, evidence (measured), "
    "what, threads, cpus, cores, rounds, run_ms, arms: [{arm, bytes, offsets, alone_ns, per_s, "
    "retries_per_op, stuck_per_op, events_per_op, c2c}], ratio, remarks."
)
XRAY_KEYS = (
    "JSON keys: lesson, arm, workload, clock, params, probe, samples, torn, failed, dropped, route "
    "(memory, qmp, unknown), sample_ms (reads of the sample shown), sample_ms_p50, sample_ms_p95, "
    "chosen (which sample is shown), rows, t_ms, error_ms, time_by (host, guest), and the probe's "
    "own facts; of shrinker-maps: memcgs (without the root), shrinkers, bits_set, root_bits, "
    "nr_max, words, dying. Each file of backend/src/duet/lenses/probes documents its own."
)
DRGN_KEYS = "JSON keys: lanes: [{lane, pid}], the running ones; no shell is opened."


def microscope(
    lesson: Lesson,
    functions: Annotated[
        str, typer.Option("--functions", help="With commas; default: the lesson's.")
    ] = "",
    operation: Annotated[
        str, typer.Option("--operation", help="The function whose calls are operations.")
    ] = "",
    arm: Annotated[
        str, typer.Option("--arm", help="The arm whose kernel runs; default: stock, or the first.")
    ] = "",
    workload: Workload = "",
    set: Set = None,
    top: Annotated[int, typer.Option(min=1, max=1000, help="Lines to tell of.")] = 20,
    predict: Annotated[
        bool, typer.Option("--predict", help="What the first and last arm do on 1 to 64 CPUs.")
    ] = False,
    native: Annotated[
        bool, typer.Option("--native", help="The arms' layouts on this host's CPUs; no guest.")
    ] = False,
    threads: Annotated[
        int, typer.Option(min=0, max=64, help="With --native: so many, on however few cores.")
    ] = 0,
    json: Json = False,
) -> int:
    """Count every load and store that kernel functions make, by cache line, field and function.

    The guest runs under a QEMU plugin that sees each access; nothing is sampled. --predict merges
    the counted accesses under a model of caches; --native measures a replica of them.
    """
    if native:
        from duet.cli.microscope_native import microscope_native

        return microscope_native(lesson, threads, json)
    if predict:
        from duet.cli.microscope_predict import microscope_predict

        return microscope_predict(lesson, workload, set or [], json)
    from duet.cli.microscope import microscope as body

    return body((lesson, arm, workload, set or []), functions, operation, top, json)


def xray(
    lesson: Lesson,
    probe: Annotated[str, typer.Argument(help="What to read, e.g. shrinker-maps.")],
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
