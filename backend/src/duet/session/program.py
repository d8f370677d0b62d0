# SPDX-License-Identifier: GPL-2.0-or-later
"""Compile a lesson's spans, tracks, links and points on one arm for the reducer. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum

from duet.base.errors import KernelError
from duet.lessons.plan import kernel_values, probes_of, substitute
from duet.lessons.schema import Lesson, Point, Span, Workload

# Points: events that a view draws individually, with their fields.


@dataclass(frozen=True, slots=True)
class PointRule:
    """The rule for one of the lesson's points, on one arm.

    Args:
        kind: index in the lesson's list, which is the point's number on the wire.
        fields: fields of the event that become the columns a, b, c, ...
    """

    event: str
    kind: int
    fields: tuple[str, ...]


def point_rules(points: Sequence[Point], event_of: Mapping[str, str]) -> tuple[PointRule, ...]:
    """Return an arm's rules, leaving out points whose probe the arm lacks.

    Args:
        event_of: probe -> event on this arm.
    """
    return tuple(
        PointRule(event_of[point.probe], kind, point.fields)
        for kind, point in enumerate(points)
        if point.probe is not None and point.probe in event_of
    )


SWITCH_EVENT = "sched/sched_switch"
WAKING_EVENT = "sched/sched_waking"
PRINT_EVENT = "ftrace/print"
MAX_ARGS = 3
STATES = ("running", "runnable", "wait_other")
"""Kinds that every lesson with kinds must declare. A lesson without kinds draws no threads."""


class Act(IntEnum):
    """Effect of an event on the state of a lane; equal to `enum act_kind` in loop/reduce.h."""

    SWITCH = 0
    WAKING = 1
    OPEN = 2
    CLOSE = 3
    OP_OPEN = 4
    OP_CLOSE = 5
    PHASE = 6
    MARKER = 7
    LOSS = 8
    NAME = 9


@dataclass(frozen=True, slots=True)
class SpanRule:
    """A condition under which an event opens a function span.

    Args:
        when: (argument column, value) pairs that must match.
        kind: function kind to draw, or -1.
        wait: state kind of a sleep inside the span, or -1.
        arg: argument column kept as `arg`, or -1.
        counts: whether time inside the span is part of the operation's waiting time.
    """

    when: tuple[tuple[int, int], ...]
    kind: int
    wait: int
    arg: int
    counts: bool


@dataclass(frozen=True, slots=True)
class TrackRule:
    """The rule for a track.

    Args:
        steps: value of the event's field -> choices of (kind that must be open or -1, kind to open
            or -1).
        cycles: count the ended cycles of this track.
        events: event types that drive the track.
    """

    name: str
    title: str
    steps: dict[int, tuple[tuple[int, int], ...]]
    cycles: bool
    events: frozenset[str]


@dataclass(frozen=True, slots=True)
class LinkRule:
    """A link from a track to a thread that is woken while the track is in kind `during`."""

    during: int
    track: int
    kind: int


@dataclass(frozen=True, slots=True)
class Program:
    """Rules of the reducer for one lesson, arm and workload.

    Args:
        codes: event -> index in `args` and `acts`.
        args: per code, the fields that become the columns a, b, c.
        acts: per code, the effects as pairs of Act and operand.
    """

    kinds: tuple[str, ...]
    codes: dict[str, int]
    args: tuple[tuple[str, ...], ...]
    acts: tuple[tuple[tuple[Act, int], ...], ...]
    groups: tuple[tuple[SpanRule, ...], ...]
    tracks: tuple[TrackRule, ...]
    links: tuple[LinkRule, ...]
    points: tuple[PointRule, ...]
    comm: str
    rows: re.Pattern[str]
    other: str | None
    start_marker: str
    running: int
    runnable: int
    wait_other: int


def compile_program(
    lesson: Lesson,
    arm: str,
    workload: Workload,
    symbols: Mapping[str, int],
    string_id: Callable[[str], int],
) -> Program:
    """Compile a lesson for one arm.

    Args:
        symbols: name -> address in this arm's kernel. A rule that needs a missing symbol never
            matches an event.
        string_id: returns the index of a text in the decoder's strings (Decoder.string_id).

    Raises:
        KernelError: the lesson lacks a kind of STATES, uses too many fields of an event, or has
            tracks that disagree on a field.
    """
    return _Compiler(lesson, arm, workload, symbols, string_id).program()


def needed_symbols(lesson: Lesson, arm: str) -> frozenset[str]:
    """Return the kernel values that the arm's probes and the spans use; see kernel_values()."""
    events = probes_of(lesson, arm).values()
    texts = [text for event in events for text in (event.filter, event.define) if text]
    texts += [value for span in lesson.spans for value in span.when.values()]
    return frozenset(name for text in texts for name in kernel_values(text))


