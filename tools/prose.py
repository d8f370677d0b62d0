# SPDX-License-Identifier: GPL-2.0-or-later
"""Draw sentences at random for a reading test: python -m tools.prose --seed 7.

The reader sees them without context, and marks those that they had to read twice.
"""

from __future__ import annotations

import argparse
import ast
import random
import re
from collections.abc import Iterator
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[1]
LESSON_FILES = (
    "content.md",
    "story.yaml",
    "challenges.yaml",
    "recap.yaml",
    "terms.yaml",
    "evidence.yaml",
)
SENTENCE = re.compile(r"[^.!?]+(?:[.!?](?=\s|$)|$)|[.!?]")
LEAST_WORDS = 4
Found = tuple[str, str]
"""(file:line, text)"""


def python_texts(path: Path) -> Iterator[Found]:
    """Docstrings, comments, and texts of errors."""
    source = path.read_text()
    where = path.relative_to(ROOT)
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            if text := ast.get_docstring(node):
                yield f"{where}:{getattr(node, 'lineno', 1)}", text
        elif isinstance(node, ast.Raise):
            for part in ast.walk(node):
                if isinstance(part, ast.JoinedStr):
                    yield f"{where}:{node.lineno}", ast.unparse(part)
                elif isinstance(part, ast.Constant) and isinstance(part.value, str):
                    yield f"{where}:{node.lineno}", part.value
    for number, line in enumerate(source.splitlines(), 1):
        if found := re.search(r"(?:^|\s)# (?!type:|noqa|fmt:|SPDX)(.+)", line):
            yield f"{where}:{number}", found[1]


def page_texts(path: Path) -> Iterator[Found]:
    """Comments, and texts that the page translates."""
    source = path.read_text()
    where = path.relative_to(ROOT)
    for found in re.finditer(
        r"/\*\*(.*?)\*/|(?<![:'\"])// (?!SPDX|biome)(.+)|\bt\(\s*'((?:[^'\\]|\\.)+)'", source, re.S
    ):
        text = next(group for group in found.groups() if group)
        line = source.count("\n", 0, found.start()) + 1
        yield f"{where}:{line}", re.sub(r"\s*\n\s*\*?\s*", " ", text).strip()


def strings(tree: object) -> Iterator[str]:
    """All texts of a YAML file that are longer than a name."""
    if isinstance(tree, str):
        yield tree
    elif isinstance(tree, dict | list):
        for part in tree.values() if isinstance(tree, dict) else tree:
            yield from strings(part)


def lesson_texts(path: Path) -> Iterator[Found]:
    """Sentences of a lesson's prose."""
    where = str(path.relative_to(ROOT))
    if path.suffix == ".md":
        prose = re.sub(r"<!--.*?-->", "", path.read_text(), flags=re.S)
        paragraphs = [
            p for p in prose.split("\n\n") if not p.lstrip().startswith(("#", "|", "---"))
        ]
    else:
        paragraphs = list(strings(yaml.safe_load(path.read_text())))
    for paragraph in paragraphs:
        for sentence in SENTENCE.findall(" ".join(paragraph.split())):
            yield where, sentence.strip()


def drawn(found: Iterator[Found], count: int, dice: random.Random) -> list[Found]:
    """Different texts of at least LEAST_WORDS words."""
    pool = sorted({one for one in found if len(one[1].split()) >= LEAST_WORDS})
    return dice.sample(pool, min(count, len(pool)))


def code_of() -> Iterator[Found]:
    for folder in ("backend/src", "tools"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            yield from python_texts(path)
    for folder in ("frontend/src", "lessons"):
        for path in sorted((ROOT / folder).rglob("*.ts*")):
            if ".gen." not in path.name and ".test." not in path.name:
                yield from page_texts(path)


def lessons_of() -> Iterator[Found]:
    for folder in sorted((ROOT / "lessons").glob("[0-9][0-9]-*")):
        for name in LESSON_FILES:
            if (folder / name).exists():
                yield from lesson_texts(folder / name)


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
