# SPDX-License-Identifier: GPL-2.0-or-later
"""What `duet measure --check-hosts` prints with `--json`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from duet.cli.results.keys import key


@dataclass(frozen=True, slots=True)
class ComparedFigure:
    """The figure of one run on two hosts."""

    arm: str
    metric: str
    unit: str
    run: str
    values: Sequence[float | None]
    equal: bool


@dataclass(frozen=True, slots=True)
class ComparedHosts:
    """One comparison on two hosts."""

    comparison: str
    nodes: Sequence[str]
    equal: bool
    trouble: Sequence[str] = key("why figures are not compared")
    figures: Sequence[ComparedFigure] = key()


@dataclass(frozen=True, slots=True)
class AgreementResult:
    """Of `duet measure --check-hosts`."""

    equal: bool = key("bool")
    sentence: str = key()
    comparisons: Sequence[ComparedHosts] = key()
