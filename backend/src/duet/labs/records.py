# SPDX-License-Identifier: GPL-2.0-or-later
"""What is stored of labs, as plain values, and the chain of hashes that links attempts."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any, Final

FIRST: Final = ""
"""What the first attempt of a chain names as the one before."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """One answer, as it came.

    Args:
        person: `Visitor.key` of who answered.
        number: of this person in this lab, from 1, without a gap.
        answer: as it was sent.
        found: what the server itself saw: figures of a run, lines of a verdict; else empty.
        at_s: Unix time at which it was stored.
        previous: hash of the attempt before; FIRST for number 1.
        sha256: of all other fields.
    """

    lab: str
    person: str
    number: int
    task: str
    answer: dict[str, Any]
    found: dict[str, Any]
    at_s: float
    previous: str
    sha256: str


@dataclass(frozen=True, slots=True)
class Grade:
    """What a person gave an attempt.

    Args:
        attempt: its number.
        by: `Visitor.key` of who graded, or `operator` on the command line.
    """

    lab: str
    person: str
    attempt: int
    points: float
    comment: str
    by: str
    at_s: float


@dataclass(frozen=True, slots=True)
class Participant:
    """Who answers labs here."""

    person: str
    name: str
    since_s: float


def linked(
    previous: str, lab: str, person: str, number: int, task: str,
    answer: dict[str, Any], found: dict[str, Any], at_s: float,
) -> Attempt:  # fmt: skip
    """An attempt with its hash."""
    bare = Attempt(lab, person, number, task, answer, found, at_s, previous, "")
    return Attempt(lab, person, number, task, answer, found, at_s, previous, digest(bare))


def digest(attempt: Attempt) -> str:
    """SHA-256 of an attempt: of its fields as JSON with sorted keys, its own hash left out."""
    tree = asdict(attempt)
    del tree["sha256"]
    text = json.dumps(tree, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def broken(attempts: Iterable[Attempt]) -> str:
    """Where the chain of one person in one lab is broken, a sentence; empty: it is whole.

    Args:
        attempts: all of them, in order.
    """
    previous = FIRST
    for number, one in enumerate(attempts, 1):
        if one.number != number:
            return f"attempt {number} is missing."
        if one.previous != previous:
            return f"attempt {number} does not follow the one before."
        if digest(one) != one.sha256:
            return f"attempt {number} was changed after it was stored."
        previous = one.sha256
    return ""
