# SPDX-License-Identifier: GPL-2.0-or-later
"""docs/PUBLISHED.md is what the stored results and the lessons give, and has every figure."""

from __future__ import annotations

from pathlib import Path

from duet.cli.measure.published import stored_page
from duet.cli.measure.published_page import COMMAND
from duet.lessons.load import load, slugs
from duet.measure.published import read_stored


def test_the_page_is_what_the_results_give(root: Path) -> None:
    stored = read_stored(root / "docs/PUBLISHED.json")
    assert stored.tables
    page = (root / "docs/PUBLISHED.md").read_text()
    assert page == stored_page(stored), f"run {COMMAND} and commit both files"


def test_every_figure_has_a_mail_and_its_verdict_or_reason(root: Path) -> None:
    figures = [one for slug in slugs(root) for one in load(slug, root).lesson.published]
    assert len(figures) >= 92
    for slug in slugs(root):
        lesson = load(slug, root).lesson
        assert not lesson.published or lesson.mails, slug
    page = (root / "docs/PUBLISHED.md").read_text()
    rows = [line for line in page.splitlines() if line.startswith("| ") and "**" in line]
    assert len(rows) == len(figures)
