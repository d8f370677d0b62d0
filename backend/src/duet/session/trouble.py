# SPDX-License-Identifier: GPL-2.0-or-later
"""Create errors from the failure messages of an agent or a workload. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence

from duet.base.errors import KernelError
from duet.session.events import LaneResult, Line
from duet.wire import GuestError

OUT_OF_MEMORY = 9
LONGEST = 400
"""Maximum number of characters that we show of a guest's sentence. A broken recording may contain
anything."""
DEADLINE = "duet-agent: the plan's deadline has passed"
"""Start of the line that the agent writes when it ends a workload (vm-images/agent/run.c)."""
KERNEL_SAYS = re.compile(r"^\[ *[\d.]+\] \w+: error: (.+?)\s*$", re.MULTILINE)
"""An entry of tracefs/error_log (Documentation/trace/ftrace.rst)."""
REFUSED_PROBE = re.compile(
    r"^The probe \S+ \(`[pr]\d*:\S+ (?P<function>[\w.]+).*does not resolve.*: (?P<error>[^:]+)\.$"
)
"""A sentence from vm-images/agent/tracefs.c."""
COUNT = re.compile(r"[0-9]{1,18}")
RATE = re.compile(r"[0-9]{1,18}(\.[0-9]{1,18})?([eE][+-]?[0-9]{1,2})?")
SHORTEST = 10
"""Minimum number of characters of a sentence."""
LONGEST_DETAIL = 8192
ANY_CURE = "Fix what the workload reports, and measure again."
CURES = {
    "No space left on device": "Reduce the workload, or raise its scratch_mb and the "
    "size in its setup in lesson.yaml.",
    "Cannot allocate memory": "Reduce the workload, or raise memory_mb in lesson.yaml.",
}
"""Text of a workload's error (strerror) -> remedy."""


def agent_trouble(guest_error: GuestError, console: str) -> KernelError:
    """Return the error that the agent reports, and add the kernel's reason and a better remedy.

    Args:
        console: the guest's console, for the detail.
    """
    own = guest_error.detail[:LONGEST_DETAIL]
    detail = f"{console}\n{own}"  # the agent's detail comes last, because a terminal shows the end
    sentence, remedy = guest_error.sentence, guest_error.remedy
    if _is_text(sentence) and len(sentence) >= SHORTEST and _is_text(remedy):
        remedy = _probe_remedy(sentence) or remedy
        return KernelError(_with_kernels_words(sentence, own), remedy=remedy, detail=detail)
    return KernelError(
        "the guest's agent failed, but its message is not readable text.",
        remedy="Start the run again. If this is a recording, download or record the file again.",
        detail=f"{(guest_error.sentence, guest_error.remedy)!a:.2000}\n{detail}",
    )


def _with_kernels_words(sentence: str, error_log: str) -> str:
    """Return the sentence with the last entry of tracefs/error_log appended, if there is one."""
    said = KERNEL_SAYS.findall(error_log)
    if not said or not _is_text(said[-1]):
        return sentence
    return f"{sentence.rstrip('.')}; the kernel says: {said[-1].strip().rstrip('.')}."


def _probe_remedy(sentence: str) -> str | None:
    """Return the remedy for a refused kprobe event; None if the sentence reports another error."""
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
            f"If this arm's System.map contains {function}, the kernel forbids probes there "
            "(notrace, noinstr or kprobes code): probe a function that calls it. ./duet lint "
            "names the reason."
        )
    return None


def workload_figures(
    arm: str, pattern: str | None, lines: Sequence[Line]
) -> tuple[int | None, float | None]:
    """Return the workload's count and rate from its last line that matches; None if no line does.

    Args:
        pattern: regular expression with groups `ops` and `per_s`. If None, there are no figures.

    Raises:
        KernelError: the matched text is not a plausible number.
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
        f"the workload on {arm} reports {ops:.20} operations and {per_s:.20} per second, which are "
        "not plausible numbers.",
        remedy="Start the run again. If this is a recording, download or record the file again.",
    )


def _is_text(said: str) -> bool:
    return bool(said.strip()) and said.isprintable() and len(said) <= LONGEST


def workload_trouble(lane: LaneResult) -> KernelError | None:
    """Return an error with the message of a failed workload; None if the workload succeeded."""
    if not lane.status:
        return None
    errors = [line.text for line in lane.lines if line.stream == "err" and line.text.strip()]
    said = errors or [line.text for line in lane.lines if line.text.strip()]
    # Show the first line with a known remedy, else the last line.
    known = [(line, cure) for line in said for cause, cure in CURES.items() if cause in line]
    line, cure = known[0] if known else (said[-1] if said else "", ANY_CURE)
    line = " ".join(line.split())  # a tab is not printable for _is_text()
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
