# SPDX-License-Identifier: GPL-2.0-or-later
"""A lesson's claims against its recorded measured tables. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from duet.guests import Clock
from duet.lessons.schema import Claim, Lesson
from duet.measure.plan import headline
from duet.stream.messages import Measured


def table_for(claim: Claim, tables: list[Measured]) -> Measured | None:
    """The table that was measured under the claim's clock, workload and knobs."""
    for table in tables:
        same = all(table.params.get(name) == value for name, value in claim.params.items())
        same = same and claim.workload in (None, table.workload) and table.clock == claim.clock
        arms = {row.arm for row in table.rows}
        if same and {claim.arm, claim.to} <= arms:
            return table
    return None


def ratio_of(claim: Claim, table: Measured) -> float | None:
    """The claim's arm over the other; None when a row has no number."""
    rates = {row.arm: row.ops_per_s_median for row in table.rows}
    one, other = rates.get(claim.arm), rates.get(claim.to or claim.arm)
    return one / other if one is not None and other else None


def broken_claims(lesson: Lesson, tables: list[Measured]) -> Iterator[tuple[int, str]]:
    """(index, sentence) of each claim that does not hold on, or is missing from, the tables.

    A claim about something else than the headline, at another shift than 0, or about an arm that
    no table has (it is newer than the recording) is checked on live guests only.
    """
    recorded = {row.arm for table in tables for row in table.rows}
    for index, claim in enumerate(lesson.claims):
        workload = claim.workload or next(iter(lesson.workloads))
        headline_metric = headline(lesson, workload, Clock(claim.clock))
        if claim.metric != headline_metric or claim.shift or not {claim.arm, claim.to} <= recorded:
            continue
        said = f"{claim.arm} to {claim.to}, {claim.clock} clock, {claim.params}"
        table = table_for(claim, tables)
        if table is None:
            yield index, f"no recorded table was measured for it ({said})."
            continue
        ratio = ratio_of(claim, table)
        if ratio is None:
            yield index, f"the recorded table has no numbers for it ({said})."
        elif claim.ratio_max is not None and ratio > claim.ratio_max:
            yield index, f"at most {claim.ratio_max} is claimed, {ratio:.2f} was measured ({said})."
        elif claim.ratio_min is not None and ratio < claim.ratio_min:
            yield index, f"at least {claim.ratio_min} is claimed, {ratio:.2f} measured ({said})."
