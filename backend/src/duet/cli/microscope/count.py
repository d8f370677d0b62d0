# SPDX-License-Identifier: GPL-2.0-or-later
"""Counts every load and store of chosen functions, by line, field and function."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from itertools import compress
from operator import not_
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from duet.base.errors import DuetError, InputError
from duet.cli.arguments import read_request
from duet.cli.keys import from_tree
from duet.cli.microscope.results import BrokenOperations, MicroscopeLine, MicroscopeResult
from duet.cli.output import emit, split_names
from duet.cli.sinks import ConsoleSink
from duet.kernels import KernelSettings
from duet.kernels.arms import find_image
from duet.lenses.scope.symbols import static_names, variable_ranges
from duet.lessons.load import load
from duet.lessons.plan import base_of
from duet.measure.values import no_counts
from duet.runs.sources import kernel_sources
from duet.session import LaneGuests, MicroscopeRequest, RunSession, RunSpec, ScopeResult
from duet.session.accesses import LINE, broken_by, no_operation, operation_words, operations_line
from duet.session.lane.microscope import STACK, STACK_BYTES, USER_END, VMALLOC, VMALLOC_END

# The microscope's counts as a table of cache lines, like that of `perf c2c report`. Pure except for
# printing.
#
# Cache lines of the watched object are named after their fields. The x-ray names the other lines.
# Lines that several vCPUs touched, and that at least one vCPU wrote, come first, because only these
# lines can move between caches.

CLASSES = ("reads", "writes", "rmws")
PER_OP = {"reads": "reads_per_op", "writes": "writes_per_op", "rmws": "rmw_per_op"}
DIGITS = 6
UNNAMED = "unnamed, vmalloc area (usually a stack)"

Tree = dict[str, object]


@dataclass(frozen=True, slots=True)
class LineFilter:
    """Selects the cache lines to show.

    Args:
        name: name of a variable, or 'TYPE.FIELD' for a field of the watched object.
        ranges: address ranges of the variable, as (first byte, end).
        field: the watched object's field; "" if a variable is selected.
    """

    name: str
    ranges: tuple[tuple[int, int], ...]
    field: str = ""

    def places(self, scope: ScopeResult) -> tuple[tuple[int, int], ...]:
        """Return the selected address ranges in this run.

        Raises:
            InputError: the watched object has no such field.
        """
        return (scope.field_range(self.field),) if self.field else self.ranges


def table_tree(
    spec: RunSpec,
    microscope: MicroscopeRequest,
    scope: ScopeResult,
    top: int,
    only: LineFilter | None = None,
) -> Tree:
    """Return MicroscopeResult as a tree, for `--json`.

    Raises:
        InputError: `only` names a field that the watched object does not have.
    """
    cells = scope.cells
    ops = cells.ops_touching if microscope.aim else cells.ops_ended
    has_operation = bool(microscope.operation)
    lines = [
        _line(address, own, scope, microscope.functions, ops if has_operation else None)
        for address, own in _by_line(cells.cells)
    ]
    # A stack is recognized by any named byte in it, because the x-ray does not name every byte.
    known = {a // STACK_BYTES for a, words in scope.names.items() if words.startswith(STACK)}
    is_stack = [int(str(line["line"]), 16) // STACK_BYTES in known for line in lines]
    stacks = list(compress(lines, is_stack))
    shown = sorted(compress(lines, map(not_, is_stack)), key=_rank)
    unnamed = [line for line in shown if line["field"] == UNNAMED]
    if only is not None:
        shown = [line for line in lines if _lies_on(line, only.places(scope))]
    found = MicroscopeResult(
        lesson=spec.folder.slug,
        arm=spec.arms[0],
        workload=spec.workload,
        clock=spec.clock,
        params=spec.params,
        evidence="counted",
        functions=list(microscope.functions),
        operation=microscope.operation or None,
        until=microscope.until or None,
        line_of=_line_of(only, scope) if only else None,
        object=microscope.aim.object if microscope.aim else None,
        ops=ops,
        ops_begun=cells.ops_begun,
        ops_broken=cells.ops_broken,
        broken_by=BrokenOperations(**broken_by(cells)),
        no_operation=_words(no_operation(microscope, cells)),
        accesses=cells.accesses,
        untold=cells.untold,
        all_lines=len(lines),
        stack_lines=len(stacks),
        outside=_total(cells.cells[cells.cells["inside"] == 0]) if has_operation else None,
        stack_accesses=_accesses(stacks),
        unnamed_lines=len(unnamed),
        unnamed_accesses=_accesses(unnamed),
        lines=[from_tree(MicroscopeLine, line) for line in shown[:top]],
    )
    return asdict(found)


def _accesses(lines: list[Tree]) -> int:
    return sum(int(str(line["accesses"])) for line in lines)


def _line_of(only: LineFilter, scope: ScopeResult) -> Tree:
    places = [{"address": f"{low:#x}", "bytes": end - low} for low, end in only.places(scope)]
    return {"name": only.name, "places": places}


def _lies_on(line: Tree, places: tuple[tuple[int, int], ...]) -> bool:
    at = int(str(line["line"]), 16)
    return any(low < at + LINE and at < end for low, end in places)


def _words(error: DuetError | None) -> str | None:
    """Format an error as its sentence and its remedy."""
    if error is None:
        return None
    return f"{error.sentence[0].upper()}{error.sentence[1:]} {error.remedy}"


def _by_line(cells: NDArray[np.void]) -> Iterable[tuple[int, NDArray[np.void]]]:
    order = np.argsort(cells["address"], kind="stable")
    ordered = cells[order]
    lines, starts = np.unique(ordered["address"] // LINE, return_index=True)
    for line, part in zip(lines.tolist(), np.split(ordered, starts[1:]), strict=True):
        yield line * LINE, part


def _line(
    address: int,
    cells: NDArray[np.void],
    scope: ScopeResult,
    functions: tuple[str, ...],
    ops: int | None,
) -> Tree:
    cpus = int(np.bitwise_or.reduce(cells["cpus"]))
    fields = _grouped(cells, lambda cell: scope.name_of(int(cell["address"])), ops)
    return {
        "line": f"{address:#x}",
        "field": _busiest(fields) or _nearest(cells, scope),
        "fields": fields,
        "cpus": cpus.bit_count(),
        "shared": cpus.bit_count() > 1 and bool((cells["writes"] + cells["rmws"]).any()),
        "accesses": int(sum(cells[name].sum() for name in CLASSES)),
        **_counts(cells, ops),
        "by_function": _grouped(cells, lambda cell: functions[int(cell["function"])], ops),
    }


def _nearest(cells: NDArray[np.void], scope: ScopeResult) -> str:
    """Return the name of the cache line's first byte that has a name.

    If no byte has a name, return a description of the address.
    """
    found = [name for a in cells["address"].tolist() if (name := scope.name_of(a))]
    if found:
        return found[0]
    first = int(cells["address"][0])
    if first < USER_END:
        return "user memory"
    return UNNAMED if VMALLOC <= first < VMALLOC_END else ""


def _busiest(fields: Mapping[str, Tree]) -> str:
    """Return the field with the most writes. If no field is written, return the most-read field."""

    def weight(name: str) -> tuple[float, ...]:
        tree = fields[name]
        return tuple(float(str(tree[k])) for k in ("rmws", "writes", "reads"))

    named = [name for name in fields if name]
    return max(named, key=weight) if named else ""


def _grouped(cells: NDArray[np.void], key: object, ops: int | None) -> dict[str, Tree]:
    assert callable(key)
    groups: dict[str, list[int]] = {}
    for place, cell in enumerate(cells):
        groups.setdefault(key(cell), []).append(place)
    return {name: _counts(cells[places], ops) for name, places in groups.items()}


def _counts(cells: NDArray[np.void], ops: int | None) -> Tree:
    """Count accesses by class.

    The result has three parts: the counts of all accesses; the counts of the accesses inside
    operations, divided by the number of operations; the total of the accesses outside operations.

    Args:
        ops: number of complete operations; None if no function was named as the operation.
    """
    inside = cells["inside"] != 0
    tree: Tree = {name: int(cells[name].sum()) for name in CLASSES}
    for name, per in PER_OP.items():
        tree[per] = round(float(cells[inside][name].sum()) / ops, DIGITS) if ops else None
    tree["outside"] = None if ops is None else _total(cells[~inside])
    return tree


def _total(cells: NDArray[np.void]) -> int:
    return int(sum(cells[name].sum() for name in CLASSES))


def _rank(line: Tree) -> tuple[float, ...]:
    """Return a sort key for cache lines: shared lines first, by writes, and unnamed lines last.

    An unnamed line may be part of a stack. After its task has migrated, a stack looks shared, but
    is not.
    """
    writes = int(str(line["writes"])) + int(str(line["rmws"]))
    late = 2.0 if line["field"] == UNNAMED else 0.0 if line["shared"] else 1.0
    return (late, -writes, -int(str(line["accesses"])))


def write_table(tree: Tree, lines: list[str]) -> None:
    """Print a row for each cache line, and below it a row for each function."""
    ends = operation_words(str(tree["operation"] or ""), str(tree["until"] or ""))
    per = f" per {ends}" if ends and tree["ops"] else ""
    print(f"{tree['lesson']}, {tree['arm']}: loads and stores, counted{per}")
    if tree["no_operation"]:
        print(tree["no_operation"])
    elif tree["operation"]:
        print(operations_line(tree))
    print(
        f"{tree['accesses']:,} accesses to {tree['all_lines']:,} lines, "
        f"{tree['stack_lines']} of them named stacks, with {tree['stack_accesses']:,}, and "
        f"{tree['unnamed_lines']} without a name in the vmalloc area (stacks, as a rule), with "
        f"{tree['unnamed_accesses']:,}"
    )
    if found := tree["line_of"]:
        print(line_words(found, len(_list(tree["lines"]))))
        if not tree["lines"]:
            return
    outside = f" {'outside':>9}" if tree["outside"] is not None else ""
    classes = f"{'reads':>9} {'writes':>9} {'rmw':>9}{outside}"
    print(f"\n{'line':>18} vCPUs  {classes}  what lies there")
    for line in _list(tree["lines"]):
        remark = "" if line["shared"] else "  (not shared)"
        head = f"{line['line']:>18} {line['cpus']:>5}"
        print(f"{head}  {_row(line)}  {line['field'] or '?'}{remark}")
        for name, own in line["by_function"].items():
            print(f"{'':>24}  {_row(own)}    by {name}")
    if lines:
        print(f"\n{lines[-1]}")


def line_words(found: object, lines: int) -> str:
    """Say which lines `--line` shows, or that nothing touched them."""
    assert isinstance(found, dict)
    places = " and ".join(f"{p['bytes']} bytes at {p['address']}" for p in found["places"])
    if not lines:
        return f"None of these functions touched a line of {found['name']} ({places})."
    which = "the line" if lines == 1 else f"the {lines} lines"
    return f"Shown: {which} of {found['name']} ({places})."


def _row(tree: Mapping[str, object]) -> str:
    keys = PER_OP.values() if tree["reads_per_op"] is not None else CLASSES
    row = " ".join(f"{float(str(tree[key])):>9.6g}" for key in keys)
    return row if tree["outside"] is None else f"{row} {tree['outside']:>9}"


def _list(value: object) -> list[dict[str, dict[str, Tree]]]:
    assert isinstance(value, list)
    return value


RunArgs = tuple[str, str, str, list[str]]
"""Lesson, arm, workload, settings."""


FROM_TO = ".."
"""Separates two functions. An operation begins at the first one's entry, and ends at the second
one's return."""


