# SPDX-License-Identifier: GPL-2.0-or-later
"""Derive suggestions from the files that a trial's patches change.

The offsets of fields that the patches add or move become metrics, and the microscope watches the
functions that use these fields. The trace events of the changed subsystem are proposed for the next
call of `duet try`.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from duet.base.errors import DuetError, InputError
from duet.kernels.changed import changes, defined, field_changes, users
from duet.kernels.image import KernelImage
from duet.kernels.recipe import patched_files
from duet.kernels.traceable import TraceEvent, read_functions, trace_events
from duet.kernels.vmlinux import ask as dwarf
from duet.trials.tracing import MOST_EVENTS, MOST_FUNCTIONS, Field, Proposal, Tracing, with_events

MOST_FIELDS = 8
MOST_WATCHED = 32
MOST_OWN = 8
"""Maximum number of events per group that are proposed by name."""
CALL = re.compile(r"\btrace_(\w+?)(?:_enabled)?\(")
INCLUDE = re.compile(r'^#include [<"](?:trace/events/(\w+)|(\w+)_?trace)\.h[>"]', re.MULTILINE)


def propose(
    tracing: Tracing,
    images: Mapping[str, KernelImage],
    diffs: Sequence[str],
    src: Path,
    watch: Sequence[str] = (),
) -> Tracing:
    """Add fields, functions for the microscope, and proposed events to the tracing.

    If nothing but scheduler events would be drawn, the first proposed group is also traced.

    Args:
        watch: functions of --watch, used instead of the functions that access the fields.
        images: maps each arm to its built kernel.
        diffs: diffs between the kernels.
        src: source tree of the kernels. Missing files are skipped.
    """
    files = list(dict.fromkeys(name for diff in diffs for name in patched_files(diff)))
    fields = _fields(images, diffs)
    watched: list[str] = []
    missing = list(tracing.missing)
    if watch:
        watched = _named(images, watch, missing)
    elif fields:
        names = [function.name for function in tracing.functions if not function.arms]
        names += users(src, files, [field.name for field in fields])
        watched = _everywhere(images, names)
    changed = {one.function for diff in diffs for one in changes(diff)}
    drawn = {mark.event for mark in tracing.marks}
    events = [event for event in _events(images) if event.path not in drawn]
    proposed = proposals(events, files, src, changed)
    tracing = replace(tracing, missing=tuple(missing), fields=tuple(fields), watched=tuple(watched))
    if proposed and not tracing.functions and not tracing.marks:
        tracing = with_events(tracing, images, proposed[0].argument)
        proposed = proposed[1:] if tracing.marks else proposed
    return replace(tracing, proposed=tuple(proposed))


def proposals(
    events: Iterable[TraceEvent], files: Iterable[str], src: Path, changed: Collection[str] = ()
) -> list[Proposal]:
    """Return events to propose: those that the files emit, and groups related to the files.

    Args:
        events: events that the kernels have.
        files: paths below `src`.
        changed: changed functions, whose events are listed first.
    """
    groups: dict[str, list[str]] = {}
    for event in events:
        groups.setdefault(event.group, []).append(event.name)
    near: dict[str, None] = {}
    emitted: dict[str, bool] = {}
    for name in files:
        text = _text(src / name) if name.endswith((".c", ".h")) else ""
        for event_name, function in _emitted(text):
            emitted[event_name] = emitted.get(event_name, False) or function in changed
        near |= {match[1] or match[2].rstrip("_"): None for match in INCLUDE.finditer(text)}
        near |= dict.fromkeys([Path(name).parent.name, Path(name).stem])
    found = []
    for group, names in sorted(groups.items(), key=lambda item: item[0] not in near):
        own = [name for name in names if name in emitted]
        if own:
            first = sorted(own, key=lambda name: not emitted[name])[:MOST_OWN]
            found.append(Proposal(group, tuple(first), own=True))
        if group in near and len(own) < len(names) <= MOST_EVENTS:
            found.append(Proposal(group, tuple(names), own=False))
    return found


def _emitted(text: str) -> Iterator[tuple[str, str]]:
    """Yield (event name, function that emits the event) for each event that a C file emits."""
    inside = ""
    for line in text.splitlines():
        inside = defined(line) or ("" if line.startswith("}") else inside)
        for match in CALL.finditer(line):
            yield match[1], inside


def _fields(images: Mapping[str, KernelImage], diffs: Sequence[str]) -> list[Field]:
    """Return the changed fields that at least one kernel has, and the kernels with each field."""
    found: list[Field] = []
    fields = dict.fromkeys(one for diff in diffs for one in field_changes(diff))
    for change in fields:
        asked = f"offsetof struct {change.struct}.{change.name}"
        arms = tuple(arm for arm, image in images.items() if _known(image, asked))
        if arms:
            some = () if len(arms) == len(images) else arms
            found.append(Field(change.struct, change.name, some))
    return found[:MOST_FIELDS]


def _known(image: KernelImage, asked: str) -> bool:
    try:
        dwarf.read(image.vmlinux, asked)
    except (DuetError, ValueError):  # a bit field has no byte offset
        return False
    return True


def _everywhere(images: Mapping[str, KernelImage], names: Iterable[str]) -> list[str]:
    known = [read_functions(image) for image in images.values()]
    fitting = (n for n in dict.fromkeys(names) if all(one.refusal(n) is None for one in known))
    return list(fitting)[:MOST_FUNCTIONS]


def _named(
    images: Mapping[str, KernelImage], names: Sequence[str], missing: list[str]
) -> list[str]:
    """Return the functions of --watch that all kernels have. Report other functions in `missing`.

    Raises:
        InputError: a kernel lacks the first function, whose calls are the operations, or there are
            too many functions.
    """
    if len(names) > MOST_WATCHED:
        raise InputError(
            f"--watch names {len(names)} functions, but at most {MOST_WATCHED} can be watched.",
            remedy="Name fewer, because each function slows the guest.",
        )
    known = [read_functions(image) for image in images.values()]
    found = []
    for name in dict.fromkeys(names):
        refusal = next((no for one in known if (no := one.refusal(name)) is not None), None)
        if refusal is None:
            found.append(name)
        elif not found:
            raise InputError(
                f"--watch cannot count calls of {name:.60}(): {refusal.why}.",
                remedy="Begin with a function of all kernels. Each of its calls is an operation.",
            )
        else:
            missing.append(f"{name}() is not watched: {refusal.why}")
    return found


def _events(images: Mapping[str, KernelImage]) -> list[TraceEvent]:
    found = {event.path: event for image in images.values() for event in trace_events(image)}
    return [found[path] for path in sorted(found)]


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
