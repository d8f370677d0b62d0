# SPDX-License-Identifier: GPL-2.0-or-later
"""Choose what a trial traces: functions and their sleeps, trace events, and probes.

Tracing works on a stock kernel, because it uses only trace events, and kprobes through
kprobe_events (Documentation/trace/kprobetrace.rst). Events and probes that a kernel refuses are
left out, and reported.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase

from duet.base.errors import InputError
from duet.kernels.image import KernelImage
from duet.kernels.traceable import (
    MOST_COLUMNS,
    Functions,
    TraceEvent,
    is_too_wide,
    matching,
    number_fields,
    read_functions,
    trace_events,
)
from duet.kernels.vmlinux import ask as dwarf
from duet.kernels.vmlinux.ask import split_path
from duet.trials.mails import Patch

USUAL_FUNCTIONS = 6
"""Maximum number of functions that are traced if the user names none."""
MOST_FUNCTIONS = 16
MOST_EVENTS = 24
MOST_FIELDS = 6
PROBE = re.compile(r"^probe:(?P<function>[\w.]+)(?:\((?P<args>.*)\))?$")
ARGUMENT = re.compile(
    r"^(?:(?P<name>[a-z_]\w*)=)?(?P<value>\S+?)(?::(?P<type>[a-z][\w@/]*(?:\[\d+])?))?$"
)
NUMBER = re.compile(r"[usx](?:8|16|32|64)|b\d+@\d+/\d+")
"""Numeric types of probe arguments. The other types are strings, symbols and arrays."""
SYSCALLS = re.compile(r"^syscalls:(?:sys_(?:enter|exit)_(?P<name>\w+))?")
STATES = ("sched/sched_switch", "sched/sched_waking")
"""Events that are always traced, because thread states need them."""
STATE_PROBES = ("switching", "wakeup")
"""Names of the STATES events in skeleton.yaml."""


@dataclass(frozen=True, slots=True)
class Function:
    """A function whose calls are drawn.

    Args:
        key: the function's name in the lesson's files.
        arms: kernels that have it. () means all kernels.
    """

    name: str
    key: str
    arms: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Mark:
    """An event that is drawn as single points.

    Args:
        event: group/name in tracefs.
        define: the line for kprobe_events if it is a probe.
        fields: numeric fields, at most MOST_FIELDS.
    """

    key: str
    title: str
    event: str
    define: str = ""
    fields: tuple[str, ...] = ()
    arms: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Field:
    """A structure field that the patches add or move.

    Args:
        struct: name of the structure.
        arms: kernels that have it. () means all kernels.
    """

    struct: str
    name: str
    arms: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Variable:
    """A numeric kernel variable that the x-ray reads while the command runs.

    Args:
        path: C expression that begins at a global variable.
        arms: kernels that have it. () means all kernels.
    """

    path: str
    arms: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Proposal:
    """Events of one group that the user can trace with the next call of `duet try`.

    Args:
        own: whether the patched files emit these events. Otherwise these are all events of a
            related group.
    """

    group: str
    events: tuple[str, ...]
    own: bool

    @property
    def argument(self) -> str:
        if not self.own:
            return f"{self.group}:*"
        return ",".join(f"{self.group}:{event}" for event in self.events)


@dataclass(frozen=True)
class Tracing:
    """Everything that is traced, and sentences about what cannot be traced.

    Args:
        watched: functions whose accesses the microscope counts. A call of the first function is an
            operation.
        proposed: events of the changed subsystem that are not traced.
        variables: variables that the x-ray reads.
        said: sentences for the user about events that were chosen because the user named none.
    """

    functions: tuple[Function, ...] = ()
    marks: tuple[Mark, ...] = ()
    missing: tuple[str, ...] = ()
    fields: tuple[Field, ...] = ()
    watched: tuple[str, ...] = ()
    proposed: tuple[Proposal, ...] = ()
    variables: tuple[Variable, ...] = ()
    said: tuple[str, ...] = ()


@dataclass
class _Draft:
    images: Mapping[str, KernelImage]
    missing: list[str] = field(default_factory=list)
    keys: set[str] = field(default_factory=set)

    def key(self, name: str) -> str:
        """Return a unique name for the lesson's files."""
        plain = re.sub(r"[^a-z0-9_-]", "_", name.lower()).strip("_-") or "f"
        number, key = 1, plain
        while key in self.keys:
            number += 1
            key = f"{plain}-{number}"
        self.keys.add(key)
        return key


