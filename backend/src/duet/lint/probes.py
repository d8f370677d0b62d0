# SPDX-License-Identifier: GPL-2.0-or-later
"""Rules: built kernels have the functions, tracepoints and symbols that a lesson names."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from duet.base.errors import DuetError
from duet.kernels import KernelSettings, plan
from duet.kernels.arms import arm_spec, find_image
from duet.kernels.image import FILES, SIZES
from duet.kernels.source import MEMORY as DIGESTS
from duet.kernels.traceable import Functions, Refusal, read_functions
from duet.lenses import probe_names
from duet.lenses.registry import FOLDER as PROBES
from duet.lessons.document import meant
from duet.lessons.plan import base_of, kernel_values, probes_of
from duet.lessons.schema import Event, Lesson, Place
from duet.lint.finding import Finding, NotChecked, Subject, unknown

Found = Iterator[Finding | NotChecked]
DEFINITION = re.compile(
    r"^[pr]\d*:(?P<event>[\w/]+)\s+(?P<function>[A-Za-z_][\w.]*)(?:\+\w+)?(?:\s|$)"
)
"""A line of kprobe_events; see Documentation/trace/kprobetrace.rst."""
SYSCALLS = "syscalls"
"""Group of the events that the kernel creates at boot."""


def definitions(subject: Subject) -> Found:
    """Check that each `define` is a line of kprobe_events and defines the probe's own event."""
    for at, event in events(subject.folder.lesson):
        place: Place = (*at, "define")
        if event.define is None:
            if event.event.startswith("duet/"):
                sentence = f"the event {event.event} is not defined"
                remedy = f'Add `define: "p:{event.event} FUNCTION"`.'
                yield Finding(sentence, remedy, (*at, "event"))
            continue
        found = DEFINITION.match(event.define)
        if found is None:
            entry, ret = f"p:{event.event} FUNCTION", f"r64:{event.event} FUNCTION"
            remedy = f'Write "{entry}" for the entry, "{ret}" for the return.'
            yield Finding("this is not a line of kprobe_events", remedy, place)
        elif found["event"] != event.event:
            sentence = f"it defines {found['event']}, but the probe's event is {event.event}"
            yield Finding(sentence, "Give both events the same name.", place)


def events(lesson: Lesson) -> Iterator[tuple[Place, Event]]:
    """Yield each event of the lesson's probes with its place, on every base."""
    for index, probe in enumerate(lesson.probes):
        yield ("probes", index), probe
        for base, event in probe.bases.items():
            if event != "absent":
                yield ("probes", index, "bases", base), event


def kernels(subject: Subject) -> Found:
    """Check that each arm's kernel has all symbols that the probes and the microscope name."""
    settings = KernelSettings.default()
    refused: dict[tuple[Place, str, Refusal], list[str]] = {}
    missing: list[str] = []
    for arm in subject.folder.lesson.arms:
        _watch_kernel(subject, arm.name, settings)
        try:
            functions = read_functions(find_image(subject.folder, arm.name, settings))
        except DuetError:
            missing.append(arm.name)
            continue
        for one in _refused(subject, arm.name, functions):
            refused.setdefault(one, []).append(arm.name)
    if missing:
        many = len(missing) > 1
        kernels = f"kernel{'s' if many else ''} of {', '.join(missing)}"
        yield NotChecked(
            f"whether the probes fit the {kernels}, which {'are' if many else 'is'} not built"
        )
    for (place, what, refusal), arms in refused.items():
        sentence = f"the kernel of {' and '.join(arms)} has no {what}: {refusal.why}"
        yield Finding(sentence, refusal.remedy, place)


def _watch_kernel(subject: Subject, arm: str, settings: KernelSettings) -> None:
    """Report the files that decide which kernel an arm has, and the files of that kernel."""
    outside = subject.outside
    for tool in ("gcc", "ld"):
        outside.watch_program(tool)
    spec = arm_spec(subject.folder, arm)
    try:
        base = settings.base_of(spec)
        if base.source.kind != "tarball":
            outside.lasting = False  # a folder or a commit, which has no stamp
            return
        outside.watch(settings.cache / DIGESTS, *settings.source_places(base))
        key = plan(spec, settings)
    except DuetError:
        return  # there is no kernel until a file in the checkout or a watched file changes
    kernel = settings.store.folder / key
    outside.watch(kernel, *(kernel / name for name in (*FILES, SIZES, "manifest.json")))


def _refused(
    subject: Subject, arm: str, functions: Functions
) -> Iterator[tuple[Place, str, Refusal]]:
    """Yield (place, missing name, reason) for each name that a kernel lacks."""
    lesson = subject.folder.lesson
    on_arm = probes_of(lesson, arm).values()
    for at, event in events(lesson):
        if not any(event is one for one in on_arm):
            continue
        if found := DEFINITION.match(event.define or ""):
            name = found["function"]
            if refusal := functions.refusal(name):
                yield (*at, "define"), f"place for a probe on {name}()", refusal
        elif refusal := _no_event(event.event, functions):
            yield (*at, "event"), f"tracepoint {event.event}", refusal
        for key in ("define", "filter"):
            for symbol in kernel_values(getattr(event, key) or ""):
                if ":" not in symbol and symbol not in functions.names:
                    why = "it is not in System.map"
                    yield (*at, key), f"symbol {symbol}", Refusal(why, ELSEWHERE)
    if lesson.microscope is not None:
        for index, name in enumerate(lesson.microscope.functions_on(base_of(lesson, arm))):
            if name not in functions.names:
                place: Place = ("microscope", "functions", index)
                why = "it is not in System.map; it may be inlined"
                yield place, f"function {name}()", Refusal(why, "Name a function that calls it.")


def _no_event(event: str, functions: Functions) -> Refusal | None:
    group, _, name = event.partition("/")
    if group in ("duet", SYSCALLS) or f"event_{name}" in functions.names:
        return None
    known = [one.removeprefix("event_") for one in functions.names if one.startswith("event_")]
    return Refusal(f"no event has this name{meant(name, known)}", ELSEWHERE)


ELSEWHERE = "Correct the name, or restrict the probe with `arms:` to the kernels that have it."


def xray(subject: Subject) -> Found:
    """Check that each x-ray probe exists, and that the lesson's own probes can be parsed."""
    lesson = subject.folder.lesson
    known = probe_names(subject.folder.slug, others=False)
    named: list[tuple[str, Place]] = [
        (one.probe, ("xray", index, "probe")) for index, one in enumerate(lesson.xray)
    ]
    if lesson.microscope is not None and lesson.microscope.probe is not None:
        named.append((lesson.microscope.probe, ("microscope", "probe")))
    for name, place in named:
        if name not in known:
            found = unknown("there is no x-ray probe", name, known, place)
            yield Finding(found.sentence, found.remedy, found.place, where="xray")
    for path in sorted((subject.folder.folder / PROBES).glob("*.py")):
        try:
            ast.parse(path.read_bytes())
        except (SyntaxError, ValueError) as error:
            sentence = f"this is not valid Python: {getattr(error, 'msg', error)}"
            line = getattr(error, "lineno", None) or 1
            yield Finding(sentence, "Correct that line.", file=path, line=line, where="xray")