class _Compiler:
    def __init__(
        self,
        lesson: Lesson,
        arm: str,
        workload: Workload,
        symbols: Mapping[str, int],
        string_id: Callable[[str], int],
    ) -> None:
        self._lesson, self._arm, self._workload = lesson, arm, workload
        self._symbols, self._string_id = symbols, string_id
        self._event_of = {name: e.event for name, e in probes_of(lesson, arm).items()}
        self._kinds = {kind.name: index for index, kind in enumerate(lesson.kinds)}
        self._args: dict[str, list[str]] = {}
        self._acts: dict[str, list[tuple[Act, int]]] = {}
        self._groups: list[tuple[SpanRule, ...]] = []
        self._tracks: list[TrackRule] = []
        for state in STATES if self._kinds else ():
            if state not in self._kinds:
                raise KernelError(
                    f"the lesson declares no kind '{state}', which is a state of every thread.",
                    remedy="Add the kind to `kinds:` in trace.yaml.",
                )

    def program(self) -> Program:
        self._act(PRINT_EVENT, Act.MARKER, 0)
        if self._kinds:
            self._threads()
        self._operation()
        self._spans()
        self._all_tracks()
        names = list(self._acts)
        return Program(
            kinds=tuple(self._kinds),
            codes={name: code for code, name in enumerate(names)},
            args=tuple(tuple(self._args.get(name, ())) for name in names),
            acts=tuple(tuple(self._acts[name]) for name in names),
            groups=tuple(self._groups),
            tracks=tuple(self._tracks),
            links=tuple(self._links()),
            points=point_rules(self._lesson.points, self._event_of),
            comm=self._workload.comm,
            rows=re.compile(self._workload.rows),
            other=self._workload.other,
            start_marker=self._workload.start_marker,
            running=self._kinds.get("running", -1),
            runnable=self._kinds.get("runnable", -1),
            wait_other=self._kinds.get("wait_other", -1),
        )

    def _threads(self) -> None:
        for field in ("prev_pid", "next_pid", "prev_state"):
            self._column(SWITCH_EVENT, field)
        self._column(WAKING_EVENT, "pid")
        self._act(SWITCH_EVENT, Act.SWITCH, 0)
        self._act(WAKING_EVENT, Act.WAKING, 0)

    def _act(self, event: str, act: Act, operand: int) -> None:
        self._acts.setdefault(event, []).append((act, operand))

    def _column(self, event: str, field: str) -> int:
        """Return the argument column of an event's field, which is allocated on first use."""
        fields = self._args.setdefault(event, [])
        if field not in fields:
            if len(fields) == MAX_ARGS:
                raise KernelError(
                    f"the lesson uses more than {MAX_ARGS} fields of {event}.",
                    remedy="Split the probe, or widen MAX_ARGS in session/program.py.",
                )
            fields.append(field)
        return fields.index(field)

    def _operation(self) -> None:
        operation = self._workload.operation or self._lesson.operation
        if operation is None:
            return
        opens, closes = (self._event_of.get(n or "") for n in (operation.open, operation.close))
        if opens and closes:
            self._act(opens, Act.OP_OPEN, 0)
            self._act(closes, Act.OP_CLOSE, 0)

    def _spans(self) -> None:
        pairs: dict[tuple[str, str], list[Span]] = {}
        for span in self._lesson.spans:
            if span.open in self._event_of and span.close in self._event_of:
                pairs.setdefault((span.open, span.close), []).append(span)
        for (opens, closes), spans in pairs.items():
            group = len(self._groups)
            event = self._event_of[opens]
            rules = [rule for span in spans if (rule := self._rule(event, span))]
            self._groups.append(tuple(rules))
            self._act(event, Act.OPEN, group)
            self._act(self._event_of[closes], Act.CLOSE, group)

    def _rule(self, event: str, span: Span) -> SpanRule | None:
        when = []
        for field, text in span.when.items():
            if any(name not in self._symbols for name in kernel_values(text)):
                return None
            value = int(substitute(text, self._symbols), 0)
            when.append((self._column(event, field), _signed(value)))
        wait = self._kinds[span.wait] if span.wait else -1
        return SpanRule(
            when=tuple(when),
            kind=self._kinds[span.kind] if span.kind else -1,
            wait=wait,
            arg=self._column(event, span.arg) if span.arg else -1,
            counts=wait >= 0 and self._lesson.kinds[wait].lesson,
        )

    def _all_tracks(self) -> None:
        first = True
        for track in self._lesson.tracks:
            if track.arms and self._arm not in track.arms:
                continue
            steps: dict[int, list[tuple[int, int]]] = {}
            events: dict[str, None] = {}
            for phase in track.phases:
                if phase.event not in self._event_of:
                    continue
                text = isinstance(phase.value, str)
                value = self._string_id(str(phase.value)) if text else int(phase.value)
                after = self._kinds[phase.after] if phase.after else -1
                opens = self._kinds[phase.opens] if phase.opens else -1
                steps.setdefault(value, []).append((after, opens))
                events[self._event_of[phase.event]] = None
            for event in events:
                if self._column(event, track.field):
                    raise KernelError(
                        f"tracks disagree on the field of {event} that contains the phase.",
                        remedy="Use one field for all tracks of an event.",
                    )
                self._act(event, Act.PHASE, len(self._tracks))
            cycles = first and track.lesson
            first = first and not track.lesson
            rule = {value: tuple(choices) for value, choices in steps.items()}
            self._tracks.append(TrackRule(track.name, track.title, rule, cycles, frozenset(events)))

    def _links(self) -> list[LinkRule]:
        links = []
        for number, link in enumerate(self._lesson.links):
            if self._event_of.get(link.event) != WAKING_EVENT or link.target != "pid":
                continue
            during = self._kinds[link.during]
            for index, track in enumerate(self._tracks):
                if any(during == o for step in track.steps.values() for _, o in step):
                    links.append(LinkRule(during, index, number))
        return links


def _signed(value: int) -> int:
    """Reinterpret a 64-bit value as signed, as it is stored in columns."""
    return value - (1 << 64) if value >= 1 << 63 else value
