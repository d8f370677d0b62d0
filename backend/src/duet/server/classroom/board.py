# SPDX-License-Identifier: GPL-2.0-or-later
"""The board of a class in memory, and what pages see of it. Pure."""

from __future__ import annotations

import time
from dataclasses import replace

from duet import messages as m
from duet.classes.board import BoardFacts, BoardStored, RaisedFacts, hash_of
from duet.server.classroom.limits import TIMER_SEEN_S


class Raised:
    """A question of a member, and who has it, too; by hashes."""

    def __init__(self, facts: RaisedFacts) -> None:
        self.facts = facts
        self.voters: set[str] = set()

    def message(self) -> m.Raised:
        """As pages have it: without any hash."""
        facts = self.facts
        return m.Raised(
            number=facts.number,
            step=facts.step,
            text=facts.text,
            votes=len(self.voters),
            answered=facts.answered,
            hidden=facts.hidden,
        )


class Board:
    """Of one class.

    Args:
        stored: as the store has it.
    """

    def __init__(self, class_id: str, stored: BoardStored) -> None:
        self.class_id = class_id
        self.facts: BoardFacts = stored.facts
        self.raised = {one.number: Raised(one) for one in stored.raised}
        for number, voter in stored.votes:
            self.raised[number].voters.add(voter)
        self.last = max(self.raised, default=0)
        """The highest number that was given to a question."""

    def drop_member(self, member: str) -> None:
        """A member is forgotten."""
        who = hash_of(self.class_id, member)
        self.raised = {n: one for n, one in self.raised.items() if one.facts.asker_sha256 != who}
        for one in self.raised.values():
            one.voters.discard(who)

    def asked_by(self, member: str) -> list[Raised]:
        """A member's questions, the oldest first."""
        who = hash_of(self.class_id, member)
        return [one for one in self.raised.values() if one.facts.asker_sha256 == who]

    def seen_by_members(self) -> list[Raised]:
        """What all members see."""
        return [one for one in self.raised.values() if self.facts.shown and not one.facts.hidden]

    # Messages

    def to_instructor(self) -> m.ClassRaised:
        """All questions."""
        return self._message(list(self.raised.values()))

    def to_members(self) -> m.ClassRaised:
        """Those that are shown."""
        return self._message(self.seen_by_members())

    def _message(self, questions: list[Raised]) -> m.ClassRaised:
        found = [one.message() for one in sorted(questions, key=_rank)]
        return m.ClassRaised(class_id=self.class_id, shown=self.facts.shown, questions=found)

    def own(self, member: str) -> m.ClassOwn:
        """To that member alone."""
        who = hash_of(self.class_id, member)
        seen = self.seen_by_members()
        return m.ClassOwn(
            class_id=self.class_id,
            asked=[one.message() for one in self.asked_by(member)],
            voted=[one.facts.number for one in seen if who in one.voters],
        )

    def timer(self) -> m.ClassTimer:
        """For each page; it is over for good a while after its end."""
        length, ends = self.facts.timer_s, self.facts.timer_ends_s
        now_s = time.time()
        stands = length is not None and ends is not None and now_s < ends + TIMER_SEEN_S
        return m.ClassTimer(
            class_id=self.class_id,
            length_s=length if stands and length is not None else 0.0,
            ends_ns=ends * 1e9 if stands and ends is not None else None,
            sent_ns=now_s * 1e9,
        )


def _rank(one: Raised) -> tuple[bool, int, int]:
    """Open ones before those that are answered, then by votes, then the oldest."""
    facts = one.facts
    return facts.answered or facts.hidden, -len(one.voters), facts.number


def counted_down(facts: BoardFacts, command: m.CountDown, now_s: float) -> BoardFacts:
    """The timer after a command.

    Args:
        now_s: Unix time.
    """
    if command.act == "stop":
        return replace(facts, timer_s=None, timer_ends_s=None)
    if command.act == "start" or facts.timer_s is None or facts.timer_ends_s is None:
        return replace(facts, timer_s=command.seconds, timer_ends_s=now_s + command.seconds)
    # One that has run out begins anew with what it gets.
    ends_s = max(facts.timer_ends_s, now_s) + command.seconds
    ends_s = min(ends_s, now_s + m.TIMER_S)
    whole_s = max(command.seconds, min(facts.timer_s + command.seconds, m.TIMER_S))
    return replace(facts, timer_s=whole_s, timer_ends_s=ends_s)
