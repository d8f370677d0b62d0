# SPDX-License-Identifier: GPL-2.0-or-later
"""Verbs about lessons."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from duet.cli.commands.options import Json, MaybeLesson
from duet.cli.results.keys import keys_text
from duet.cli.results.lessons import LintResult, NewResult, ViewsResult

LINT_KEYS = keys_text(LintResult, "With --watch one document a line.")
Schemas = Annotated[
    bool, typer.Option("--schemas", help="First write lessons/schema/*.json, for editors.")
]
Watch = Annotated[
    bool, typer.Option("--watch", help="Check again whenever a file changes, until Ctrl-C.")
]


def lint(
    lesson: MaybeLesson = None, json: Json = False, schemas: Schemas = False, watch: Watch = False
) -> int:
    """Check lessons: schema, names of their views, programs, probes, patches, prose, recordings."""
    from duet.cli.lint import lint as body

    return body(lesson, json, schemas=schemas, watch=watch)


VIEWS_KEYS = keys_text(ViewsResult, "Names have a sentence each.")


def views(
    name: Annotated[str | None, typer.Argument(help="A view; all in short when left out.")] = None,
    json: Json = False,
) -> int:
    """List the views: what each draws and needs, and the names that a lesson may use."""
    from duet.cli.views import views as body

    return body(name, json)


NEW_KEYS = keys_text(NewResult)


def new(
    slug: Annotated[str, typer.Argument(help="Its name, e.g. 06-my-question.")],
    folder: Annotated[
        Path | None,
        typer.Option(
            "--in", help="Folder for lessons/ and kernel-patches/; default: the checkout."
        ),
    ] = None,
    json: Json = False,
) -> int:
    """Start a lesson: a copy of a small one that runs as it is."""
    from duet.cli.new import new as body

    return body(slug, folder, json)
