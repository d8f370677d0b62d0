# SPDX-License-Identifier: GPL-2.0-or-later
"""Compile what the loop reads of each record, from a guest's formats and a lesson's program. Pure.

The words of `format_words` continue those of `program_words`; loop/program.c reads them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum

from duet.base.errors import KernelError
from duet.decode.decoder import EventType, Field, FieldKind
from duet.session.program import MAX_ARGS, PRINT_EVENT, SWITCH_EVENT, WAKING_EVENT, Program

NAMING = {
    SWITCH_EVENT: (("prev_pid", "prev_comm"), ("next_pid", "next_comm")),
    WAKING_EVENT: (("pid", "comm"),),
}
"""Event -> its fields with a thread's id and the thread's name."""


class ReadKind(IntEnum):
    """How the loop reads a field; equal to `enum read_kind` in loop/reduce.h."""

    NOTHING = 0
    INT = 1
    STRING = 2


@dataclass(frozen=True, slots=True)
class Pick:
    """Records of an event type that are kept for a metric.

    Args:
        value: field that is kept; None for the record's sequence number.
        where: (field, value) pairs that must match.
    """

    event: str
    value: str | None
    where: tuple[tuple[str, int], ...] = ()


def format_words(
    program: Program, events: Mapping[str, EventType], picks: Sequence[Pick]
) -> list[int]:
    """Encode the guest's event types for reduce_new().

    Args:
        events: the enabled event types (Decoder.by_name).
        picks: in the order of their numbers in `Loop.picked`.

    Raises:
        KernelError: an event lacks a field that the lesson needs.
    """
    words = [*_text(program.start_marker), *_text(_glob(program.comm)), len(picks), len(events)]
    for event in events.values():
        words += [event.id, program.codes.get(event.name, -1), event.pid_offset, event.need]
        text = next((f.offset for f in event.fields if f.name == "buf"), -1)
        words.append(text if event.name == PRINT_EVENT else -1)
        code = program.codes.get(event.name)
        args = program.args[code] if code is not None and event.name != PRINT_EVENT else ()
        for place in range(MAX_ARGS):
            words += _read(event, args[place]) if place < len(args) else [ReadKind.NOTHING, 0, 0, 0]
        words += _naming(event) if program.running >= 0 else [0]
        words += _picks(program, event, picks)
    return words


def _text(text: str) -> list[int]:
    """Encode a text: its number of bytes, then each byte as a signed char."""
    letters = text.encode()
    return [len(letters), *(letter if letter < 128 else letter - 256 for letter in letters)]


def _glob(pattern: str) -> str:
    """Return a pattern for fnmatch(3) that matches as Python's fnmatchcase does."""
    return pattern.replace("\\", "\\\\").replace("[^", "[\\^")


def _read(event: EventType, name: str) -> list[int]:
    field = next((one for one in event.fields if one.name == name), None)
    if field is None:
        raise KernelError(
            f"{event.name} has no field '{name}', which the lesson needs.",
            remedy=f"Choose from: {', '.join(one.name for one in event.fields)}.",
        )
    if field.kind not in (FieldKind.INT, FieldKind.STRING):
        raise KernelError(
            f"the field '{name}' of {event.name}, which the lesson needs, is a text.",
            remedy="Use a field that is a number.",
        )
    kind = ReadKind.STRING if field.kind is FieldKind.STRING else ReadKind.INT
    return [kind, field.offset, field.size, int(field.signed)]


def _naming(event: EventType) -> list[int]:
    fields: dict[str, Field] = {field.name: field for field in event.fields}
    pairs = NAMING.get(event.name, ())
    known = [(fields[tid], fields[name]) for tid, name in pairs if {tid, name} <= fields.keys()]
    good = [
        (tid, name)
        for tid, name in known
        if tid.size == 4 and tid.kind is FieldKind.INT and name.kind is FieldKind.CHARS
    ]
    return [len(good), *(n for tid, name in good for n in (tid.offset, name.offset, name.size))]


def _picks(program: Program, event: EventType, picks: Sequence[Pick]) -> list[int]:
    found: list[list[int]] = []
    for rule in program.points:
        if rule.event == event.name:
            cells = [word for name in rule.fields for word in _read(event, name)]
            found.append([rule.kind, -1, 0, len(rule.fields), *cells])
    for number, pick in enumerate(picks):
        if pick.event == event.name:
            where = [word for name, is_ in pick.where for word in (*_read(event, name), is_)]
            value = [1, *_read(event, pick.value)] if pick.value else [0]
            found.append([-1, number, len(pick.where), *where, *value])
    return [len(found), *(word for one in found for word in one)]
