# SPDX-License-Identifier: GPL-2.0-or-later
"""What goes to stdout (results) and to stderr (progress, errors)."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict, is_dataclass

from duet.base.errors import DuetError, InputError


def document(tree: object) -> str:
    """The text of a JSON document: of a tree, or of a model of duet.cli.results."""
    if is_dataclass(tree) and not isinstance(tree, type):
        tree = asdict(tree)
    return json.dumps(tree, indent=2, ensure_ascii=False) + "\n"


def emit(tree: object) -> None:
    """One JSON document on stdout."""
    sys.stdout.write(document(tree))


def note(text: str) -> None:
    """One line of progress on stderr."""
    print(text, file=sys.stderr, flush=True)


def fail(error: DuetError, as_json: bool) -> None:
    """An error as two lines on stderr, or as JSON on stdout."""
    if as_json:
        body = {
            "code": error.code,
            "sentence": error.sentence,
            "remedy": error.remedy,
            "detail": error.detail,
        }
        emit({"error": body})
        return
    print(f"error: {error.sentence}\nremedy: {error.remedy}", file=sys.stderr)
    if error.detail:
        tail = error.detail.rstrip().splitlines()[-DETAIL_LINES:]
        print("\n".join(f"  | {line}" for line in tail), file=sys.stderr)


DETAIL_LINES = 15
"""Lines of a console or log tail that a terminal gets; --json has all of it."""


def parse_settings(settings: list[str]) -> dict[str, int]:
    """`--set hogs=9` as name -> value.

    Raises:
        InputError: not NAME=WHOLE NUMBER, or one knob with two values.
    """
    values: dict[str, int] = {}
    for setting in settings:
        name, equals, value = setting.partition("=")
        name = name.strip()
        try:
            if not equals or not name:
                raise ValueError
            number = int(value)
        except ValueError:
            raise InputError(
                f"--set wants NAME=NUMBER, but '{setting:.60}' came.",
                remedy="Write for example: --set hogs=9.",
            ) from None
        if values.setdefault(name, number) != number:
            raise InputError(
                f"--set gives '{name:.40}' two values, {values[name]} and {number}.",
                remedy="Give each knob once; --sweep measures several values of one.",
            )
    return values


def split_names(text: str) -> tuple[str, ...]:
    """`rwsem,srcu` as a tuple; empty text gives none."""
    return tuple(part.strip() for part in text.split(",") if part.strip())
