# SPDX-License-Identifier: GPL-2.0-or-later
"""Error sentences follow `error: `: they begin in lower case and end with a stop.

The page writes a capital where a sentence stands alone (`sentenceCase` in frontend/src/ui).
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from itertools import chain

import pytest

from duet.base import errors
from duet.base.settings import repo_root

SOURCES = sorted(
    path for name in ("backend/src/duet", "tools") for path in (repo_root() / name).rglob("*.py")
)
NAMES = re.compile(
    r"[A-Z]{2}\w*|QEMU|KVM|Chromium|Python|Linux|SHA|[A-Z][a-z]*[A-Z]\w*|Ctrl|Debian|Cookie"
)
"""Words that have a capital everywhere."""


def classes(trees: list[ast.Module]) -> set[str]:
    """DuetError and all that derive from it, by name."""
    known = {"DuetError"}
    found = [n for tree in trees for n in ast.walk(tree) if isinstance(n, ast.ClassDef)]
    for _ in range(4):
        known |= {n.name for n in found if {ast.unparse(b).split(".")[-1] for b in n.bases} & known}
    return known


def text_of(node: ast.expr) -> str | None:
    """A literal, with `{}` for what is filled in; None where the sentence comes from elsewhere."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(str(v.value) if isinstance(v, ast.Constant) else "{}" for v in node.values)
    return None


def sentences(trees: list[ast.Module]) -> Iterator[str]:
    """The first argument of each error that is made."""
    known = classes(trees)
    for node in chain.from_iterable(ast.walk(tree) for tree in trees):
        if not isinstance(node, ast.Call) or not node.args:
            continue
        text = text_of(node.args[0])
        if text is not None and ast.unparse(node.func).split(".")[-1] in known:
            yield text


def odd(text: str) -> bool:
    """A sentence that begins with a capital, or does not end as one."""
    capital = text[:1].isupper() and NAMES.match(text) is None
    return capital or not text.rstrip('"').endswith((".", "?", "{}"))


def test_error_sentences_begin_in_lower_case_and_end_with_a_stop() -> None:
    found = list(sentences([ast.parse(path.read_text()) for path in SOURCES]))
    assert len(found) > 100
    assert [text for text in found if odd(text)] == []
    assert errors.InputError("no.", remedy="Say yes.").sentence == "no."


@pytest.mark.parametrize("text", ["The port is taken.", "no stop", "A lane failed."])
def test_an_odd_sentence_is_found(text: str) -> None:
    known = "class MyError(InputError): ...\nclass InputError(DuetError): ..."
    tree = ast.parse(f"{known}\nraise MyError({text!r})")
    assert [odd(each) for each in sentences([tree])] == [True]
