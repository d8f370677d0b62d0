# SPDX-License-Identifier: GPL-2.0-or-later
"""Translate a lesson's probes and workload into the plan text for the agent.

The agent has no data about lessons, so this module replaces all names by values. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from html import escape

from duet.base.errors import InputError, KernelError
from duet.lessons.load import LessonFolder, duration_s
from duet.lessons.schema import Event, Lesson, Mail, QuizQuestion, Workload
from duet.lessons.view import explained

_VALUE = re.compile(r"\{(?:sym:([A-Za-z0-9_.]+)|(offset:\w+\.[\w.[\]]+|sizeof:\w+))\}")
USUAL_S = 60
"""For how many seconds a workload may run if its lesson has no knob for it."""
DEADLINE_SLACK_S = 120
"""How long a workload may overrun its duration before the agent ends it. Emulated guests are
slow."""

LIVE_BUFFER_KB = 8192
"""Size of the ring buffer per CPU in a run whose events are sent while it runs."""
BUFFER_SHARE = 4
BUFFER_MAX_KB = 256 << 10


def base_of(lesson: Lesson, arm: str) -> str | None:
    """Return the name of the arm's kernel base; None for the default base."""
    return next((one.base for one in lesson.arms if one.name == arm), None)


def probes_of(lesson: Lesson, arm: str) -> dict[str, Event]:
    """Return the events of an arm's probes on the arm's base, by the probe's name."""
    base = base_of(lesson, arm)
    events = ((p.name, p.on(base)) for p in lesson.probes if not p.arms or arm in p.arms)
    return {name: event for name, event in events if event is not None}


def kernel_values(text: str) -> list[str]:
    """Return the names of the kernel values that a text uses.

    A name has the form NAME (a symbol's address), offset:STRUCT.MEMBER, or sizeof:STRUCT. A member
    may be an element of an array, as in offset:lruvec.lists[2].
    """
    return [symbol or layout for symbol, layout in _VALUE.findall(text)]


def workload_of(lesson: Lesson, name: str) -> Workload:
    """Return the workload of that name.

    Raises:
        InputError: there is no such workload; the remedy lists the workloads.
    """
    if name not in lesson.workloads:
        raise InputError(
            f"there is no workload '{name:.60}'.",
            remedy=f"Choose from: {', '.join(lesson.workloads)}.",
        )
    return lesson.workloads[name]


def substitute(text: str, symbols: Mapping[str, int], *, comm: str = "") -> str:
    """Replace {sym:NAME}, {offset:STRUCT.MEMBER}, {sizeof:STRUCT} and {comm}.

    Args:
        symbols: addresses, offsets and sizes, by the names that kernel_values() returns.
        comm: glob of the workload's threads.

    Raises:
        KernelError: the kernel has no such symbol, structure or member.
    """

    def value(match: re.Match[str]) -> str:
        symbol, layout = match.groups()
        found = symbols.get(symbol or layout)
        if found is None:
            what = f"symbol '{symbol}'" if symbol else f"'{layout}'"
            raise KernelError(
                f"the kernel has no {what}, which a probe of the lesson needs.",
                remedy="Use `arms:` to restrict the probe to the arms whose kernels have it, or "
                "`bases:` for another event.",
            )
        return f"0x{found:x}" if symbol else str(found)

    return _VALUE.sub(value, text).replace("{comm}", comm)


def unreplaced(text: str) -> list[str]:
    """Return the braces in a text that substitute() does not replace."""
    return re.findall(r"\{[^}]*\}?", _VALUE.sub("", text).replace("{comm}", ""))


def filled(text: str, values: Mapping[str, int]) -> str:
    """Replace each {name} by its value.

    Raises:
        InputError: a name has no value, or braces do not match.
    """
    try:
        return text.format(**values)
    except (KeyError, IndexError, ValueError) as error:
        raise InputError(
            f"'{text:.80}' cannot be filled in: it names a value that does not exist, or its "
            f"braces do not match ({error.args[0]!s:.60}).",
            remedy=f"These names have values: {', '.join(values) or 'none'}. Run ./duet lint.",
        ) from None


