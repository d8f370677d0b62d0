# SPDX-License-Identifier: GPL-2.0-or-later
"""A lesson's probes and workload become the plan text that the agent carries out.

The agent knows no lesson: everything is substituted here. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from duet.errors import InputError, KernelError
from duet.lessons.roles import duration_s
from duet.lessons.schema import Lesson, Probe, Workload

SYMBOL = re.compile(r"\{sym:([A-Za-z0-9_.]+)\}")
USUAL_S = 60
"""Seconds that a workload may run whose lesson has no knob for it."""
DEADLINE_SLACK_S = 120
"""The agent ends a workload this long after its own time; emulated guests are slow."""

LIVE_BUFFER_KB = 8192
"""Ring buffer per CPU of a run that is forwarded as it goes."""
BUFFER_SHARE = 4
BUFFER_MAX_KB = 256 << 10


def probes_of(lesson: Lesson, arm: str) -> tuple[Probe, ...]:
    """The probes that apply to an arm."""
    return tuple(p for p in lesson.probes if not p.arms or arm in p.arms)


def workload_of(lesson: Lesson, name: str) -> Workload:
    """The workload of that name.

    Raises:
        InputError: there is none; the sentence lists those there are.
    """
    if name not in lesson.workloads:
        raise InputError(
            f"there is no workload '{name:.60}'.",
            remedy=f"Choose from: {', '.join(lesson.workloads)}.",
        )
    return lesson.workloads[name]


def substitute(text: str, symbols: Mapping[str, int], *, comm: str = "") -> str:
    """Replace {sym:NAME} by its address and {comm} by the workload's glob.

    Raises:
        KernelError: the kernel has no such symbol.
    """

    def address(match: re.Match[str]) -> str:
        name = match.group(1)
        if name not in symbols:
            raise KernelError(
                f"the kernel has no symbol '{name}', which a probe of the lesson needs.",
                remedy="Restrict the probe to the arms that have it, with `arms:`.",
            )
        return f"0x{symbols[name]:x}"

    return SYMBOL.sub(address, text).replace("{comm}", comm)


def filled(text: str, values: Mapping[str, int]) -> str:
    """Each {name} replaced by its value.

    Raises:
        InputError: a name that has no value, or braces that do not match.
    """
    try:
        return text.format(**values)
    except (KeyError, IndexError, ValueError) as error:
        raise InputError(
            f"'{text:.80}' cannot be filled in: {error.args[0]!s:.60} has no value.",
            remedy=f"Values are there of: {', '.join(values) or 'none'}. Run ./duet lint.",
        ) from None


def command(workload: Workload, params: Mapping[str, int]) -> str:
    """The workload's argv as one line."""
    words = [filled(workload.run, params)]
    words += [filled(more, params) for name, more in workload.optional.items() if params.get(name)]
    return " ".join(words)


def setup_lines(workload: Workload, params: Mapping[str, int]) -> list[str]:
    """What the agent does before the run: commands, then values of files.

    Values come last, so that a file of a filesystem that a command has mounted can be named.
    """
    lines = [f"setup {filled(line, params)}" for line in workload.setup]
    return lines + [f"write {filled(line, params)}" for line in workload.writes]


def run_buffer_kb(lesson: Lesson, workload: Workload) -> int:
    """The ring buffer of a run on the count clock, whose events stay in the guest to the end.

    The 8 MiB of a live run hold some 200,000 events, a second or less of a busy workload. So it
    is a quarter of the memory that the scratch disk, which lies in memory too, leaves; and no
    more than a session keeps of one run (Limits.transcript_bytes).
    """
    free_mb = max(lesson.memory_mb - workload.scratch_mb, 0)
    return min(max(free_mb * 1024 // BUFFER_SHARE, LIVE_BUFFER_KB), BUFFER_MAX_KB)


def _explains(probe: Probe, params: Mapping[str, int]) -> bool:
    """Whether a run that is looked at has it on: not where it would tell of millions."""
    return probe.explain and all(params.get(n, 0) <= most for n, most in probe.explain_max.items())


def boot_cmdline(lesson: Lesson, params: Mapping[str, int]) -> tuple[str, ...]:
    """Kernel parameters that knobs ask for."""
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
    """The whole plan for one run on one arm.

    Args:
        params: checked values (LessonFolder.check_params).
        symbols: name -> address of this arm's kernel.
        traced: False for measure runs.
        at_boot: the plan goes by fw_cfg, starts by itself, keeps events until the end
            (the count clock, where no host input may follow).
        autostart: of a plan at boot; False: it waits for START, so that a lens can be attached
            first, and a run repeats only nearly.
        buffer_kb: ring buffer per CPU in KiB; None is LIVE_BUFFER_KB or, with at_boot,
            run_buffer_kb().
        probes: exactly those to switch on, as far as this arm has them; None: those that explain.
        before: lines ahead of the workload's own preparation.
    """
    workload = workload_of(lesson, workload_name)
    run_kb = run_buffer_kb(lesson, workload) if at_boot else LIVE_BUFFER_KB
    deadline_s = duration_s(lesson, params, USUAL_S) + DEADLINE_SLACK_S
    lines = ["plan 1", f"deadline_ms {deadline_s * 1000}"]
    lines += [*before, *setup_lines(workload, params)]
    if traced:
        lines += [f"buffer_kb {buffer_kb or run_kb}", f"drain {'end' if at_boot else 'live'}"]
        chosen = [
            p
            for p in probes_of(lesson, arm)
            if (_explains(p, params) if probes is None else p.name in probes)
        ]
        lines += [f"probe {substitute(p.define, symbols)}" for p in chosen if p.define]
        for probe in chosen:
            chooser = substitute(probe.filter or "", symbols, comm=workload.comm)
            lines.append(f"event {probe.event} {chooser}".rstrip())
    else:
        lines.append("trace off")
    if at_boot and autostart:
        lines.append("autostart")
    if workload.input:
        lines.append("input host")
    lines.append(f"run {command(workload, params)}")
    return "\n".join(lines) + "\n"
