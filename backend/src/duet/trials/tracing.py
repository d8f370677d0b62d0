# SPDX-License-Identifier: GPL-2.0-or-later
"""What a trial traces: functions with the times that they sleep, trace events, probes.

Everything is of a stock kernel: trace events, and kprobes by kprobe_events
(Documentation/trace/kprobetrace.rst). What a kernel refuses is left out and said.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

from duet.errors import InputError
from duet.kernels.image import KernelImage
from duet.kernels.probeable import Functions, read_functions
from duet.kernels.tracepoints import TraceEvent, matching, number_fields, trace_events

USUAL_FUNCTIONS = 6
"""Functions that are traced where nobody names any."""
MOST_FUNCTIONS = 16
MOST_EVENTS = 24
MOST_FIELDS = 6
PROBE = re.compile(r"^probe:(?P<function>[\w.]+)(?P<args>\(.*\))?$")
ARGUMENT = re.compile(r"^(?:(?P<name>[a-z_]\w*)=)?(?P<value>\S+)$")
STATES = ("sched/sched_switch", "sched/sched_waking")
"""Always traced, for they give the threads their states."""
STATE_PROBES = ("switching", "wakeup")
"""Their names in skeleton.yaml."""


@dataclass(frozen=True, slots=True)
class Function:
    """A function whose calls are drawn.

    Args:
        key: its name in the files of the lesson.
        arms: the kernels that have it; (): all.
    """

    name: str
    key: str
    arms: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Mark:
    """An event that is drawn one by one.

    Args:
        event: group/name in tracefs.
        define: of a probe: its line for kprobe_events.
        fields: that are numbers, at most MOST_FIELDS.
    """

    key: str
    title: str
    event: str
    define: str = ""
    fields: tuple[str, ...] = ()
    arms: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Field:
    """A field that the patches add or move.

    Args:
        struct: its structure's name.
        arms: the kernels that have it; (): all.
    """

    struct: str
    name: str
    arms: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Variable:
    """A number of the kernel's that the x-ray reads while the command runs.

    Args:
        path: as in C, from a global variable.
        arms: the kernels that have it; (): all.
    """

    path: str
    arms: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Proposal:
    """Events of one group that a next call can draw.

    Args:
        own: the files that the patches touch emit them; else they are all of a group near.
    """

    group: str
    events: tuple[str, ...]
    own: bool

    @property
    def argument(self) -> str:
        """For `--trace`."""
        if not self.own:
            return f"{self.group}:*"
        return ",".join(f"{self.group}:{event}" for event in self.events)


@dataclass(frozen=True)
class Tracing:
    """What is traced, and what was asked for and cannot be: sentences.

    Args:
        watched: functions whose accesses the microscope counts, the first one's call an operation.
        proposed: events of the subsystem that are not traced.
        variables: what the x-ray reads.
    """

    functions: tuple[Function, ...] = ()
    marks: tuple[Mark, ...] = ()
    missing: tuple[str, ...] = ()
    fields: tuple[Field, ...] = ()
    watched: tuple[str, ...] = ()
    proposed: tuple[Proposal, ...] = ()
    variables: tuple[Variable, ...] = ()


@dataclass
class _Draft:
    images: Mapping[str, KernelImage]
    missing: list[str] = field(default_factory=list)
    keys: set[str] = field(default_factory=set)

    def key(self, name: str) -> str:
        """A name for the lesson's files, used once."""
        plain = re.sub(r"[^a-z0-9_-]", "_", name.lower()).strip("_-") or "f"
        number, key = 1, plain
        while key in self.keys:
            number += 1
            key = f"{plain}-{number}"
        self.keys.add(key)
        return key


def choose(
    images: Mapping[str, KernelImage],
    changed: Sequence[str],
    named: Sequence[str],
    trace: Sequence[str],
) -> Tracing:
    """What to trace on these kernels.

    Args:
        images: arm -> its built kernel.
        changed: functions that the patches change; used where `named` is empty.
        named: globs of functions, from --fn.
        trace: 'group:event' globs and 'probe:function(args)', from --trace.

    Raises:
        InputError: a name that no kernel has, or more than can be drawn.
    """
    draft = _Draft(images, keys=set(STATE_PROBES))
    known = {arm: read_functions(image) for arm, image in images.items()}
    if named:
        wanted = _globbed(named, known)
        functions = _functions(draft, wanted, known, MOST_FUNCTIONS)
    else:
        functions = _functions(draft, changed, known, USUAL_FUNCTIONS)
    marks = [mark for asked in trace for mark in _marks(draft, asked, known)]
    if len(marks) > MOST_EVENTS:
        raise InputError(
            f"--trace names {len(marks)} events, and {MOST_EVENTS} can be drawn.",
            remedy="Name fewer, such as --trace 'sched:sched_wak*,rcu:rcu_grace_period'.",
        )
    return Tracing(tuple(functions), tuple(marks), tuple(draft.missing))


