# SPDX-License-Identifier: GPL-2.0-or-later
"""`duet measure --published --write`: results that stay, beside the page that shows them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from duet.base.errors import DuetError, InputError
from duet.base.files import write
from duet.base.settings import repo_root
from duet.cli.against_table import Work
from duet.cli.output import note
from duet.cli.published_page import page
from duet.kernels import KernelSettings
from duet.kernels.recipe import read_patch
from duet.lessons import load as lessons
from duet.lessons.load import LessonFolder
from duet.measure import MeasurePlan
from duet.measure.model import Report
from duet.measure.provenance import arm_facts
from duet.measure.published import Key, Stored, read_stored, stored_table, write_stored


@dataclass(slots=True)
class Shelf:
    """The stored results and where they lie.

    Args:
        page: the Markdown file; None: none is written.
        results: the JSON next to it.
    """

    results: Path
    stored: Stored
    page: Path | None = None

    @classmethod
    def open(cls, page_file: Path | None) -> Shelf:
        """Results beside a page; without one those of docs/.

        Raises:
            InputError: the page is no .md file, its folder is not there, or the results are
                something else.
        """
        where = page_file or repo_root() / "docs/PUBLISHED.md"
        if where.suffix != ".md" or not where.parent.is_dir():
            raise InputError(
                f"--write wants a .md file in a folder that is there, but {where} came.",
                remedy="Write for example --write docs/PUBLISHED.md.",
            )
        results = where.with_suffix(".json")
        return cls(results, _fitted(read_stored(results)), page_file)

    def fill(self, work: Work) -> None:
        """All stored tables with what they were measured on."""
        fill(work, self.stored)
        for table in self.stored.tables:
            work.host |= table.host
            arms = work.arms.setdefault(table.lesson, {})
            arms.update({arm.name: arm for arm in table.arms})

    def has(self, folder: LessonFolder, key: Key, plan: MeasurePlan) -> bool:
        """Was this measured with the kernels that the tree has now?"""
        table = self.stored.of(folder.slug).get(key)
        if table is None or self.page is None:
            return False
        settings = KernelSettings.default()
        try:
            keys = {arm: arm_facts(folder, arm, settings).key for arm in plan.arms}
        except DuetError:
            return False  # who measures will say why
        return table.has(keys, plan.metrics or ())

    def save(self, report: Report) -> None:
        """A table of a finished measurement, at once: a later interruption leaves it."""
        table = report.tables[0]
        if self.page is None or not any(one.samples for one in table.series):
            return
        self.stored.put(stored_table(report.lesson, table, report.arms, report.host, report.at))
        write_stored(self.results, self.stored)

    def write_page(self) -> None:
        """The page of all lessons, whichever were measured now."""
        if self.page is None:
            return
        write(self.page, stored_page(self.stored).encode())
        note(f"{self.page} is written")


def fill(work: Work, stored: Stored) -> None:
    """All stored tables, as if they had just been measured."""
    for table in stored.tables:
        work.tables.setdefault(table.lesson, {})[table.key] = table.table()


def stored_page(stored: Stored) -> str:
    """The page out of stored results and the lessons as they are now."""
    stored = _fitted(stored)
    root = repo_root()
    folders = [lessons.load(slug, root) for slug in lessons.slugs(root)]
    work = Work(folders=[folder for folder in folders if folder.lesson.published])
    fill(work, stored)
    changed = {folder.slug: changed_arms(folder, stored) for folder in work.folders}
    return page(work, stored, changed)


def _fitted(stored: Stored) -> Stored:
    """Results as the lessons name their knobs now."""
    named = {table.lesson for table in stored.tables}
    known = [lessons.load(slug) for slug in lessons.slugs() if slug in named]
    return stored.fitted({folder.slug: folder.check_params({}) for folder in known})


def changed_arms(folder: LessonFolder, stored: Stored) -> frozenset[str]:
    """Arms whose own patches differ from those of their stored results, by hash."""
    patches = repo_root() / "kernel-patches"
    arms = [arm for table in stored.of(folder.slug).values() for arm in table.arms if arm.key]
    now = {
        arm.name: [read_patch(file, patches).sha256 for file in folder.patch_files(arm.name)]
        for arm in folder.lesson.arms
    }
    return frozenset(
        arm.name for arm in arms if [sha for _, sha in arm.patches] != now.get(arm.name)
    )
