# SPDX-License-Identifier: GPL-2.0-or-later
"""Verbs about lessons."""

from __future__ import annotations

from duet.cli.commands.options import Json, MaybeLesson

LINT_KEYS = "JSON keys: ok (bool), lessons: [slug], problems: [{lesson, where, sentence, remedy}]."


def lint(lesson: MaybeLesson = None, json: Json = False) -> int:
    """Check lessons: schema, patches, fair arms, prose, recordings and claims."""
    from duet.cli.lint import lint as body

    return body(lesson, json)
