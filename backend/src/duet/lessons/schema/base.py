# SPDX-License-Identifier: GPL-2.0-or-later
"""Types that the schemas of all lesson files use."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic_core import InitErrorDetails, PydanticCustomError

Name = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9_-]*$")]
BaseName = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9._-]*$")]
Place = tuple[str | int, ...]
"""Path of a value in a lesson: keys and indices from the top, in the form of pydantic's `loc`."""


class Strict(BaseModel):
    """A frozen model that forbids unknown keys."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)


class Fault:
    """One fault at one place in a lesson.

    Args:
        place: place of the fault, relative to the model whose validator reports it.
        sentence: what was expected and what was found, without a full stop.
        remedy: what to do now, a complete sentence.
    """

    def __init__(self, place: Place, sentence: str, remedy: str) -> None:
        self.place, self.sentence, self.remedy = place, sentence, remedy

    def details(self) -> InitErrorDetails:
        context = {"sentence": self.sentence, "remedy": self.remedy}
        error = PydanticCustomError("lesson", "{sentence}", context)
        return InitErrorDetails(type=error, loc=self.place, input=None)


def refuse(title: str, faults: list[Fault]) -> None:
    """Raise a model's faults from its validator; pydantic adds these faults to its own errors.

    Raises:
        ValidationError: `faults` is not empty.
    """
    if faults:
        raise ValidationError.from_exception_data(title, [fault.details() for fault in faults])


# i18n/LANGUAGE/strings.yaml: texts of a lesson in another language.


class Line(Strict):
    """A text and its translation."""

    en: str = Field(min_length=1, description="the English text that was translated, verbatim")
    says: str = Field(min_length=1, description="its translation into the folder's language")


class StringsFile(Strict):
    """i18n/LANGUAGE/strings.yaml: texts of a lesson in another language."""

    strings: dict[str, Line] = Field(
        default={},
        description="by the text's place, such as scenes.one-umount.title or caveats.3",
    )
