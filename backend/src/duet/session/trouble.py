# SPDX-License-Identifier: GPL-2.0-or-later
"""An agent or a workload that did not end well, in its own words. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence

from duet.base.errors import KernelError
from duet.session.events import LaneResult, Line
from duet.wire import GuestError

OUT_OF_MEMORY = 9
LONGEST = 400
"""Of what a guest says, in a sentence; out of a spoilt recording it may be anything."""
DEADLINE = "duet-agent: the plan's deadline has passed"
"""Begins the line of an agent that ends a workload (vm-images/agent/run.c)."""
KERNEL_SAYS = re.compile(r"^\[ *[\d.]+\] \w+: error: (.+?)\s*$", re.MULTILINE)
"""An entry of tracefs/error_log (Documentation/trace/ftrace.rst)."""
REFUSED_PROBE = re.compile(
    r"^The probe \S+ \(`[pr]\d*:\S+ (?P<function>[\w.]+).*does not resolve.*: (?P<error>[^:]+)\.$"
)
"""A sentence of vm-images/agent/tracefs.c."""
COUNT = re.compile(r"[0-9]{1,18}")
RATE = re.compile(r"[0-9]{1,18}(\.[0-9]{1,18})?([eE][+-]?[0-9]{1,2})?")
SHORTEST = 10
"""Fewer characters make no sentence."""
LONGEST_DETAIL = 8192
ANY_CURE = "Mend what it says, and measure again."
CURES = {
    "No space left on device": "Ask for less of the workload, or raise its scratch_mb and the "
    "size in its setup in lesson.yaml.",
    "Cannot allocate memory": "Ask for less of the workload, or raise memory_mb in lesson.yaml.",
}
"""What a workload may say (strerror), and what helps."""


def agent_trouble(guest_error: GuestError, console: str) -> KernelError:
    """What the agent says of itself, if that is a sentence and a remedy."""
    own = guest_error.detail[:LONGEST_DETAIL]
    detail = f"{console}\n{own}"  # a terminal shows the end
    sentence, remedy = guest_error.sentence, guest_error.remedy
    if _is_text(sentence) and len(sentence) >= SHORTEST and _is_text(remedy):
        remedy = _probe_remedy(sentence) or remedy
        return KernelError(_with_kernels_words(sentence, own), remedy=remedy, detail=detail)
    return KernelError(
        "the guest's agent failed, and what it says of that is no text.",
        remedy="Run it again; a recording has to be got or made anew.",
        detail=f"{(guest_error.sentence, guest_error.remedy)!a:.2000}\n{detail}",
    )


def _with_kernels_words(sentence: str, error_log: str) -> str:
    """The sentence, and what tracefs/error_log says last."""
    said = KERNEL_SAYS.findall(error_log)
    if not said or not _is_text(said[-1]):
        return sentence
    return f"{sentence.rstrip('.')}; the kernel says: {said[-1].strip().rstrip('.')}."


def _probe_remedy(sentence: str) -> str | None:
    """What helps where a kprobe event was refused; None: it is about something else."""
    match = REFUSED_PROBE.search(sentence)
    if match is None:
        return None
    function = match["function"]
    if match["error"] == "No such file or directory":
        return (
            f"This kernel has no function {function}; the compiler may have inlined it. Correct "
            "the name, or probe a function that calls it."
        )
    if match["error"] == "Invalid argument":
        return (
            f"If {function} stands in this arm's System.map, the kernel refuses probes there "
            "(notrace, noinstr or kprobes code): probe a function that calls it. ./duet lint "
            "names the reason."
        )
    return None


def workload_figures(
    arm: str, pattern: str | None, lines: Sequence[Line]
) -> tuple[int | None, float | None]:
    """The workload's own count and rate, from its last line that has them; None: no line has.

    Raises:
        KernelError: what stands there is no number that a workload can mean.
    """
    if pattern is None:
        return None, None
    found = (match for line in reversed(lines) if (match := re.search(pattern, line.text)))
    match = next(found, None)
    if match is None:
        return None, None
    ops, per_s = match["ops"], match["per_s"]
    if COUNT.fullmatch(ops) and RATE.fullmatch(per_s):
        return int(ops), float(per_s)
    raise KernelError(
        f"the workload on {arm} says that it did {ops:.20} operations, {per_s:.20} a second, and "
        "these are no numbers of it.",
        remedy="Run it again; a recording has to be got or made anew.",
    )


def _is_text(said: str) -> bool:
    return bool(said.strip()) and said.isprintable() and len(said) <= LONGEST


def workload_trouble(lane: LaneResult) -> KernelError | None:
    """A workload that did not end well, in its own words; None when it did."""
    if not lane.status:
        return None
    errors = [line.text for line in lane.lines if line.stream == "err" and line.text.strip()]
    said = errors or [line.text for line in lane.lines if line.text.strip()]
    # Of a cause that has a remedy the first line is shown, of others the last word.
    known = [(line, cure) for line in said for cause, cure in CURES.items() if cause in line]
    line, cure = known[0] if known else (said[-1] if said else "", ANY_CURE)
    line = " ".join(line.split())  # a tab is no reason to leave its words out
    words = f": {line}" if _is_text(line) else ""
    if lane.status > 0:
        how, remedy = f"ended with status {lane.status}", cure
    else:
        how = f"was killed by signal {-lane.status}"
        remedy = (
            "The guest may be out of memory: ask for less, or raise memory_mb in lesson.yaml."
            if lane.status == -OUT_OF_MEMORY
            else "Run it again; if it happens again, that kernel has trouble with this workload."
        )
    return KernelError(
        f"the workload on {lane.arm} {how}{words}".rstrip(".") + ".",
        remedy=remedy,
        detail="\n".join(line.text for line in lane.lines[-20:]),
    )
