# SPDX-License-Identifier: GPL-2.0-or-later
"""What the store gives and takes of what a class tries; the counterpart of records.py."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any, Final, Literal

TryState = Literal["waiting", "running", "done", "failed"]


@dataclass(frozen=True, slots=True)
class OpenedFacts:
    """A step in which the class may try.

    Args:
        patches: patches may be changed there, not knobs alone.
    """

    lesson: str
    step: str
    patches: bool


@dataclass(frozen=True, slots=True)
class TryFacts:
    """A run that members of a class asked for.

    Args:
        number: in its class, from 1.
        params: every knob that the run is given.
        turned: those that stand elsewhere than the step puts them.
        summary: of the changed patch in one line; empty: none was changed.
        sentence: why it failed; empty: it did not.
        result: its one number, as try_results.py makes it; None: it has none (yet).
        makers: members who asked for it, the first one first.
    """

    number: int
    lesson: str
    step: str
    workload: str
    clock: str
    arms: tuple[str, ...]
    params: dict[str, int]
    turned: dict[str, int]
    summary: str
    run_id: str
    asked_s: float
    state: TryState = "waiting"
    sentence: str = ""
    result: dict[str, Any] | None = None
    makers: tuple[str, ...] = ()

    @property
    def key(self) -> Hashable:
        """Equal tries have equal ones, and one run."""
        knobs = frozenset(self.params.items())
        return self.lesson, self.workload, self.clock, frozenset(self.arms), knobs

    @property
    def over(self) -> bool:
        """Whether it has ended."""
        return self.state in ("done", "failed")


@dataclass(frozen=True, slots=True)
class Tried:
    """All that a class has tried and may try.

    Args:
        shown: members see all of it.
    """

    opened: tuple[OpenedFacts, ...] = ()
    shown: bool = False
    tries: tuple[TryFacts, ...] = ()


NOTHING: Final = Tried()
