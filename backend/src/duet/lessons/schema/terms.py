# SPDX-License-Identifier: GPL-2.0-or-later
"""terms.yaml: the words that a reader of the lesson has to know, each with a drawing."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, model_validator

from duet.lessons.schema.base import Fault, Strict, refuse

Form = Annotated[str, Field(pattern=r"^[A-Za-z0-9]([A-Za-z0-9 _-]*[A-Za-z0-9])?$")]
"""A word or several; letters, digits, spaces, dashes and underscores."""


class Term(Strict):
    """A word, what it means in one or two sentences, and a drawing of it."""

    name: Form = Field(description="the word as it stands in a sentence")
    also: tuple[Form, ...] = Field(default=(), description="other forms, such as the plural")
    says: str = Field(default="", description="what it is, in one or two sentences")
    drawing: str = Field(
        default="",
        pattern=r"^([a-z0-9-]+\.svg)?$",
        description="a file of the folder drawings/; see docs/AUTHORING.md",
    )
    entry: bool = Field(default=True, description="shown at the beginning of the first step")
    shared: bool = Field(default=False, description="the rest stands in lessons/_common/terms.yaml")

    @model_validator(mode="after")
    def shared_or_said(self) -> Term:
        """A term is explained here or in the common file, not in both and not in neither."""
        own = self.says or self.drawing or self.also
        if self.shared and own:
            sentence = "a shared term is explained in the common file, and here as well"
            remedy = "Leave `name:`, `shared: true` and `entry:`, or take `shared:` away."
            refuse("Term", [Fault(("shared",), sentence, remedy)])
        if not self.shared and not self.says:
            remedy = "Add `says:` with one or two sentences, or `shared: true`."
            refuse("Term", [Fault((), "a term says what it is", remedy)])
        return self


class TermsFile(Strict):
    """terms.yaml: the words that a reader of the lesson has to know, each with a drawing."""

    terms: tuple[Term, ...] = Field(
        default=(), max_length=16, description="in the order in which a reader meets them"
    )
