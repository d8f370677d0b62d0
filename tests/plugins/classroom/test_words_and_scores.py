# SPDX-License-Identifier: GPL-2.0-or-later
"""Codes that can be read aloud, and what answers add up to."""

from __future__ import annotations

from collections.abc import Container

from duet.plugins.classroom.queries import WORDS, new_code, squeezed
from duet.plugins.classroom.records import AnswerFacts, changed, scores


def test_words_are_plain_and_many() -> None:
    assert len(WORDS) == len(set(WORDS)) >= 256
    assert all(word.isascii() and word.islower() and 3 <= len(word) <= 8 for word in WORDS)
    assert list(WORDS) == sorted(WORDS)


def test_codes_compare_without_case_spaces_and_hyphens() -> None:
    code = new_code(())
    assert len(code.split("-")) == 3
    first, second, third = code.split("-")
    for spelt in (code, code.upper(), f" {first}  {second}-{third} ", first + second + third):
        assert squeezed(spelt) == squeezed(code)


def test_a_code_that_is_taken_is_not_given_again() -> None:
    class All(Container[str]):
        """Takes the first hundred that are tried."""

        tried = 0

        def __contains__(self, _: object) -> bool:
            self.tried += 1
            return self.tried <= 100

    taken = All()
    assert new_code(taken) and taken.tried == 101


def answer(member: str, round_: int, **fields: object) -> AnswerFacts:
    return AnswerFacts("step", "question", round_, member, **fields)  # type: ignore[arg-type]


def test_scores_count_each_round() -> None:
    mark = {"x": 0.5, "y": 0.25}
    given = [
        answer("a", 1, choice=1, right=True),
        answer("b", 1, choice=1, right=False),
        answer("c", 1, choice=0),
        answer("a", 2, value=3.5),
        answer("b", 2, mark=mark),
    ]
    first, second = scores(given)
    assert (first.round, first.answers, first.right) == (1, 3, 1)
    assert first.bars == ((0, None, 1), (1, None, 2)) and first.marks == ()
    assert (second.answers, second.bars, second.marks) == (2, ((None, 3.5, 1),), (mark,))
    assert second.right is None
    assert scores([]) == ()


def test_members_who_changed_their_answer() -> None:
    given = [
        answer("a", 1, choice=1), answer("a", 2, choice=2),
        answer("b", 1, choice=1), answer("b", 2, choice=1),
        answer("c", 2, choice=1),
    ]  # fmt: skip
    assert changed(given) == 1
