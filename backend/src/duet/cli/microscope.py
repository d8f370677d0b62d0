# SPDX-License-Identifier: GPL-2.0-or-later
"""`duet microscope`: every load and store of chosen kernel functions, by line, field, function."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

from duet.cli.console_sink import ConsoleSink
from duet.cli.microscope_table import told, write_table
from duet.cli.output import emit, split_names
from duet.cli.request import Request, read_request
from duet.errors import InfraError, InputError
from duet.guests import Clock
from duet.kernels import KernelSettings
from duet.lenses.scope.symbols import static_names
from duet.lessons.load import load
from duet.runs.sources import kernel_sources
from duet.session import Lanes, RunSession, RunSpec, ScopeResult, ScopeWish

Given = tuple[str, str, str, list[str]]
"""Lesson, arm, workload, settings."""


def microscope(given: Given, functions: str, operation: str, top: int, as_json: bool) -> int:
    """See `duet microscope --help`."""
    request, wish = read_wish(given, functions, operation)
    scope, lines = asyncio.run(look(request, wish))
    tree = told(request, wish, scope, top)
    if as_json:
        emit(tree)
    else:
        write_table(tree, lines)
    return 0


def read_wish(given: Given, functions: str, operation: str) -> tuple[Request, ScopeWish]:
    """Which run, and what is looked at in it.

    Raises:
        InputError: the lesson names no functions, and none were given.
    """
    lesson, arm, workload, settings = given
    whole = load(lesson).lesson
    own = whole.microscope
    names = split_names(functions)
    if own is None and not names:
        raise InputError(
            f"lesson {lesson} names no functions for the microscope.",
            remedy="Name some: --functions FUNCTION,FUNCTION.",
        )
    arms = [one.name for one in whole.arms]
    arm = arm or ("stock" if "stock" in arms else arms[0])
    chosen = workload or (own.workloads[0] if own else "")
    request = read_request(lesson, arm, chosen, str(Clock.WALL), settings)
    aim = own if own and request.workload in own.workloads else None
    if not names:
        assert own is not None
        return request, ScopeWish(own.functions, own.operation, aim, identify=True)
    # The one whose calls are operations is looked at in any case.
    op = operation or (own.operation if own and own.operation in names else "")
    return request, ScopeWish(tuple(dict.fromkeys((*names, *([op] if op else ())))), op, aim, True)


async def look(
    request: Request, wish: ScopeWish, sink: ConsoleSink | None = None
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
        microscope=wish,
    )
    async with Lanes() as lanes:
        session = RunSession(lanes, spec, sources, sink or ConsoleSink())
        result = (await session.execute()).lanes[arm]
    if result.error is not None:
        raise result.error
    if result.scope is None:
        raise InfraError(
            result.scope_fault or "the microscope told nothing.",
            remedy="Run it again; if it stays so, look at ./duet doctor.",
        )
    return _with_statics(result.scope, sources[arm].vmlinux), [line.text for line in result.lines]


def _with_statics(scope: ScopeResult, vmlinux: Path | None) -> ScopeResult:
    """The same with the names of variables, where the x-ray found none."""
    if vmlinux is None:
        return scope
    names = static_names(vmlinux, set(scope.cells.cells["address"].tolist()))
    return replace(scope, names={**names, **scope.names})
