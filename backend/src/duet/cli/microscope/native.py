# SPDX-License-Identifier: GPL-2.0-or-later
"""`duet microscope --native`: measures the arms' data layouts in turn on the host's own CPUs."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from duet.base import files as durable
from duet.base.errors import InfraError
from duet.cli.microscope.results import (
    NativeArm,
    NativeHost,
    NativeMade,
    NativePoint,
    NativeRatio,
    NativeResult,
    Spread,
)
from duet.cli.output import emit, note
from duet.kernels import KernelSettings
from duet.kernels.arms import find_image
from duet.lenses.scope import native
from duet.lenses.scope.native import Layout, Operation, Point
from duet.lessons.load import LessonFolder, load
from duet.measure.compare import ratio_ci
from duet.measure.replica import ReplicaArm, ReplicaRuns, measure_replica, median_of
from duet.server.recorded_items import NATIVE

Tree = dict[str, object]


def measure_here(lesson: str, threads: int, as_json: bool) -> int:
    """Measure the replica of each layout, and save the result for the page."""
    folder = load(lesson)
    operation = native.read_operation(folder)
    cores = native.one_cpu_a_core(native.allowed_cpus())
    cpus = native.choose_cpus(cores, threads, native.usual_threads())
    layouts = read_layouts(folder, operation)
    tree = native_result(measure_replica(lesson, operation, layouts, cores, cpus, note))
    if threads:
        note("a trial, since --threads was given: nothing is saved for the page")
    else:
        note(f"saved for the page: {save(folder, tree)}")
    if as_json:
        emit(tree)
    else:
        print("\n".join(text(tree)))
    return 0


def read_layouts(folder: LessonFolder, operation: Operation) -> list[Layout]:
    """Read the data layouts of all arms.

    Raises:
        InfraError: a kernel is not built, or cannot be read.
    """
    settings = KernelSettings.default()
    images = {arm: find_image(folder, arm, settings) for arm in folder.usual_arms}
    return [native.layout_of(arm, image.vmlinux, operation) for arm, image in images.items()]


def save(folder: LessonFolder, tree: Tree) -> Path:
    """Store the result with the lesson's recordings, where the page finds it.

    Raises:
        InfraError: the folder cannot be written to.
    """
    path = folder.folder / NATIVE
    try:
        path.parent.mkdir(exist_ok=True)
        durable.write(path, (json.dumps(tree, indent=1, ensure_ascii=False) + "\n").encode())
    except OSError as error:
        raise InfraError(
            f"the result cannot be saved in {folder.slug}/{NATIVE}: {error.strerror}.",
            remedy="Make the folder writable, or take the result from --json.",
        ) from error
    return path


def native_result(runs: ReplicaRuns) -> Tree:
    """Compare the last layout with the first, and return NativeResult as a tree."""
    first, last = runs.arms[0], runs.arms[-1]
    low, high = ratio_ci(last.per_s, first.per_s)
    found = NativeResult(
        lesson=runs.lesson,
        format=1,
        evidence="measured",
        made=NativeMade(**runs.made),
        what="a replica of the accesses, on this host's own CPUs; no kernel runs",
        threads=runs.threads,
        cpus=list(runs.cpus),
        cores=runs.cores,
        rounds=runs.rounds,
        run_ms=runs.run_ms,
        arms=[_arm(arm) for arm in runs.arms],
        ratio=NativeRatio(
            of=last.layout.arm,
            to=first.layout.arm,
            median=median_of(last) / median_of(first),
            low=low,
            high=high,
        ),
        host=NativeHost(runs.host_what, _points(runs.host)) if runs.host else None,
        remarks=list(runs.remarks),
    )
    return asdict(found)


def _points(some: Sequence[Point]) -> list[NativePoint]:
    return [NativePoint(one.threads, one.median, one.low, one.high) for one in some]


def _arm(arm: ReplicaArm) -> NativeArm:
    return NativeArm(
        arm=arm.layout.arm,
        bytes=arm.layout.size,
        offsets=dict(arm.layout.offsets),
        alone_ns=arm.alone_ns,
        per_s=Spread(median_of(arm), min(arm.per_s), max(arm.per_s)),
        curve=_points(arm.curve),
        retries_per_op=arm.retries_per_op,
        stuck_per_op=arm.stuck_per_op,
        events_per_op=arm.events_per_op or None,
        c2c=arm.c2c or None,
    )


def text(tree: Tree) -> list[str]:
    """Format the result for people."""
    arms, ratio = tree["arms"], tree["ratio"]
    assert isinstance(arms, list) and isinstance(ratio, dict)
    lines = [
        f"{tree['lesson']}: measured, {tree['threads']} threads on {tree['cores']} cores, "
        f"{tree['rounds']} runs of {tree['run_ms']} ms each, by turns",
        f"{tree['what']}",
        "",
        f"{'layout':>10} {'ops/s':>14} {'lowest':>14} {'highest':>14} {'alone, ns':>10} retries",
    ]
    for arm in arms:
        rate = arm["per_s"]
        cells = " ".join(f"{rate[name]:>14,.0f}" for name in ("median", "low", "high"))
        lines.append(
            f"{arm['arm']:>10} {cells} {arm['alone_ns']:>10.0f} {arm['retries_per_op']:.3f}"
        )
        parts = [f"{name} {n:,.2f}" for name, n in (arm["events_per_op"] or {}).items()]
        parts += [f"{name} {n:,} sampled" for name, n in (arm["c2c"] or {}).items()]
        lines += [f"{'':>10} an operation: " + ", ".join(parts)] if parts else []
    lines.append(
        f"\n{ratio['of']} over {ratio['to']}: {ratio['median']:.3f} "
        f"(95 % {ratio['low']:.3f} to {ratio['high']:.3f})"
    )
    lines += ["", *by_threads(tree)]
    remarks = tree["remarks"]
    assert isinstance(remarks, list)
    return lines + [f"Mind: {remark.rstrip('.')}." for remark in remarks]


def by_threads(tree: Tree) -> list[str]:
    """Format a row for each number of threads, with all layouts and the host's own kernel."""
    arms, host, made = tree["arms"], tree["host"], tree["made"]
    assert isinstance(arms, list) and isinstance(made, dict)
    columns = [(arm["arm"], arm["curve"]) for arm in arms]
    if isinstance(host, dict):
        columns.append((f"Linux {made['kernel']}", host["curve"]))
    lines = ["ops/s of all threads", f"{'threads':>10} " + " ".join(f"{n:>18}" for n, _ in columns)]
    for row in zip(*(points for _, points in columns), strict=True):
        cells = " ".join(f"{point['median']:>18,.0f}" for point in row)
        lines.append(f"{row[0]['threads']:>10} {cells}")
    if isinstance(host, dict):
        lines.append(f"Last column: {host['what']}. It has one layout, and compares none.")
    return [*lines, f"on {made['cpu']}, {made['at']}"]