def count_accesses(
    given: RunArgs, functions: str, operation: str, line: str, top: int, as_json: bool
) -> int:
    """Run a workload under the QEMU plugin that sees each access, and print the counts."""
    request, microscope = read_microscope_request(given, functions, operation)
    only = asyncio.run(read_line(request, microscope, line)) if line else None
    scope, lines = asyncio.run(count_run(request, microscope))
    tree = table_tree(request, microscope, scope, top, only)
    if as_json:
        emit(tree)
    else:
        write_table(tree, lines)
    return 0


def read_microscope_request(
    given: RunArgs, functions: str, operation: str
) -> tuple[RunSpec, MicroscopeRequest]:
    """Check the options, and return the run and what to watch in it.

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
            remedy="Add --functions FUNCTION,FUNCTION.",
        )
    arms = [one.name for one in whole.arms]
    arm = arm or ("stock" if "stock" in arms else arms[0])
    chosen = workload or (own.workloads[0] if own else "")
    spec = read_request(lesson, arm, chosen, "wall", settings)
    aim = own if own and own.probe and spec.workload in own.workloads else None
    if operation.startswith(FROM_TO) or operation.endswith(FROM_TO):
        raise InputError(
            f"--operation needs a function before and after '..', but got '{operation:.60}'.",
            remedy="Give --operation FUNCTION, or --operation FIRST..LAST.",
        )
    if not names:
        assert own is not None
        names = own.functions_on(base_of(whole, arm))
        if not operation:
            return spec, MicroscopeRequest(names, own.operation, aim, True, own.until)
    # Functions that begin or end operations are always watched.
    first, _, last = operation.partition(FROM_TO)
    op = first or (own.operation if own and own.operation in names else "")
    ends = [end for end in (op, last) if end]
    return spec, MicroscopeRequest(tuple(dict.fromkeys((*names, *ends))), op, aim, True, last)


async def read_line(spec: RunSpec, microscope: MicroscopeRequest, name: str) -> LineFilter:
    """Return the cache lines to show: those of a variable, or of a field of the watched object.

    Raises:
        InputError: the arm's kernel has no such variable.
        InfraError: the kernel is not built.
    """
    if microscope.aim is not None and name.startswith(f"{microscope.aim.object.split()[-1]}."):
        return LineFilter(name, (), name.partition(".")[2])
    (arm,) = spec.arms
    image = await asyncio.to_thread(find_image, spec.folder, arm, KernelSettings.default())
    return LineFilter(name, variable_ranges(image.vmlinux, name))


async def count_run(
    spec: RunSpec, microscope: MicroscopeRequest, sink: ConsoleSink | None = None
) -> tuple[ScopeResult, list[str]]:
    """Run the workload once and count accesses. Return the counts and the workload's output.

    Args:
        sink: receives the run, including samples.

    Raises:
        DuetError: the lane failed, or the microscope saw nothing.
    """
    (arm,) = spec.arms
    sources = await kernel_sources(spec.folder, spec.arms, KernelSettings.default())
    counted = replace(spec, run_id="microscope", probes=frozenset(), microscope=microscope)
    async with LaneGuests() as lanes:
        session = RunSession(lanes, counted, sources, sink or ConsoleSink())
        result = (await session.execute()).lanes[arm]
    if result.error is not None:
        raise result.error
    if result.scope is None:
        raise no_counts(result)
    return _with_statics(result.scope, sources[arm].vmlinux), [line.text for line in result.lines]


def _with_statics(scope: ScopeResult, vmlinux: Path | None) -> ScopeResult:
    """Add the names of variables where the x-ray found no name."""
    if vmlinux is None:
        return scope
    names = static_names(vmlinux, set(scope.cells.cells["address"].tolist()))
    return replace(scope, names={**names, **scope.names})
