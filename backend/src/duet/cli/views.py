# SPDX-License-Identifier: GPL-2.0-or-later
"""`duet views`: shows what each view draws and needs, and the names that a lesson may use."""

from __future__ import annotations

import json
import re
import shutil
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from duet.base.errors import DuetError, InputError
from duet.cli.keys import from_tree, key, keys_text
from duet.cli.options import Json
from duet.cli.output import emit

if TYPE_CHECKING:
    from duet.lessons.load import LessonFolder
    from duet.lessons.schema import Scene
    from duet.lessons.view import Catalogue, View


@dataclass(frozen=True, slots=True)
class CommonViewNames:
    """Names that every lesson may use."""

    sentences: Mapping[str, str]
    moments: Mapping[str, str]
    answers: Mapping[str, str]
    show: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class ViewEntry:
    """One view."""

    draws: str
    needs: Sequence[str] = key(shape="[text]")
    points: Mapping[str, Sequence[str]] = key(shape="{name: [field]}")
    layers: Sequence[str] = key()
    marks: Sequence[str] | str = key()
    only_in_focus: Mapping[str, object] | None = key()
    sentences: Mapping[str, str] = key()
    moments: Mapping[str, str] = key()
    answers: Mapping[str, str] = key()
    panels: Mapping[str, Mapping[str, str]] = key(shape="{name: {title, evidence, about}}")
    parts: Mapping[str, str] = key()
    toys: Mapping[str, str] = key()
    quantities: Mapping[str, str] = key()
    knobs: Mapping[str, str] = key()
    counts: str = key()
    lessons: Sequence[str] = key(shape="[slug]")


@dataclass(frozen=True, slots=True)
class ViewsResult:
    common: CommonViewNames = key()
    views: Mapping[str, ViewEntry] = key(per="name")


KEYS = keys_text(ViewsResult, "Each name has a sentence.")


def views(
    name: Annotated[str | None, typer.Argument(help="A view; default: all in short.")] = None,
    as_json: Json = False,
) -> int:
    """List the views and the names that a lesson may use. Also say what each view draws and
    needs.
    """
    from duet.lessons.document import meant
    from duet.lessons.view import read_views

    catalogue = read_views()
    if name is not None and name not in catalogue.views:
        names = list(catalogue.views)
        raise InputError(
            f"there is no view '{name:.60}'{meant(name, names)}.",
            remedy=f"Choose from: {', '.join(names)}.",
        )
    chosen = {name: catalogue.views[name]} if name else catalogue.views
    examples = _examples()
    if as_json:
        emit(
            ViewsResult(
                common=from_tree(CommonViewNames, catalogue.common.model_dump(mode="json")),
                views={
                    kind: from_tree(
                        ViewEntry,
                        view.model_dump(mode="json") | {"lessons": examples.get(kind, [])},
                    )
                    for kind, view in chosen.items()
                },
            )
        )
    elif name:
        print("\n".join(_page(name, chosen[name], catalogue)))
    else:
        print("\n".join(_list(catalogue, examples)))
    return 0


WIDEST = 100
"""Maximum width of a text, in columns. On a narrow terminal, texts are narrower."""
PLAIN = re.compile(r"[A-Za-z][\w -]*")
"""Texts that need no quotes in YAML."""


def _folders() -> Iterator[LessonFolder]:
    from duet.lessons import load as lessons

    for slug in lessons.slugs():
        with suppress(DuetError):
            yield lessons.load(slug)


def _examples() -> dict[str, list[str]]:
    """Return a mapping from each view to the slugs of the lessons that use it."""
    found: dict[str, list[str]] = {}
    for folder in _folders():
        if folder.lesson.view:
            found.setdefault(folder.lesson.view, []).append(folder.slug)
    return found


def _list(catalogue: Catalogue, examples: Mapping[str, list[str]]) -> Iterator[str]:
    for kind, view in catalogue.views.items():
        of = examples.get(kind)
        yield f"{kind}" + (f"  (example: {of[0]})" if of else "")
        yield from _wrapped(view.draws, 2)
    yield ""
    yield "./duet views NAME lists what a view needs and the names that a lesson may use."


def _page(kind: str, view: View, catalogue: Catalogue) -> Iterator[str]:
    yield kind
    yield from _wrapped(view.draws, 2)
    yield ""
    yield "needs"
    for need in view.needs:
        yield from _wrapped(f"- {need}", 2, 4)
    if view.points:
        yield ""
        yield from _table("points", {n: ", ".join(f) or "-" for n, f in view.points.items()})
    common = catalogue.common
    panels = {
        name: f"{panel.about} (panel, {panel.evidence})" for name, panel in view.panels.items()
    }
    for head, texts in (
        ("sentence of a step", common.sentences | view.sentences),
        ("moment of a step", common.moments | view.moments),
        ("show of a step", common.show | view.parts | panels),
        ("metric of a prediction", common.answers | view.answers),
        ("toy of a step", view.toys),
        ("quantity of a reference", view.quantities),
        ("knob with applies: model", view.knobs),
    ):
        if texts:
            yield ""
            yield from _table(head, texts)
    yield ""
    yield "focus of a step"
    for words in _focus(view):
        yield from _wrapped(words, 2)
    if view.counts:
        yield ""
        yield "counts"
        yield from _wrapped(view.counts, 2)
    yield from _example(kind)


def _focus(view: View) -> Iterator[str]:
    """Say which kinds of objects a step may put in focus."""
    if view.layers:
        yield f"every kind of the layers {', '.join(view.layers)}"
    if view.marks == "points":
        yield "kinds of the layer mark that are called like a point"
    elif view.marks:
        yield f"kinds of the layer mark: {', '.join(view.marks)}"
    if only := view.only_in_focus:
        but = f", but for the colour {', '.join(only.but)}" if only.but else ""
        yield f"the layer {only.layer} is drawn only in focus{but}"


def _example(kind: str) -> Iterator[str]:
    folder = next((f for f in _folders() if f.lesson.view == kind), None)
    if folder is None:
        return
    yield ""
    yield f"example: a step of {folder.slug}"
    yield from _wrapped(_step(folder.lesson.scenes[0]), 2, 4)


def _step(scene: Scene) -> str:
    """Format a step as a line of YAML, without values that equal the defaults."""
    said = scene.model_dump(mode="json", exclude_defaults=True)
    parts = [f"{key}: {_flow(value)}" for key, value in said.items()]
    return f"- {{{', '.join(parts)}}}"


def _flow(value: object) -> str:
    if isinstance(value, dict):
        return f"{{{', '.join(f'{k}: {_flow(v)}' for k, v in value.items())}}}"
    if isinstance(value, list):
        return f"[{', '.join(map(_flow, value))}]"
    if isinstance(value, str):
        return value if PLAIN.fullmatch(value) else json.dumps(value, ensure_ascii=False)
    return f"{value:g}" if isinstance(value, float) else str(value)


def _table(head: str, texts: Mapping[str, str]) -> Iterator[str]:
    yield head
    width = max(map(len, texts))
    for name, text in texts.items():
        first, *rest = _wrapped(text, width + 4)
        yield f"  {name:{width}}  {first.strip()}"
        yield from rest


def _wrapped(text: str, indent: int, hanging: int | None = None) -> list[str]:
    width = min(shutil.get_terminal_size((WIDEST, 24)).columns, WIDEST)
    return textwrap.wrap(
        text,
        max(width, indent + 30),
        initial_indent=" " * indent,
        subsequent_indent=" " * (indent if hanging is None else hanging),
        break_on_hyphens=False,
    )
