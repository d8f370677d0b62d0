# SPDX-License-Identifier: GPL-2.0-or-later
"""Statements that were false: a table of how each was mended, and a check that none comes back.

`python -m tests.support.statements` writes docs/STATEMENTS.md from the data in tests/fixtures.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT / "tests/fixtures/statements.yaml"
PAGE = ROOT / "docs/STATEMENTS.md"
HEAD = """# Statements that were false

In November 2026 somebody who knows the kernel read every sentence against the source, the data
and the mails. This is what was found false, and how it was mended. `make statements` prints it
from `tests/fixtures/statements.yaml`; a test looks that no such sentence comes back.

| # | where | what was wrong | state | now |
| ---: | --- | --- | --- | --- |
"""


@dataclass(frozen=True)
class Statement:
    """One of them; `elsewhere`: another test has it, so no text is looked for."""

    row: int
    where: list[str]
    wrong: str
    state: str
    how: str
    absent: tuple[str, ...] = ()
    present: tuple[str, ...] = ()
    elsewhere: bool = False


def statements() -> list[Statement]:
    """All, by row."""
    return [Statement(**one) for one in yaml.safe_load(DATA.read_text(encoding="utf-8"))]


def faults(one: Statement, root: Path = ROOT) -> Iterator[str]:
    """What is wrong with the files of a statement now."""
    texts = {
        name: " ".join((root / name).read_text(encoding="utf-8").split()) for name in one.where
    }
    for text in one.absent:
        yield from (f"{name} has {text!r} again" for name, now in texts.items() if text in now)
    for text in one.present:
        if not any(text in now for now in texts.values()):
            yield f"none of {', '.join(one.where)} has {text!r}"


def page() -> str:
    """The table, as docs/STATEMENTS.md has it."""
    rows = []
    for one in statements():
        where = ", ".join(f"`{name}`" for name in one.where)
        rows.append(f"| {one.row} | {where} | {one.wrong} | {one.state} | {one.how} |")
    return HEAD + "\n".join(rows) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
