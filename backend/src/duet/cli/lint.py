# SPDX-License-Identifier: GPL-2.0-or-later
"""`duet lint`: checks that lessons are complete, fair and true. It boots nothing."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from duet.base.settings import repo_root
from duet.cli.keys import key, keys_text
from duet.cli.options import Json, MaybeLesson
from duet.cli.output import emit, note

if TYPE_CHECKING:
    from duet.lint.lessons import Result


@dataclass(frozen=True, slots=True)
class LintResult:
    ok: bool = key("bool")
    lessons: Sequence[str] = key(shape="[slug]")
    problems: Sequence[Mapping[str, object]] = key(
        shape="[{lesson, where, sentence, remedy, file, line, key}]"
    )
    not_checked: Sequence[str] = key(shape="[sentence]")


Schemas = Annotated[
    bool, typer.Option("--schemas", help="First write lessons/schema/*.json for text editors.")
]

Watch = Annotated[
    bool, typer.Option("--watch", help="Check again whenever a file changes, until Ctrl-C.")
]

KEYS = keys_text(LintResult, "With --watch, one document per line.")


def lint(
    lesson: MaybeLesson = None,
    as_json: Json = False,
    schemas: Schemas = False,
    watch: Watch = False,
) -> int:
    """Check lessons: files, views, programs, patches, recordings. Also checks probes and prose."""
    from duet.lessons import author as editor
    from duet.lessons import load as lessons
    from duet.lint.lessons import beside, stale_schemas
    from duet.lint.lessons import lint as check
    from duet.lint.watch import stamps

    if schemas:
        editor.write(repo_root(), beside())
    slugs = [lesson] if lesson else lessons.slugs()
    before = stamps(slugs) if watch else {}
    result = check(slugs)
    if lesson is None:
        result = replace(result, problems=(*result.problems, *stale_schemas()))
    if watch:
        return _watch(slugs, before, result, as_json)
    if as_json:
        emit(document(result))
    else:
        print(text(result))
    return 2 if result.problems else 0


SHOWN = 3
"""Maximum number of changed files that one line names."""


def _watch(
    slugs: list[str],
    before: dict[Path, tuple[int, int]],
    result: Result,
    as_json: bool,
) -> int:
    """Print the result. After each change, check again and print the new result, until Ctrl-C."""
    from duet.lint.lessons import lint as check
    from duet.lint.watch import changes

    if not as_json:
        note("Watching the files of the lesson; Ctrl-C ends it.")
    _print(result, as_json)
    for paths in changes(slugs, before):
        if not as_json:
            names = ", ".join(path.name for path in paths[:SHOWN])
            more = f" and {len(paths) - SHOWN} more" if len(paths) > SHOWN else ""
            print(f"\n{time.strftime('%H:%M:%S')} {names}{more} changed")
        _print(check(slugs), as_json)
    return 0


def _print(result: Result, as_json: bool) -> None:
    print(
        json.dumps(asdict(document(result)), ensure_ascii=False) if as_json else text(result),
        flush=True,
    )


def document(result: Result) -> LintResult:
    return LintResult(
        ok=not result.problems,
        lessons=list(result.lessons),
        problems=[asdict(problem) for problem in result.problems],
        not_checked=list(result.not_checked),
    )


def text(result: Result) -> str:
    """Format the result for a terminal."""
    parts = [str(problem) for problem in result.problems]
    parts += [f"not checked: {sentence}." for sentence in result.not_checked]
    count, of = len(result.problems), len(result.lessons)
    what = f"{of} lesson{'' if of == 1 else 's'}"
    return "\n".join([*parts, f"{what}, {count} problem{'' if count == 1 else 's'}."])
