# SPDX-License-Identifier: GPL-2.0-or-later
"""What `duet challenge` prints with `--json`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from duet.cli.results.keys import key


@dataclass(frozen=True, slots=True)
class JudgedLine:
    """One thing that was judged."""

    kind: str = key("goal, rule, without, order or stress")
    says: str = key()
    wanted: str = key("limits of a goal or rule")
    found: str = key()
    holds: bool | None = key("null: not judged here")


@dataclass(frozen=True, slots=True)
class ListedChallenge:
    """A challenge of the lesson."""

    name: str
    title: str
    ask: str
    hint: str
    arm: str
    aim: str = key("better or break")


@dataclass(frozen=True, slots=True)
class ChallengeResult:
    """Of `duet challenge`."""

    lesson: str
    challenges: Sequence[ListedChallenge] = key("without --patch")
    challenge: str | None = key("that was judged, with --patch")
    arm: str | None = key("the changed one")
    met: bool | None = key()
    because: str = key()
    lines: Sequence[JudgedLine] = key()
    seconds: float = key("of building, measuring and stress")
    console: str | None = key("path; of the debug kernel")
