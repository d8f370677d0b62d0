# SPDX-License-Identifier: GPL-2.0-or-later
"""i18n/LANGUAGE/strings.yaml: texts of a lesson in another language."""

from __future__ import annotations

from pydantic import Field

from duet.lessons.schema.base import Strict


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