def _globbed(named: Sequence[str], known: Mapping[str, Functions]) -> list[str]:
    found: dict[str, None] = {}
    names = {name for functions in known.values() for name in functions.names}
    for pattern in named:
        hits = sorted(name for name in names if fnmatchcase(name, pattern))
        exact = [pattern] if not any(c in pattern for c in "*?[") else []
        hits = exact or [
            name for name in hits if any(f.refusal(name) is None for f in known.values())
        ]
        if not hits:
            raise InputError(
                f"no function of these kernels that takes probes is called '{pattern:.60}'.",
                remedy="Correct --fn; a function may be inlined: then name one that calls it.",
            )
        found |= dict.fromkeys(hits)
    if len(found) > MOST_FUNCTIONS:
        raise InputError(
            f"--fn names {len(found)} functions, and {MOST_FUNCTIONS} can be drawn.",
            remedy="Name fewer.",
        )
    return list(found)


def _functions(
    draft: _Draft, names: Sequence[str], known: Mapping[str, Functions], most: int
) -> list[Function]:
    """Those that take probes; of more than `most` those that all kernels have come first."""
    everywhere: list[tuple[str, tuple[str, ...]]] = []
    somewhere: list[tuple[str, tuple[str, ...]]] = []
    for name in dict.fromkeys(names):
        refusals = {arm: functions.refusal(name) for arm, functions in known.items()}
        arms = tuple(arm for arm, refusal in refusals.items() if refusal is None)
        if len(arms) == len(known):
            everywhere.append((name, ()))
        elif arms:
            somewhere.append((name, arms))
        else:
            why = next(refusal.why for refusal in refusals.values() if refusal)
            draft.missing.append(f"{name}() is not traced: {why}")
    chosen = [*everywhere, *somewhere]
    for name, _ in chosen[most:]:
        draft.missing.append(f"{name}() is not traced: {most} functions are (name it with --fn)")
    return [Function(name, draft.key(name), arms) for name, arms in chosen[:most]]


def _marks(draft: _Draft, asked: str, known: Mapping[str, Functions]) -> list[Mark]:
    if match := PROBE.match(asked):
        return [_probe(draft, match["function"], match["args"] or "", known)]
    if ":" not in asked:
        raise InputError(
            f"--trace wants GROUP:EVENT or probe:FUNCTION(ARGUMENTS), but '{asked:.60}' came.",
            remedy="Write for example: --trace 'sched:sched_process_*,probe:vfs_read($arg3)'.",
        )
    found: dict[str, tuple[TraceEvent, list[str]]] = {}
    for arm, image in draft.images.items():
        for event in matching(trace_events(image), asked):
            found.setdefault(event.path, (event, []))[1].append(arm)
    if not found:
        raise InputError(
            f"no trace event of these kernels is called '{asked:.60}'.",
            remedy=f"Groups here: {', '.join(_groups(draft.images))}.",
        )
    marks = []
    for path, (event, arms) in found.items():
        if path in STATES:
            continue
        fields = number_fields(draft.images[arms[0]], event, MOST_FIELDS)
        some = () if len(arms) == len(draft.images) else tuple(arms)
        marks.append(Mark(draft.key(event.name), event.name, path, "", fields, some))
    return marks


def _groups(images: Mapping[str, KernelImage]) -> list[str]:
    return sorted({event.group for image in images.values() for event in trace_events(image)})


def _probe(draft: _Draft, function: str, args: str, known: Mapping[str, Functions]) -> Mark:
    arms = tuple(arm for arm, names in known.items() if names.refusal(function) is None)
    if not arms:
        refusal = next(iter(known.values())).refusal(function)
        assert refusal is not None
        raise InputError(
            f"--trace cannot place a probe on {function}(): {refusal.why}.", remedy=refusal.remedy
        )
    words, names = [], []
    for number, text in enumerate(part.strip() for part in args.strip("()").split(",")):
        if not text:
            continue
        match = ARGUMENT.match(text)
        if match is None:
            raise InputError(
                f"'{text:.40}' is no argument of a probe.",
                remedy="Write for example: probe:vfs_read($arg3) or probe:vfs_read(count=$arg3).",
            )
        name = match["name"] or f"arg{number + 1}"
        kind = "" if ":" in match["value"] else ":s64"
        words.append(f"{name}={match['value']}{kind}")
        names.append(name)
    key = draft.key(function)
    event = f"duet/{key.replace('-', '_')}"
    define = " ".join([f"p:{event}", function, *words])
    some = () if len(arms) == len(known) else arms
    return Mark(key, f"{function}()", event, define, tuple(names[:MOST_FIELDS]), some)