def at_commas(text: str) -> list[str]:
    """Split `sched:*,probe:f(a=+0($arg1),b=$arg2)` at commas outside parentheses."""
    parts, depth = [""], 0
    for sign in text:
        depth += (sign == "(") - (sign == ")")
        if sign == "," and depth <= 0:
            parts.append("")
        else:
            parts[-1] += sign
    return [part.strip() for part in parts if part.strip()]


def read_trace(given: Sequence[str]) -> tuple[str, ...]:
    """Check the arguments of --trace, as far as possible without a kernel.

    Raises:
        InputError: an argument is neither an event nor a probe, or it is an event that a kernel
            creates only at boot.
    """
    asked = [part for text in given for part in at_commas(text)]
    for part in asked:
        if ":" not in part:
            raise InputError(
                f"--trace wants GROUP:EVENT or probe:FUNCTION(ARGUMENTS), but got '{part:.60}'.",
                remedy="Write for example: --trace 'sched:sched_process_*,probe:vfs_read($arg3)'.",
            )
        if part.startswith("probe:") and PROBE.match(part) is None:
            raise InputError(
                f"--trace wants probe:FUNCTION(ARGUMENTS), but got '{part:.60}'.",
                remedy="Write for example: probe:vfs_read(count=$arg3).",
            )
        if match := SYSCALLS.match(part):
            name = match["name"] or "openat"
            raise InputError(
                f"--trace cannot name system-call events such as '{part:.60}', because a kernel"
                " creates them only at boot.",
                remedy=f"Trace a system call's function: --fn __x64_sys_{name}, or all calls:"
                " --trace 'raw_syscalls:*'.",
            )
    return tuple(asked)


