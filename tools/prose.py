# SPDX-License-Identifier: GPL-2.0-or-later
"""Draw random texts for a reading test: python -m tools.prose --seed 7.

A reader sees each text without its context, and marks the texts that they had to read twice.
"""

from __future__ import annotations

import argparse
import ast
import json
import random
import re
from collections.abc import Iterator
from pathlib import Path

from duet.lessons.load import load, slugs
from duet.lessons.translations import texts_of

ROOT = Path(__file__).parents[1]
SENTENCE = re.compile(r".+?(?:[.!?](?=\s|$)|$)")
COMMENT = re.compile(r"(?:^|(?<=\s))# (?!type:|noqa|fmt:|SPDX)(.+(?:\n[ \t]*# .+)*)", re.MULTILINE)
"""Consecutive comment lines count as one comment."""
PAGE_COMMENT = re.compile(
    r"/\*\*(.*?)\*/|(?:^|(?<=\s))// (?!SPDX|biome)([^\n]+(?:\n[ \t]*// [^\n]+)*)", re.DOTALL
)
LEAST_WORDS = 4
Found = tuple[str, str]
"""(place, text). The place is a file and line, or a lesson and key."""


def python_texts(path: Path) -> Iterator[Found]:
    """Yield the docstrings, comments and error texts of a Python file."""
    source = path.read_text()
    where = path.relative_to(ROOT)
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            if text := ast.get_docstring(node):
                yield f"{where}:{getattr(node, 'lineno', 1)}", text
        elif isinstance(node, ast.Raise):
            for text in error_texts(node):
                yield f"{where}:{node.lineno}", text
    for found in COMMENT.finditer(source):
        number = source.count("\n", 0, found.start()) + 1
        yield f"{where}:{number}", re.sub(r"\n\s*# ", " ", found[1])


def error_texts(node: ast.AST) -> Iterator[str]:
    """Yield the string literals below a node. An f-string counts as one string literal."""
    for part in ast.iter_child_nodes(node):
        if isinstance(part, ast.JoinedStr):
            yield ast.unparse(part)
        elif isinstance(part, ast.Constant) and isinstance(part.value, str):
            yield part.value
        else:
            yield from error_texts(part)


def page_comments(path: Path) -> Iterator[Found]:
    source = path.read_text()
    for found in PAGE_COMMENT.finditer(source):
        line = source.count("\n", 0, found.start()) + 1
        text = re.sub(r"\s*\n\s*(?:\*|//)?\s*", " ", found[1] or found[2]).strip()
        yield f"{path.relative_to(ROOT)}:{line}", text


def page_strings() -> Iterator[Found]:
    """Yield the page's texts, which are the keys of its catalogues."""
    for folder in ("frontend/src", "lessons"):
        for path in sorted((ROOT / folder).rglob("lang/**/*.json")):
            if path.stem == "de" or path.parent.name == "de":
                for text in json.loads(path.read_text()):
                    yield str(path.relative_to(ROOT)), text


def drawn(found: Iterator[Found], count: int, dice: random.Random) -> list[Found]:
    """Draw `count` distinct texts at random, each with at least LEAST_WORDS words."""
    pool = sorted({one for one in found if len(one[1].split()) >= LEAST_WORDS})
    return dice.sample(pool, min(count, len(pool)))


def code_of() -> Iterator[Found]:
    for folder in ("backend/src", "tools"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            yield from python_texts(path)
    for folder in ("frontend/src", "lessons"):
        for path in sorted((ROOT / folder).rglob("*.ts*")):
            if ".gen." not in path.name and ".test." not in path.name:
                yield from page_comments(path)
    yield from page_strings()


def lessons_of() -> Iterator[Found]:
    """Yield the sentences that a reader of a lesson may see."""
    for slug in slugs():
        for key, text in texts_of(load(slug)).items():
            for sentence in SENTENCE.findall(" ".join(text.text.split())):
                yield f"{slug} {key}", sentence.strip()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--count", type=int, default=60, help="of each kind; default 60")
    args = parser.parse_args()
    dice = random.Random(args.seed)
    for kind, texts in (("code", code_of()), ("lessons", lessons_of())):
        print(f"# {kind}, seed {args.seed}")
        for number, (where, text) in enumerate(drawn(texts, args.count, dice), 1):
            print(f"{number}. [{where}] {text}")


if __name__ == "__main__":
    main()
