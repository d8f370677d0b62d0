# SPDX-License-Identifier: GPL-2.0-or-later
"""The report of a bisection, for people: Markdown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from duet.measure.compare import format_value
from duet.trials.bisect.history import Commit
from duet.trials.bisect.search import WORDS, Found, Measured, Step


@dataclass(frozen=True, slots=True)
class Question:
    """What was searched for.

    Args:
        metric: its title.
        trial: command line that shows the culprit beside its parent; "": there is no culprit.
    """

    name: str
    good: Commit
    bad: Commit
    command: str
    metric: str
    clock: str
    trial: str = ""


def markdown(question: Question, found: Found) -> str:
    """The whole report."""
    good, bad = question.good, question.bad
    lines = [
        f"# Bisect of {_plain(question.metric)}: {_headline(found)}",
        "",
        f"- good: `{good.short}` {_plain(good.subject)}",
        f"- bad: `{bad.short}` {_plain(bad.subject)}",
        f"- command: `{question.command}`",
        f"- bad is what is worse than good by more than {found.limit:.3g} %"
        f" ({question.clock} clock)",
        *_culprit(found),
        "",
        "| step | commit | subject | good | this | worse by | it is |",
        "| --- | --- | --- | --- | --- | --- | --- |",
        *(_row(step) for step in found.steps),
    ]
    if skipped := [step for step in found.steps if step.answer == "skip"]:
        lines += ["", "Skipped:", ""]
        lines += [f"- `{step.commit.short}`: {_plain(step.measured.why)}" for step in skipped]
    if question.trial:
        lines += ["", "The culprit beside its parent:", "", "```", question.trial, "```"]
    return "\n".join(lines) + "\n"


def _headline(found: Found) -> str:
    if found.culprit is not None:
        return f"{found.culprit.short} ({_plain(found.culprit.subject)})"
    return f"one of {len(found.candidates)} commits"


def _culprit(found: Found) -> Sequence[str]:
    if (culprit := found.culprit) is None:
        named = (f"  - `{one.short}` {_plain(one.subject)}" for one in found.candidates)
        return ["- the first bad commit is one of these; all but the last known one were skipped:",
                *named]  # fmt: skip
    parents = ", ".join(f"`{parent[:12]}`" for parent in culprit.parents)
    merge = "; it is a merge, the first of them is compared" if len(culprit.parents) > 1 else ""
    return [
        f"- first bad commit: `{culprit.id}`, {_plain(culprit.author)}, {culprit.date}",
        f"- its parent: {parents or 'none'}{merge}",
    ]


def _row(step: Step) -> str:
    one = step.measured
    cells = (
        str(step.number) if step.number else "bad",
        f"`{step.commit.short}`",
        _plain(step.commit.subject).replace("|", "\\|"),
        _number(one.good, one),
        _number(one.value, one),
        "" if one.worse is None else f"{one.worse:+.1f} %",
        WORDS[step.answer],
    )
    return f"| {' | '.join(cells)} |"


def _number(value: float | None, one: Measured) -> str:
    return "" if value is None else f"{format_value(value)} {one.unit}".strip()


def _plain(text: str) -> str:
    """Words of a commit, so that Markdown takes them as they stand."""
    for sign in "\\`*_[]<>#":
        text = text.replace(sign, f"\\{sign}")
    return " ".join(text.split())
