# SPDX-License-Identifier: GPL-2.0-or-later
"""Whether a change meets a challenge, from what was measured and what a debug kernel said. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from duet.errors import KernelError
from duet.lessons.schema import Challenge
from duet.measure.claims import broken, figure, wanted
from duet.measure.model import Table
from duet.trials.challenge.litmus import swapped, witness
from duet.trials.challenge.order import barriers_gone
from duet.trials.challenge.plans import limits
from duet.trials.check.console import Verdict

SHOWN = 2
"""Complaints in a line; the console has all."""
STRESS = "the stress on a debug kernel finds nothing (KASAN, lockdep, debug objects)"
WITHOUT = "the change adds nothing of what the challenge excludes"
ORDER = "no barrier between memory accesses is taken away"


@dataclass(frozen=True, slots=True)
class Line:
    """One thing that was judged.

    Args:
        says: what was to hold, in words.
        wanted: the limits; empty for all but goals and rules.
        found: the figure, or what was found.
        holds: None: it could not be judged here.
    """

    kind: Literal["goal", "rule", "without", "order", "stress"]
    says: str
    wanted: str
    found: str
    holds: bool | None


@dataclass(frozen=True, slots=True)
class Judgement:
    """What came of a change.

    Args:
        met: the challenge is met; what was not judged counts as not met.
        because: one sentence.
    """

    lines: tuple[Line, ...]
    met: bool
    because: str


def judge(
    challenge: Challenge,
    arm: str,
    diff: str,
    tables: Mapping[str, Table],
    stress: Verdict | str,
) -> Judgement:
    """Decide.

    Args:
        arm: the changed one.
        diff: of the change alone.
        tables: text of a claim (`plans.tables_of`) -> where it was measured.
        stress: what the debug kernel said, or why none ran.
    """
    lines = []
    for kind, goal in limits(challenge):
        claim = goal.claim(arm)
        table = tables.get(claim.model_dump_json())
        if table is None:
            found, holds = "not measured", None
        elif arm in table.errors:
            error = table.errors[arm]  # the guest's fault, or the host's
            found = error.sentence.rstrip(".")
            holds = False if isinstance(error, KernelError) else None
        else:
            found, holds = figure(claim, table), broken(claim, table) is None
        as_kind: Literal["goal", "rule"] = "goal" if kind == "goal" else "rule"
        lines.append(Line(as_kind, goal.says, wanted(claim), found, holds))
    for pattern in challenge.without:
        added = (one for one in diff.splitlines() if one[:1] == "+" and re.search(pattern, one))
        if (first := next(added, None)) is not None:
            lines.append(Line("without", WITHOUT, "", first[1:].strip(), False))
    if gone := barriers_gone(diff):
        lines.append(_order(challenge, gone))
    lines.append(_stress(stress))
    return _decide(challenge, tuple(lines))


def _order(challenge: Challenge, gone: tuple[str, ...]) -> Line:
    """What a missing barrier does, by a model: an x86 guest runs as before."""
    names, order = ", ".join(gone), challenge.order
    if order is None or not order.barriers & set(gone):
        said = f"{names} is gone; an x86 guest runs as before, so no run shows it"
        return Line("order", ORDER, "", said, None)
    steps = witness(order, gone)
    if steps is None:
        said = f"modelled: {names} is gone, and no order of the accesses breaks it"
        return Line("order", order.says, "", said, None)
    pair = swapped(order, steps)
    why = f", so `{pair[0].access}` may come before `{pair[1].access}`" if pair else ""
    said = f"modelled: {names} is gone{why}; then {'; '.join(map(str, steps))}"
    return Line("order", order.says, "", said, False)


def _stress(stress: Verdict | str) -> Line:
    if isinstance(stress, str):
        return Line("stress", STRESS, "", stress, None)
    done = ", ".join(f"{n} {what}" for what, n in stress.work.items())
    rounds = "it did not come to its end" if stress.rounds is None else f"{stress.rounds} rounds"
    said = [rounds, *([done] if done else [])]
    said += [one.strip() for one in (*stress.complaints, *stress.failures)[:SHOWN]]
    return Line("stress", STRESS, "", "; ".join(said), stress.clean)


def _decide(challenge: Challenge, lines: tuple[Line, ...]) -> Judgement:
    failed = [line for line in lines if line.holds is False]
    open_ = [line for line in lines if line.holds is None]
    if challenge.aim == "break":
        if failed:
            return Judgement(lines, True, f"It breaks: {_short(failed[0])}.")
        because = "Nothing that was looked at is broken"
        if open_:
            because += f", and not all could be judged: {_short(open_[0])}"
        return Judgement(lines, False, f"{because}.")
    if failed:
        worst = next((line for line in failed if line.kind != "goal"), failed[0])
        which = "The goal is not reached" if worst.kind == "goal" else "It is not right"
        return Judgement(lines, False, f"{which}: {_short(worst)}.")
    if open_:
        return Judgement(lines, False, f"Not all could be judged: {_short(open_[0])}.")
    return Judgement(lines, True, "All goals are reached, and nothing was found broken.")


def _short(line: Line) -> str:
    if line.kind in ("goal", "rule"):
        return f"{line.says} ({line.found}; wanted {line.wanted})"
    return line.found.rstrip(".")
