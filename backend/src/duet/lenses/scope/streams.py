# SPDX-License-Identifier: GPL-2.0-or-later
"""Streams for the model: out of recorded accesses, and as many and as long ones as a run wants."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Final

from duet.errors import InputError
from duet.lenses.scope.coherence import READ, Stream

LINE_BYTES: Final = 64
MOST_CPUS: Final = 64
RMW: Final = 2


def recorded_streams(
    cpu: Sequence[int],
    at: Sequence[int],
    size: Sequence[int],
    kind: Sequence[int],
    op: Sequence[int],
    functions: Sequence[str],
    counted: Mapping[str, Sequence[int]],
    instructions: int,
    parts: Mapping[str, int],
) -> list[Stream]:
    """One stream per CPU, by rising number, of accesses in the order as executed.

    Args:
        at: bytes from the object's start, which begins a line. An access over a line's end is two.
        functions: the name of each access's function.
        counted: see work_of().
        instructions: see work_of().
        parts: function -> its part of the profile, from 1.
    """
    rows: dict[int, list[tuple[int, int, int, str]]] = {c: [] for c in sorted(set(cpu))}
    for i, c in enumerate(cpu):
        last = (at[i] + max(1, size[i]) - 1) // LINE_BYTES
        for line in range(at[i] // LINE_BYTES, last + 1):
            rows[c].append((line, kind[i], op[i], functions[i]))
    streams = []
    for row in rows.values():
        work: list[float] = []
        for number, run in groupby(row, key=lambda access: access[2]):
            own = [access[3] for access in run]
            weights = work_of(own, counted, instructions) if number else [0] * len(own)
            total = sum(weights) or 1
            work += [weight / total for weight in weights]
        lines, kinds, ops, names = zip(*row, strict=True)
        streams.append(Stream(lines, kinds, ops, work, [parts.get(name, 0) for name in names]))
    return streams


def work_of(
    functions: Sequence[str], counted: Mapping[str, Sequence[int]], instructions: int
) -> list[int]:
    """Private work before each access of one operation, in instructions.

    Args:
        counted: function -> where in the operation its nth access lies.
        instructions: of a whole operation; the first access's work reaches back over its end.
    """
    seen: dict[str, int] = {}
    places = []
    last = 0
    for name in functions:
        n = seen.get(name, 0)
        seen[name] = n + 1
        known = counted.get(name)
        if known:
            last = max(last, known[min(n, len(known) - 1)])
        places.append(last)
    before = [places[-1] - instructions, *places[:-1]]
    return [place - earlier for place, earlier in zip(places, before, strict=True)]


def picked(stream: Stream, at: Sequence[int]) -> Stream:
    """The accesses that are named, in that order."""
    return Stream(
        [stream.line[i] for i in at],
        [stream.kind[i] for i in at],
        [stream.op[i] for i in at],
        [stream.work[i] for i in at],
        [stream.part[i] for i in at],
    )


def whole_operations(stream: Stream) -> Stream:
    """Without the first and the last operation, which the recording may have cut."""
    inside = [i for i, op in enumerate(stream.op) if op]
    cut = {stream.op[inside[0]], stream.op[inside[-1]]} if inside else set()
    return picked(stream, [i for i in inside if stream.op[i] not in cut])


def repeated(stream: Stream, ops: int) -> Stream:
    """So many operations: the given ones again and again, or the first of them.

    Raises:
        InputError: the stream has none.
    """
    begins = [i for i, op in enumerate(stream.op) if op and (i == 0 or stream.op[i - 1] != op)]
    if not begins:
        raise InputError(
            "a stream of accesses without one whole operation cannot be repeated.",
            remedy="Record more accesses.",
        )
    parts = list(zip(begins, [*begins[1:], len(stream.op)], strict=True))

    def places() -> Iterator[tuple[int, int]]:
        for n in range(ops):
            for i in range(*parts[n % len(parts)]):
                yield i, n + 1

    pairs = list(places())
    whole = picked(stream, [i for i, _ in pairs])
    return replace(whole, op=[op for _, op in pairs])


def spread_over(streams: Sequence[Stream], cpus: int, ops: int) -> list[Stream]:
    """Streams for so many CPUs: the given ones in turn, each with so many operations.

    Raises:
        InputError: not 1 to 64 CPUs.
    """
    if not 1 <= cpus <= MOST_CPUS:
        raise InputError(
            f"the model knows 1 to {MOST_CPUS} CPUs, but {cpus} came.",
            remedy="Ask for a number in that range.",
        )
    long = [repeated(stream, ops) for stream in streams[:cpus]]
    return [long[c % len(long)] for c in range(cpus)]


def owning_loads(stream: Stream) -> Stream:
    """A load that leads to a read-modify-write of its line asks for ownership at once."""
    kind = list(stream.kind)
    for i in range(len(kind) - 1):
        same = stream.line[i] == stream.line[i + 1] and stream.op[i] == stream.op[i + 1]
        if same and kind[i] == READ and kind[i + 1] == RMW:
            kind[i] = RMW
    return replace(stream, kind=kind)


def asked_for(streams: Sequence[Stream], owning: bool) -> Sequence[Stream]:
    """What the CPUs ask for: with loads that own, or the streams as they were counted."""
    return [owning_loads(stream) for stream in streams] if owning else streams
