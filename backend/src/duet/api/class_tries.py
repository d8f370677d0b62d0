# SPDX-License-Identifier: GPL-2.0-or-later
"""What a class tried, for its report: without names, as JSON and as rows of its table. Pure."""

from __future__ import annotations

from duet.api import bodies
from duet.classes.try_records import TryFacts


def try_of(facts: TryFacts) -> bodies.ReportTry:
    """A run that members asked for."""
    result = facts.result or {}
    return bodies.ReportTry(
        number=facts.number,
        lesson=facts.lesson,
        step=facts.step,
        makers=len(facts.makers),
        turned=facts.turned,
        summary=facts.summary,
        workload=facts.workload,
        clock=facts.clock,
        run=facts.run_id,
        state=facts.state,
        sentence=facts.sentence,
        title=result.get("title", ""),
        unit=result.get("unit", ""),
        values={lane["arm"]: lane["value"] for lane in result.get("lanes", [])},
        ratio=result.get("ratio"),
    )


def try_row(one: bodies.ReportTry) -> list[str | int]:
    """Its row in the table of answers: the number is the answer, what was changed the text."""
    changes = [f"{name}={value}" for name, value in one.turned.items()]
    changed = "; ".join([*changes, *([one.summary] if one.summary else [])]) or "as the step has it"
    values = ", ".join(f"{arm} {value:.6g}" for arm, value in one.values.items())
    ratio = "" if one.ratio is None else f"{one.ratio:.4g}"
    label = f"{one.title}: {values} {one.unit}" if one.values else one.sentence or one.state
    return [one.step, f"try-{one.number}", changed, "", "try", ratio, label, one.makers]
