# SPDX-License-Identifier: GPL-2.0-or-later
"""`duet translate`: prints the texts of a lesson that have no current translation."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from duet.base.errors import InputError
from duet.cli.keys import key, keys_text
from duet.cli.options import Json
from duet.cli.output import emit

if TYPE_CHECKING:
    from duet.lessons.translations import Text


@dataclass(frozen=True, slots=True)
class Untranslated:
    language: str
    texts: int = key("int")
    missing: Sequence[dict[str, str]] = key(shape="[{key, text}]")


KEYS = keys_text(Untranslated)


def translate(
    lesson: Annotated[str, typer.Argument(help="Slug.")],
    language: Annotated[str, typer.Argument(help="Tag, such as de or zh-Hans.")],
    as_json: Json = False,
) -> int:
    """List the texts of a lesson that lack a current translation.

    The output has the form of the translation's files, with the English text where the translation
    belongs. Texts whose English has changed since are listed, too.
    """
    from duet.lessons.load import load
    from duet.lessons.translations import CONTENT, LANGUAGE, STRINGS, texts_of, untranslated

    if not LANGUAGE.fullmatch(language):
        raise InputError(
            f"'{language}' is not a language.", remedy="Give a tag, such as de or zh-Hans."
        )
    folder = load(lesson)
    missing = untranslated(folder, language)
    if as_json:
        rows = [{"key": text.key, "text": text.text} for text in missing]
        emit(Untranslated(language, len(texts_of(folder)), rows))
        return 0
    prose = [text for text in missing if text.place[0] == CONTENT]
    strings = [text for text in missing if text.place[0] != CONTENT]
    if strings:
        print(f"# {STRINGS}\n" + "\n".join(_strings(strings)))
    if prose:
        print(f"\n# {CONTENT}.md\n" + "\n".join(_sections(prose)))
    if not missing:
        print(f"Every text of {lesson} has a current translation into {language}.")
    return 0


def _strings(texts: Sequence[Text]) -> Iterator[str]:
    yield "strings:"
    for text in texts:
        # A JSON string is a YAML string, whatever the text contains.
        said = json.dumps(text.text, ensure_ascii=False)
        yield f"  {text.key}:\n    en: {said}\n    says: {said}"


def _sections(texts: Sequence[Text]) -> Iterator[str]:
    from duet.lessons.translations import digest

    for text in texts:
        yield f"## {text.place[1]}\n\n<!-- en: {digest(text.text)} -->\n\n{text.text}\n"
