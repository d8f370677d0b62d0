# SPDX-License-Identifier: GPL-2.0-or-later
"""recap.yaml: what ends the last step: three sentences, and questions that the page judges."""

from __future__ import annotations

from pydantic import Field, model_validator

from duet.lessons.schema.base import Fault, Name, Strict, refuse


class Explanation(Strict):
    """What a reader explains in three sentences, and how the lesson does."""

    ask: str = Field(min_length=1, description="what is to be explained, as a question")
    ours: tuple[str, ...] = Field(
        min_length=3, max_length=3, description="the same in three sentences, to compare with"
    )


class QuizQuestion(Strict):
    """A question with choices, or one whose answer is a number."""

    ask: str = Field(min_length=1, description="the question")
    choices: tuple[str, ...] = Field(
        default=(), max_length=5, description="two to five answers; none: a number is asked"
    )
    right: int | None = Field(
        default=None, ge=1, description="which of the choices is right, from 1"
    )
    number: float | None = Field(default=None, description="the right number, without choices")
    within: float = Field(
        default=0, ge=0, description="how far from the number an answer may be, in its unit"
    )
    unit: str = Field(default="", description="of the number, in words")
    why: str = Field(min_length=1, description="one or two sentences, shown with the verdict")
    step: Name | None = Field(default=None, description="the step whose picture answers it")

    @model_validator(mode="after")
    def choices_or_a_number(self) -> QuizQuestion:
        """One of the two, complete."""
        faults = []
        if self.choices and self.number is not None:
            remedy = "Take `choices:` or `number:` away."
            faults.append(Fault(("number",), "choices are given, and a number as well", remedy))
        elif self.choices and len(self.choices) < 2:
            faults.append(Fault(("choices",), "one choice is none", "Add another one."))
        elif self.choices and (self.right is None or self.right > len(self.choices)):
            sentence = f"`right` is 1 to {len(self.choices)}, but {self.right} came"
            faults.append(Fault(("right",), sentence, "Count the choices from 1."))
        elif not self.choices and self.number is None:
            remedy = "Add `choices:` and `right:`, or `number:`."
            faults.append(Fault((), "a question has choices or a number", remedy))
        refuse("QuizQuestion", faults)
        return self


class RecapFile(Strict):
    """recap.yaml: what ends the last step: three sentences, and questions that the page judges."""

    explain: Explanation | None = Field(
        default=None, description="what a reader explains at the end; none: nothing is asked"
    )
    quiz: tuple[QuizQuestion, ...] = Field(
        default=(), max_length=9, description="asked at the end, judged by the page"
    )