def command(workload: Workload, params: Mapping[str, int]) -> str:
    """Return the workload's command line."""
    words = [filled(workload.run, params)]
    words += [filled(more, params) for name, more in workload.optional.items() if params.get(name)]
    return " ".join(words)


def setup_lines(
    workload: Workload, params: Mapping[str, int], lacking: Collection[str] = ()
) -> list[str]:
    """Return plan lines that prepare the run: first commands, then writes to files.

    Writes come last, because a file may be in a filesystem that a command mounts.

    Args:
        lacking: knobs that the kernel lacks; writes of their values are left out.
    """
    lines = [f"setup {filled(line, params)}" for line in workload.setup]
    writes = [w for w in workload.writes if not any(f"{{{name}}}" in w for name in lacking)]
    return lines + [f"write {filled(line, params)}" for line in writes]


def arm_lines(lesson: Lesson, arm: str) -> list[str]:
    """Return plan lines that write an arm's settings.

    They come first, so that a workload's preparation already runs with them.
    """
    return [f"write {line}" for one in lesson.arms if one.name == arm for line in one.writes]


def run_buffer_kb(lesson: Lesson, workload: Workload) -> int:
    """Return the ring buffer size of a run on the count clock, whose events stay in the guest.

    The 8 MiB of a live run are enough for some 200,000 events, which a busy workload causes in a
    second or less. So the buffer here is larger: a quarter of the memory that is free beside the
    scratch disk, which is also in memory. The buffer is never larger than
    Limits.transcript_bytes, because a session keeps no more than this of a run.
    """
    free_mb = max(lesson.memory_mb - workload.scratch_mb, 0)
    return min(max(free_mb * 1024 // BUFFER_SHARE, LIVE_BUFFER_KB), BUFFER_MAX_KB)


def _explains(event: Event, params: Mapping[str, int]) -> bool:
    """Return whether no knob exceeds its limit in the event's `explain_max`."""
    return all(params.get(name, 0) <= most for name, most in event.explain_max.items())


def boot_cmdline(lesson: Lesson, params: Mapping[str, int]) -> tuple[str, ...]:
    """Return the kernel parameters that the knobs set."""
    return tuple(
        filled(p.cmdline, {"value": params[name]}) for name, p in lesson.params.items() if p.cmdline
    )


def plan_text(
    lesson: Lesson,
    arm: str,
    workload_name: str,
    params: Mapping[str, int],
    symbols: Mapping[str, int],
    *,
    traced: bool = True,
    at_boot: bool = False,
    autostart: bool = True,
    buffer_kb: int | None = None,
    probes: frozenset[str] | None = None,
    before: Sequence[str] = (),
) -> str:
    """Return the whole plan for one run on one arm.

    Args:
        params: checked values (LessonFolder.check_params).
        symbols: values of this arm's kernel, by the names that kernel_values() returns.
        traced: False for runs that measure.
        at_boot: whether the plan is passed through fw_cfg, starts at boot, and keeps events in the
            guest until the end. The count clock requires such a plan, because it allows no input
            from the host during a run.
        autostart: for a plan at boot: if False, the workload waits for START, so that a lens can
            attach first. Such a run does not repeat exactly.
        buffer_kb: ring buffer per CPU in KiB; None for LIVE_BUFFER_KB or, with at_boot,
            run_buffer_kb().
        probes: names of probes to enable if this arm has them; None for the probes of explain runs.
        before: lines that precede the workload's own preparation.
    """
    workload = workload_of(lesson, workload_name)
    run_kb = run_buffer_kb(lesson, workload) if at_boot else LIVE_BUFFER_KB
    deadline_s = duration_s(lesson, params, USUAL_S) + DEADLINE_SLACK_S
    lines = ["plan 1", f"deadline_ms {deadline_s * 1000}"]
    base = base_of(lesson, arm)
    lacking = [name for name, param in lesson.params.items() if base in param.absent_on]
    lines += [*before, *arm_lines(lesson, arm), *setup_lines(workload, params, lacking)]
    if traced:
        lines += [f"buffer_kb {buffer_kb or run_kb}", f"drain {'end' if at_boot else 'live'}"]
        there = probes_of(lesson, arm)
        if probes is None:
            usual = (probe.name for probe in lesson.probes if probe.explain)
            probes = frozenset(n for n in usual if n in there and _explains(there[n], params))
        chosen = [event for name, event in there.items() if name in probes]
        lines += [f"probe {substitute(e.define, symbols)}" for e in chosen if e.define]
        for event in chosen:
            chooser = substitute(event.filter or "", symbols, comm=workload.comm)
            lines.append(f"event {event.event} {chooser}".rstrip())
    else:
        lines.append("trace off")
    if at_boot and autostart:
        lines.append("autostart")
    if workload.input:
        lines.append("input host")
    lines.append(f"run {command(workload, params)}")
    return "\n".join(lines) + "\n"


# Render a lesson's mail, terms and recap as plain HTML, for browsers without scripts.


def outline(folder: LessonFolder) -> str:
    """Return HTML with the mail's author, terms, explanation and questions, all escaped."""
    return "\n".join([*_mail(folder), *_terms(folder), *_recap(folder)])


def _mail(folder: LessonFolder) -> Iterator[str]:
    mail = next(iter(folder.lesson.mails.values()), None)
    if mail is not None:
        yield f"<p>{escape(mail.author)}, {escape(mail.date)}: {_subject(mail)}</p>"


def _subject(mail: Mail) -> str:
    subject = escape(mail.subject)
    if not mail.url:
        return f"{subject} (we know of no archive with an address for it)"
    return f'<a href="{escape(mail.url)}">{subject}</a>'


def _terms(folder: LessonFolder) -> Iterator[str]:
    try:
        terms = [one.term for one in explained(folder)]
    except InputError:  # `duet lint` reports this error
        terms = []
    if terms:
        rows = (f"<dt><b>{escape(t.name)}</b></dt><dd>{escape(t.says)}</dd>" for t in terms)
        yield f"<h2>Words</h2>\n<dl>{''.join(rows)}</dl>"


def _recap(folder: LessonFolder) -> Iterator[str]:
    lesson = folder.lesson
    if lesson.explain is not None:
        ours = " ".join(escape(sentence) for sentence in lesson.explain.ours)
        yield f"<h2>In three sentences</h2>\n<p><b>{escape(lesson.explain.ask)}</b></p>"
        yield f"<details><summary>Ours</summary><p>{ours}</p></details>"
    if lesson.quiz:
        yield f"<h2>Questions</h2>\n<ol>{''.join(map(_question, lesson.quiz))}</ol>"


def _question(one: QuizQuestion) -> str:
    choices = f" ({escape(' / '.join(one.choices))})" if one.choices else ""
    return (
        f"<li>{escape(one.ask)}{choices}<details><summary>Answer</summary>"
        f"<p><b>{escape(right_answer(one))}.</b> {escape(one.why)}</p></details></li>"
    )


def right_answer(one: QuizQuestion) -> str:
    """Return the right answer: the text of a choice, or a number with its unit."""
    if one.choices and one.right is not None:
        return one.choices[one.right - 1]
    return f"{one.number:,.10g} {one.unit}".rstrip()


# Translate an act, with which a viewer affects a live run, into an input line for the workload.
# Pure.


def act_line(
    lesson: Lesson, workload: str, name: str, value: int, params: Mapping[str, int]
) -> str:
    """Return the input line that makes the workload perform an act.

    Args:
        workload: name of the run's workload.
        params: the run's knobs; an act's largest value may be the value of a knob.

    Raises:
        InputError: the workload has no such act, or the value is out of range.
    """
    acts = {n: act for n, act in lesson.acts.items() if act.workload == workload}
    act = acts.get(name)
    if act is None:
        raise InputError(
            f"the workload {workload} has no act '{name:.60}'.",
            remedy=f"Choose from: {', '.join(acts)}."
            if acts
            else "This workload has no acts. Choose another workload.",
        )
    most = params[act.max_param] if act.max_param else act.max
    if value < act.min or (most is not None and value > most):
        raise InputError(
            f"{name} takes a number from {act.min} to {most}, not {value}.",
            remedy="Choose a number in that range.",
        )
    return act.say.format(value=value)
