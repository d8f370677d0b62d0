# SPDX-License-Identifier: GPL-2.0-or-later
"""Translates a lab into another language, with the translations of its lessons' texts."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Final, TypeVar

from pydantic import BaseModel, JsonValue

from duet.base.errors import DuetError
from duet.lessons import load as lesson_cache
from duet.lessons.translations import by_english
from duet.plugins.labs.files import LabFile
from duet.plugins.labs.schema import Explain
from duet.plugins.labs.words import criterion_words

log = logging.getLogger("duet.api")

Body = TypeVar("Body", bound=BaseModel)
READ: Final = frozenset({"title", "intro", "ask", "choices", "right", "why", "rubric"})
"""Keys whose texts come from the lab or its lesson. Texts that people wrote are not translated."""


def in_language(body: Body, file: LabFile, language: str) -> Body:
    """Translate the texts that have a translation. Blocking: it may read lessons."""
    words = words_of(file, language) if language else {}
    if not words:
        return body
    return type(body).model_validate(_said(body.model_dump(mode="json"), words, False))


def words_of(file: LabFile, language: str) -> dict[str, str]:
    """Return a mapping from English texts to translations, for all lessons of the lab's tasks."""
    words: dict[str, str] = {}
    for slug in sorted({file.lesson_of(task) for task in file.lab.tasks.values()}):
        try:
            words |= by_english(lesson_cache.find(slug), language)
        except DuetError as error:
            log.warning("lesson %s in %s is left out: %s", slug, language, error.sentence)
    for task in file.lab.tasks.values():
        for one in task.rubric if isinstance(task, Explain) else ():
            if one.says in words:
                said = one.model_copy(update={"says": words[one.says]})
                words[criterion_words(one)] = criterion_words(said)
    return words


def _said(value: JsonValue, words: Mapping[str, str], read: bool) -> JsonValue:
    if isinstance(value, str):
        return words.get(value, value) if read else value
    if isinstance(value, list):
        return [_said(item, words, read) for item in value]
    if isinstance(value, dict):
        return {key: _said(inner, words, key in READ) for key, inner in value.items()}
    return value
