# SPDX-License-Identifier: GPL-2.0-or-later
"""`duet lint`: checks that lessons are complete, fair and true. It boots nothing."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from duet.base.settings import repo_root
from duet.cli.keys import key, keys_text
from duet.cli.options import Json, MaybeLesson
from duet.cli.output import emit, note

if TYPE_CHECKING:
    from duet.lint.result import Result


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
    """Check lessons: files, views, programs, patches, recordings. Also check probes and prose."""
    from duet.lessons.folders import slugs as all_lessons

    if schemas:
        from duet.lessons import author as editor
        from duet.lint.lessons import beside

        editor.write(repo_root(), beside())
    slugs = [lesson] if lesson else all_lessons()
    if watch:
        return _watch(slugs, lesson is None, as_json)
    result = _checked(slugs, schemas=lesson is None)
    if as_json:
        emit(document(result))
    else:
        print(text(result))
    return 2 if result.problems else 0


def _checked(slugs: Sequence[str], *, schemas: bool) -> Result:
    """Check lessons, except what an earlier run has checked (duet.lint.memory).

    Args:
        schemas: also check the schemas for editors.
    """
    from duet.lessons.folders import places
    from duet.lint.memory import Memory

    known = places()
    memory = Memory(slugs, schemas=schemas) if all(slug in known for slug in slugs) else None
    if memory is not None and (result := memory.result()) is not None:
        return result
    from duet import confine

    confine.fork()
    from duet.lint.lessons import lint as check

    return check(slugs, memory, schemas=schemas)


SHOWN = 3
"""Maximum number of changed files that one line names."""


def _watch(slugs: list[str], schemas: bool, as_json: bool) -> int:
    """Print the result. After each change, check again and print the new result, until Ctrl-C."""
    from duet.lint.watch import changes, stamps

    before = stamps(slugs)
    result = _checked(slugs, schemas=schemas)
    if not as_json:
        note("Watching the files of the lesson; Ctrl-C ends it.")
    _print_line(result, as_json)
    for paths in changes(slugs, before):
        if not as_json:
            names = ", ".join(path.name for path in paths[:SHOWN])
            more = f" and {len(paths) - SHOWN} more" if len(paths) > SHOWN else ""
            print(f"\n{time.strftime('%H:%M:%S')} {names}{more} changed")
        _print_line(_checked(slugs, schemas=False), as_json)
    return 0


def _print_line(result: Result, as_json: bool) -> None:
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
