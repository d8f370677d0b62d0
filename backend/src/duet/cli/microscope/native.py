# SPDX-License-Identifier: GPL-2.0-or-later
"""`duet microscope --native`: measures the arms' data layouts in turn on the host's own CPUs."""

from __future__ import annotations

import json
import statistics
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
from duet.lenses.scope import native as native_host
from duet.lenses.scope import native as native_perf
from duet.lenses.scope.native import Layout, Operation, Run
from duet.lessons.load import LessonFolder, load
from duet.measure.compare import ratio_ci
from duet.server.recorded_items import NATIVE

ROUNDS = 7
RUN_MS = 700
POINT_MS = 300
"""Duration of a run for one point of a curve."""
VIRTUAL = "this host is a virtual machine, whose CPUs may be threads of one core"
FEW = "this host has fewer than the 4 required cores, so this is a trial, not a result"

Tree = dict[str, object]


def measure_replica(lesson: str, threads: int, as_json: bool) -> int:
    """Measure a replica of each arm's data layout, and save the result for the page."""
    folder = load(lesson)
    operation = native.read_operation(folder)
    cores = native.one_cpu_a_core(native.allowed_cpus())
    cpus = native.choose_cpus(cores, threads, native.usual_threads())
    layouts = read_layouts(folder, operation)
    tree = measured(lesson, operation, layouts, cores, cpus)
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


def measured(
    lesson: str, operation: Operation, layouts: list[Layout], cores: list[int], cpus: list[int]
) -> Tree:
    """Measure all layouts in rounds and then under perf, and return NativeResult as a tree.

    Every second round has the layouts in reverse order.
    """
    alone = {x.arm: native.run_once(operation, x, cpus[:1], RUN_MS)[0] for x in layouts}
    runs: dict[str, list[Run]] = {layout.arm: [] for layout in layouts}
    for number in range(ROUNDS):
        note(f"round {number + 1} of {ROUNDS}, {len(cpus)} threads")
        for layout in layouts if number % 2 == 0 else layouts[::-1]:
            runs[layout.arm].append(native.run_once(operation, layout, cpus, RUN_MS)[0])
    curves: dict[str, list[native_host.Point]] = {}
    for layout in layouts:
        note(f"{layout.arm}, by number of threads")
        curves[layout.arm] = native_host.layout_curve(operation, layout, cpus, POINT_MS)
    host, no_host = native_host.host_curve(operation, layouts[0], cpus, POINT_MS)
    first, last = layouts[0].arm, layouts[-1].arm
    rates = {arm: [run.per_s for run in some] for arm, some in runs.items()}
    low, high = ratio_ci(rates[last], rates[first])
    remarks = [FEW] if len(cores) < native.LEAST_CORES else []
    if "hypervisor" in Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace"):
        remarks.append(VIRTUAL)
    arms = []
    for layout in layouts:
        events, no_events = native_perf.count_events(operation, layout, cpus, RUN_MS)
        sampled, no_c2c = ({}, "") if no_events else native_perf.sample_transfers(
            operation, layout, cpus, RUN_MS
        )  # fmt: skip
        mine = runs[layout.arm], curves[layout.arm]
        arms.append(_arm(layout, alone[layout.arm], mine, events, sampled))
    remarks += [remark for remark in (no_events, no_c2c, no_host) if remark]
    found = NativeResult(
        lesson=lesson,
        format=1,
        evidence="measured",
        made=NativeMade(**native_host.provenance()),
        what="a replica of the accesses, on this host's own CPUs; no kernel runs",
        threads=len(cpus),
        cpus=cpus,
        cores=len(cores),
        rounds=ROUNDS,
        run_ms=RUN_MS,
        arms=arms,
        ratio=NativeRatio(
            of=last,
            to=first,
            median=statistics.median(rates[last]) / statistics.median(rates[first]),
            low=low,
            high=high,
        ),
        host=NativeHost(operation.host_what, _points(host)) if host else None,
        remarks=remarks,
    )
    return asdict(found)


def _points(some: list[native_host.Point]) -> list[NativePoint]:
    return [NativePoint(one.threads, one.median, one.low, one.high) for one in some]


def _arm(
    layout: Layout,
    alone: Run,
    mine: tuple[list[Run], list[native_host.Point]],
    events: dict[str, float],
    sampled: dict[str, int],
) -> NativeArm:
    runs, points = mine
    rates = [run.per_s for run in runs]
    ops = sum(run.ops for run in runs)
    return NativeArm(
        arm=layout.arm,
        bytes=layout.size,
        offsets=dict(layout.offsets),
        alone_ns=alone.ns / alone.ops,
        per_s=Spread(statistics.median(rates), min(rates), max(rates)),
        curve=_points(points),
        retries_per_op=sum(run.retries for run in runs) / ops,
        stuck_per_op=sum(run.stuck for run in runs) / ops,
        events_per_op=events or None,
        c2c=sampled or None,
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
