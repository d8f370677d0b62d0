# SPDX-License-Identifier: GPL-2.0-or-later
"""What `duet measure --check-hosts` prints."""

from __future__ import annotations

from collections.abc import Sequence

from duet.base.errors import InfraError
from duet.cli.output import document
from duet.cli.results.agreement import AgreementResult, ComparedFigure, ComparedHosts
from duet.measure.model import host_words
from duet.runs.pooled.merge import Agreement, difference_words
from duet.runs.pooled.schedule import Job

MAX_SHOWN = 20
"""Figures that differ, in the text; --json has all."""


def report_agreement(
    found: Sequence[Agreement], jobs: Sequence[Job], as_json: bool
) -> tuple[str, int]:
    """Text and exit code: 0 if all is equal, else that of trouble of hosts."""
    code = 0 if all(one.equal for one in found) else InfraError.exit_code
    if as_json:
        return document(result_of(found, verdict(found))), code
    lines = [verdict(found), ""]
    for one in found:
        lines += [f"{one.comparison}: {sentence}" for sentence in one.trouble]
        apart = [figure for figure in one.figures if not figure.equal]
        lines += [f"DIFFERS: {difference_words(one, figure)}" for figure in apart[:MAX_SHOWN]]
        if len(apart) > MAX_SHOWN:
            lines.append(f"DIFFERS: and {len(apart) - MAX_SHOWN} more; --json has all.")
    if len(lines) > 2:
        lines.append("")
    facts = [job.facts() for job in jobs if job.result is not None and job.error is None]
    return "\n".join([*lines, "Hosts:", *(f"  {host_words(one)}" for one in facts)]) + "\n", code


def verdict(found: Sequence[Agreement]) -> str:
    """One sentence about all comparisons."""
    figures = [figure for one in found for figure in one.figures]
    apart = sum(not figure.equal for figure in figures)
    if any(one.trouble for one in found):
        return "No answer: some comparisons could not be compared between hosts."
    if apart:
        return f"NOT EQUAL: {apart} of {len(figures)} figures differ between hosts."
    hosts = ", ".join(" and ".join(nodes) for nodes in dict.fromkeys(one.nodes for one in found))
    return f"Equal to the instruction: {len(figures)} figures, each the same on {hosts}."


def result_of(found: Sequence[Agreement], sentence: str) -> AgreementResult:
    """For programs."""
    return AgreementResult(
        equal=all(one.equal for one in found),
        sentence=sentence,
        comparisons=[
            ComparedHosts(
                comparison=one.comparison,
                nodes=list(one.nodes),
                equal=one.equal,
                trouble=list(one.trouble),
                figures=[
                    ComparedFigure(
                        arm=figure.arm,
                        metric=figure.metric,
                        unit=figure.unit,
                        run=figure.run,
                        values=list(figure.values),
                        equal=figure.equal,
                    )
                    for figure in one.figures
                ],
            )
            for one in found
        ],
    )
