# SPDX-License-Identifier: GPL-2.0-or-later
"""`duet microscope`: every load and store of chosen kernel functions, by line, field, function."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

from duet.base.errors import InputError
from duet.cli.console_sink import ConsoleSink
from duet.cli.microscope_table import LineFilter, table_tree, write_table
from duet.cli.output import emit, split_names
from duet.cli.request import Request, read_request
from duet.guests import Clock
from duet.kernels import KernelSettings
from duet.kernels.arms import find_image
from duet.lenses.scope.symbols import static_names, variable_ranges
from duet.lessons.load import load
from duet.measure.values import no_counts
from duet.runs.sources import kernel_sources
from duet.session import Lanes, MicroscopeRequest, RunSession, RunSpec, ScopeResult

Given = tuple[str, str, str, list[str]]
"""Lesson, arm, workload, settings."""


FROM_TO = ".."
"""Between the function whose entry begins an operation and the one whose return ends it."""


def microscope(
    given: Given, functions: str, operation: str, line: str, top: int, as_json: bool
) -> int:
    """See `duet microscope --help`."""
    request, microscope = read_microscope_request(given, functions, operation)
    only = asyncio.run(read_line(request, microscope, line)) if line else None
    scope, lines = asyncio.run(look(request, microscope))
    tree = table_tree(request, microscope, scope, top, only)
    if as_json:
        emit(tree)
    else:
        write_table(tree, lines)
    return 0


def read_microscope_request(
    given: Given, functions: str, operation: str
) -> tuple[Request, MicroscopeRequest]:
    """Which run, and what is looked at in it.

    Raises:
        InputError: the lesson names no functions, and none were given.
    """
    lesson, arm, workload, settings = given
    whole = load(lesson).lesson
    own = whole.microscope
    names = tuple(split_names(functions))
    if own is None and not names:
        raise InputError(
            f"lesson {lesson} names no functions for the microscope.",
            remedy="Name some: --functions FUNCTION,FUNCTION.",
        )
    arms = [one.name for one in whole.arms]
    arm = arm or ("stock" if "stock" in arms else arms[0])
    chosen = workload or (own.workloads[0] if own else "")
    request = read_request(lesson, arm, chosen, str(Clock.WALL), settings)
    aim = own if own and own.probe and request.workload in own.workloads else None
    if operation.startswith(FROM_TO) or operation.endswith(FROM_TO):
        raise InputError(
            f"an operation goes from one function to another, but '{operation:.60}' names one.",
            remedy="Give --operation FUNCTION, or --operation FIRST..LAST.",
        )
    if not names:
        assert own is not None
        if not operation:
            return request, MicroscopeRequest(own.functions, own.operation, aim, True, own.until)
        names = own.functions
    # Those that begin and end operations are looked at in any case.
    first, _, last = operation.partition(FROM_TO)
    op = first or (own.operation if own and own.operation in names else "")
    ends = [end for end in (op, last) if end]
    return request, MicroscopeRequest(tuple(dict.fromkeys((*names, *ends))), op, aim, True, last)


async def read_line(request: Request, microscope: MicroscopeRequest, name: str) -> LineFilter:
    """The lines to be shown: those of a variable, or of a field of the watched object.

    Raises:
        InputError: the arm's kernel has no such variable.
        InfraError: it is not built.
    """
    if microscope.aim is not None and name.startswith(f"{microscope.aim.object.split()[-1]}."):
        return LineFilter(name, (), name.partition(".")[2])
    (arm,) = request.arms
    image = await asyncio.to_thread(find_image, request.folder, arm, KernelSettings.default())
    return LineFilter(name, variable_ranges(image.vmlinux, name))


async def look(
    request: Request, microscope: MicroscopeRequest, sink: ConsoleSink | None = None
) -> tuple[ScopeResult, list[str]]:
    """Run the workload once and count; its lines come with the counts.

    Args:
        sink: receives the run, its samples included.

    Raises:
        DuetError: the lane failed, or the microscope saw nothing.
    """
    (arm,) = request.arms
    sources = await kernel_sources(request.folder, request.arms, KernelSettings.default())
    spec = RunSpec(
        run_id="microscope",
        folder=request.folder,
        arms=request.arms,
        workload=request.workload,
        params=request.params,
        clock=request.clock,
        probes=frozenset(),
        microscope=microscope,
    )
    async with Lanes() as lanes:
        session = RunSession(lanes, spec, sources, sink or ConsoleSink())
        result = (await session.execute()).lanes[arm]
    if result.error is not None:
        raise result.error
    if result.scope is None:
        raise no_counts(result)
    return _with_statics(result.scope, sources[arm].vmlinux), [line.text for line in result.lines]


def _with_statics(scope: ScopeResult, vmlinux: Path | None) -> ScopeResult:
    """The same with the names of variables, where the x-ray found none."""
    if vmlinux is None:
        return scope
    names = static_names(vmlinux, set(scope.cells.cells["address"].tolist()))
    return replace(scope, names={**names, **scope.names})