def choose(
    images: Mapping[str, KernelImage],
    changed: Sequence[str],
    named: Sequence[str],
    trace: Sequence[str],
) -> Tracing:
    """Choose what to trace on these kernels.

    Args:
        images: maps each arm to its built kernel.
        changed: functions that the patches change; used if `named` is empty.
        named: globs of functions, from --fn.
        trace: 'group:event' globs and 'probe:function(args)', from --trace.

    Raises:
        InputError: a name exists in no kernel, or there are more names than can be drawn.
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
            f"--trace names {len(marks)} events, but at most {MOST_EVENTS} can be drawn.",
            remedy="Name fewer, such as --trace 'sched:sched_wak*,rcu:rcu_grace_period'.",
        )
    return Tracing(tuple(functions), tuple(marks), tuple(draft.missing))


def with_events(tracing: Tracing, images: Mapping[str, KernelImage], asked: str) -> Tracing:
    """Add events that the user did not name, and a sentence that reports this choice."""
    keys = {*STATE_PROBES, *(one.key for one in tracing.functions)}
    keys |= {mark.key for mark in tracing.marks}
    draft = _Draft(images, keys=keys)
    marks = tuple(mark for part in at_commas(asked) for mark in _marks(draft, part, {}))
    if not marks:
        return tracing
    said = (
        f"no function can be drawn, so events of the same subsystem are traced: --trace '{asked}'"
        " (choose others with --trace, or functions with --fn)"
    )
    missing = (*tracing.missing, *draft.missing)
    return replace(
        tracing, marks=(*tracing.marks, *marks), missing=missing, said=(*tracing.said, said)
    )


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
                f"wanted to probe the function '{pattern:.60}', but these kernels do not have it.",
                remedy="Correct --fn. If the function is inlined, name its caller.",
            )
        found |= dict.fromkeys(hits)
    if len(found) > MOST_FUNCTIONS:
        raise InputError(
            f"--fn names {len(found)} functions, but at most {MOST_FUNCTIONS} can be drawn.",
            remedy="Name fewer.",
        )
    return list(found)


def _functions(
    draft: _Draft, names: Sequence[str], known: Mapping[str, Functions], most: int
) -> list[Function]:
    """Return up to `most` functions that accept probes. Functions of all kernels are first."""
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
        draft.missing.append(f"{name}() is not traced: the limit is {most} functions (see --fn)")
    return [Function(name, draft.key(name), arms) for name, arms in chosen[:most]]


def _marks(draft: _Draft, asked: str, known: Mapping[str, Functions]) -> list[Mark]:
    if match := PROBE.match(asked):
        return [_probe(draft, match["function"], match["args"] or "", known)]
    found: dict[str, tuple[TraceEvent, list[str]]] = {}
    for arm, image in draft.images.items():
        for event in matching(trace_events(image), asked):
            found.setdefault(event.path, (event, []))[1].append(arm)
    if not found:
        raise InputError(
            f"wanted the trace event '{asked:.60}', but these kernels do not have it.",
            remedy=f"These kernels have the groups {', '.join(_groups(draft.images))}.",
        )
    marks = []
    for path, (event, arms) in found.items():
        if path in STATES:
            continue
        try:
            wide = any(is_too_wide(draft.images[arm], event) for arm in arms)
            fields = number_fields(draft.images[arms[0]], event, MOST_FIELDS)
        except InputError as error:  # DWARF lacks the event's structure
            draft.missing.append(f"{event_name(event)} is not traced: {error.sentence.rstrip('.')}")
            continue
        if wide:
            words = f"it has more than {MOST_COLUMNS} fields"
            draft.missing.append(f"{event_name(event)} is not traced: {words}")
            continue
        some = () if len(arms) == len(draft.images) else tuple(arms)
        marks.append(Mark(draft.key(event.name), event.name, path, "", fields, some))
    return marks


def event_name(event: TraceEvent) -> str:
    return f"{event.group}:{event.name}"


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
    words, numbers = [], []
    for number, text in enumerate(at_commas(args), 1):
        match = ARGUMENT.match(text)
        if match is None or text.count("(") != text.count(")"):
            raise InputError(
                f"--trace wants probe arguments, but got '{text:.40}'.",
                remedy="Write for example: probe:vfs_read($arg3) or probe:vfs_read(count=$arg3).",
            )
        name, kind = match["name"] or f"arg{number}", match["type"]
        if kind is None and match["value"] != "$comm":  # $comm is a string
            kind = "s64"
        words.append(f"{name}={match['value']}" + (f":{kind}" if kind else ""))
        numbers += [name] if kind and NUMBER.fullmatch(kind) else []
    key = draft.key(function)
    event = f"duet/{key.replace('-', '_')}"
    define = " ".join([f"p:{event}", function, *words])
    some = () if len(arms) == len(known) else arms
    return Mark(key, f"{function}()", event, define, tuple(numbers[:MOST_FIELDS]), some)


# Choose the global variables that the x-ray reads: those of --xray. Without --xray, choose
# variables that occur in the patches.


MOST_NAMED = 8
MOST_CHOSEN = 4
MOST_WORDS = 400
"""Maximum number of words from changed lines that are looked up as variables."""
WORD = re.compile(r"\b[A-Za-z_]\w{2,}\b", re.ASCII)


def read_paths(given: Sequence[str]) -> tuple[str, ...]:
    """Parse --xray into distinct paths.

    Raises:
        InputError: an argument is not a path, or there are too many.
    """
    paths = list(dict.fromkeys(part.strip() for text in given for part in text.split(",")))
    paths = [path for path in paths if path]
    for path in paths:
        if split_path(path) is None:
            raise InputError(
                f"--xray wants global variables, but got '{path:.60}'.",
                remedy="Write names and paths as in C: --xray nr_files,rcu_state.gp_seq.",
            )
    if len(paths) > MOST_NAMED:
        raise InputError(
            f"--xray names {len(paths)} variables, but at most {MOST_NAMED} can be read.",
            remedy="Name fewer.",
        )
    return tuple(paths)


def choose_variables(
    images: Mapping[str, KernelImage],
    named: Sequence[str],
    patches: Sequence[Patch],
    missing: list[str],
) -> tuple[Variable, ...]:
    """Choose the variables that the x-ray reads.

    Args:
        images: maps each arm to its built kernel.
        named: paths of --xray. If empty, numeric variables in the patches' changed lines are used.
        missing: receives a sentence for each path in `named` that is not a number in any kernel.
    """
    paths = list(named) if named else _words(patches)
    known = {arm: dwarf.number_paths(image.vmlinux, paths) for arm, image in images.items()}
    found = []
    for path in paths:
        arms = tuple(arm for arm, those in known.items() if path in those)
        if arms:
            found.append(Variable(path, () if len(arms) == len(images) else arms))
        elif named:
            missing.append(f"{path} is not read: no kernel has a global number of that name")
    return tuple(found if named else found[:MOST_CHOSEN])


def _words(patches: Sequence[Patch]) -> list[str]:
    """Return the distinct words of the patches' changed lines, in order."""
    lines = [line for patch in patches for line in patch.diff.splitlines()]
    changed = [line[1:] for line in lines if re.match(r"[+-](?![+-]{2} )", line)]
    words = dict.fromkeys(word for line in changed for word in WORD.findall(line))
    return list(words)[:MOST_WORDS]
