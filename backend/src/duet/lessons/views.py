# SPDX-License-Identifier: GPL-2.0-or-later
"""The page's views as lessons may use them, read from views.gen.json (`make contract`)."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from duet.errors import InfraError

CATALOGUE = Path(__file__).with_name("views.gen.json")
Layer = Literal["state", "function", "track", "mark"]


class _Generated(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class ViewPanel(_Generated):
    """A panel that `show` asks for."""

    title: str
    evidence: Literal["measured", "counted", "modelled"]
    about: str


class OnlyInFocus(_Generated):
    """A layer whose kinds are drawn only in steps that focus on them, but for these colours."""

    layer: Layer
    but: tuple[str, ...]


class View(_Generated):
    """One view. Dictionaries have name -> a sentence; frontend/src/views/about.ts describes it.

    `marks` are 'points' where a view draws kinds that are called like a point of the lesson.
    """

    draws: str
    needs: tuple[str, ...]
    points: dict[str, tuple[str, ...]]
    layers: tuple[Layer, ...]
    marks: tuple[str, ...] | Literal["points"]
    only_in_focus: OnlyInFocus | None
    sentences: dict[str, str]
    moments: dict[str, str]
    answers: dict[str, str]
    panels: dict[str, ViewPanel]
    parts: dict[str, str]
    toys: dict[str, str]
    quantities: dict[str, str]
    knobs: dict[str, str]
    counts: str


class CommonNames(_Generated):
    """Names that every lesson may use, whatever its view."""

    sentences: dict[str, str]
    moments: dict[str, str]
    answers: dict[str, str]
    show: dict[str, str]


class Catalogue(_Generated):
    """All views by name."""

    common: CommonNames
    views: dict[str, View]

    def sentences(self, view: View) -> tuple[str, ...]:
        """Names for `sentence` of a step."""
        return (*self.common.sentences, *view.sentences)

    def moments(self, view: View) -> tuple[str, ...]:
        """Names for `moment` of a step."""
        return (*self.common.moments, *view.moments)

    def answers(self, view: View) -> tuple[str, ...]:
        """Names for `metric` of a prediction."""
        return (*self.common.answers, *view.answers)

    def shows(self, view: View) -> tuple[str, ...]:
        """Names for `show` of a step."""
        return (*self.common.show, *view.parts, *view.panels)


@cache
def read_views() -> Catalogue:
    """The catalogue of this checkout.

    Raises:
        InfraError: the file is absent or not what this program expects.
    """
    try:
        return Catalogue.model_validate_json(CATALOGUE.read_bytes())
    except (OSError, ValidationError) as error:
        raise InfraError(
            f"the catalogue of views {CATALOGUE.name} cannot be read.",
            remedy="Run make contract, which writes it.",
            detail=str(error),
        ) from error
