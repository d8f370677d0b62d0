# SPDX-License-Identifier: GPL-2.0-or-later
"""Types that the schemas of all four files of a lesson use."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic_core import InitErrorDetails, PydanticCustomError

Name = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9_-]*$")]
BaseName = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9._-]*$")]
Place = tuple[str | int, ...]
"""Where a value stands in a lesson: keys and indices from the top, as pydantic's `loc`."""


class Strict(BaseModel):
    """Frozen, and no unknown keys."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Fault:
    """One thing that is wrong at one place of a lesson.

    Args:
        place: from the model whose validator says so.
        sentence: what was wanted and what came, without a full stop.
        remedy: what to do now, a whole sentence.
    """

    def __init__(self, place: Place, sentence: str, remedy: str) -> None:
        self.place, self.sentence, self.remedy = place, sentence, remedy

    def details(self) -> InitErrorDetails:
        context = {"sentence": self.sentence, "remedy": self.remedy}
        error = PydanticCustomError("lesson", "{sentence}", context)
        return InitErrorDetails(type=error, loc=self.place, input=None)


def refuse(title: str, faults: list[Fault]) -> None:
    """Called at the end of a model's validator; pydantic adds the faults to its own.

    Raises:
        ValidationError: there are faults.
    """
    if faults:
        raise ValidationError.from_exception_data(title, [fault.details() for fault in faults])


# i18n/LANGUAGE/strings.yaml: texts of a lesson in another language.


class Line(Strict):
    """A text, and what it says in the other language."""

    en: str = Field(min_length=1, description="the English text that was translated, as it stands")
    says: str = Field(min_length=1, description="the same in the language of the folder")


class StringsFile(Strict):
    """i18n/LANGUAGE/strings.yaml: texts of a lesson in another language."""

    strings: dict[str, Line] = Field(
        default={},
        description="by the text's place, such as scenes.one-umount.title or caveats.3",
    )
