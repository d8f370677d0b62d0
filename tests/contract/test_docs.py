# SPDX-License-Identifier: GPL-2.0-or-later
"""The prose points at what exists: relative links, anchors, pictures, commands and make targets."""

from __future__ import annotations

import re
import subprocess
from functools import cache
from pathlib import Path

import pytest
from markdown_it import MarkdownIt
from markdown_it.token import Token

from duet.base.settings import repo_root
from duet.cli.app import app

ROOT = repo_root()
LISTED = subprocess.run(
    ["git", "-C", ROOT, "ls-files", "-z", "--cached", "--others", "--exclude-standard", "*.md"],
    capture_output=True,
    check=True,
    text=True,
)
PAGES = [name for name in sorted(LISTED.stdout.split("\0")) if (ROOT / name).is_file()]
OURS = [name for name in PAGES if "/" not in name or name.startswith("docs/")]


@cache
def tokens(page: Path) -> list[Token]:
    return [
        part
        for block in MarkdownIt().enable("table").parse(page.read_text())
        for part in (block, *(block.children or ()))
    ]


@cache
def anchors(page: Path) -> set[str]:
    """Names of the headings as GitHub and MkDocs make them; a second of the same name gets -1."""
    parts, seen = tokens(page), list[str]()
    for at, part in enumerate(parts):
        if part.type == "heading_open":
            words = re.sub(r"[^\w\- ]", "", parts[at + 1].content.lower()).replace(" ", "-")
            times = sum(
                re.fullmatch(rf"{re.escape(words)}(-\d+)?", name) is not None for name in seen
            )
            seen.append(f"{words}-{times}" if times else words)
    return set(seen)


def broken(page: Path) -> list[str]:
    """Links and pictures of a page that lead nowhere; addresses of the web are not asked."""
    found: list[str] = []
    for part in tokens(page):
        link = str(part.attrGet("href") or part.attrGet("src") or "")
        if not link or re.match(r"[a-z]+:", link):
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        inside = target.is_relative_to(ROOT) and target.exists()
        if not inside or (anchor and anchor not in anchors(target)):
            found.append(link)
    return found


@pytest.mark.parametrize("name", PAGES)
def test_every_link_of_a_page_leads_somewhere(name: str) -> None:
    assert broken(ROOT / name) == []


def test_a_link_that_leads_nowhere_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tests.contract.test_docs.ROOT", tmp_path)
    (tmp_path / "there.md").write_text("# One, two\n## One, two\n")
    page = tmp_path / "page.md"
    good = "[a](there.md#one-two) [b](there.md#one-two-1) [c](https://example.org) `[d](gone.md)`"
    page.write_text(f"{good}\n\n[e](gone.md) ![f](gone.png) [g](there.md#three) [h](../out.md)\n")
    assert broken(page) == ["gone.md", "gone.png", "there.md#three", "../out.md"]


@pytest.mark.parametrize("name", OURS)
def test_every_command_that_a_page_names_exists(name: str) -> None:
    text = (ROOT / name).read_text()
    verbs = set(app.commands)
    targets = set(re.findall(r"^([a-z][a-z-]*):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    assert set(re.findall(r"\./duet ([a-z]+)", text)) <= verbs
    assert set(re.findall(r"`make ([a-z][a-z-]*)", text)) <= targets
