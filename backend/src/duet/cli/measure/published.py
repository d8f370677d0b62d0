# SPDX-License-Identifier: GPL-2.0-or-later
"""`duet measure --published`: measures, and compares the results with the figures in mails."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from duet.base.clock import format_duration
from duet.base.errors import DuetError, InfraError, InputError
from duet.base.files import write
from duet.base.settings import repo_root
from duet.cli.measure.published_page import Work, page, table, tree
from duet.cli.measure.run import check_format, check_output, write_report
from duet.cli.measuring import ProgressBar, interrupted_exit_code, interruptible
from duet.cli.output import note
from duet.kernels import KernelSettings
from duet.kernels.recipe import read_patch
from duet.lessons import load as lessons
from duet.lessons.load import LessonFolder
from duet.measure import MeasurePlan
from duet.measure.elsewhere import read_result, stored_elsewhere
from duet.measure.model import Report
from duet.measure.plan import knobs, steps
from duet.measure.provenance import arm_facts
from duet.measure.published import (
    Key,
    Stored,
    published_plans,
    read_stored,
    stored_table,
    write_stored,
)
from duet.runs.measure import prepare_measurement


@dataclass(slots=True)
class StoredResults:
    """The results that --write stored, and the page that shows these results.

    Args:
        page: the Markdown file; if None, no file is written.
        results: the JSON file.
    """

    results: Path
    stored: Stored
    page: Path | None = None

    @classmethod
    def open(cls, page_file: Path | None) -> StoredResults:
        """Open the results next to a page. If no page is given, open the results in docs/.

        Raises:
            InputError: the page is not a .md file, its folder does not exist, or the results are
                invalid.
        """
        where = page_file or repo_root() / "docs/PUBLISHED.md"
        if where.suffix != ".md" or not where.parent.is_dir():
            raise InputError(
                f"--write needs a .md file in an existing folder, but got {where}.",
                remedy="Write for example --write docs/PUBLISHED.md.",
            )
        results = where.with_suffix(".json")
        return cls(results, _fitted(read_stored(results)), page_file)

    def add(self, paths: Iterable[Path]) -> None:
        """Add other hosts' results. If there is a page, also store them.

        Raises:
            BadHostResult: a result is damaged, or is from other kernels or another plan.
        """
        added = stored_elsewhere([read_result(path) for path in paths])
        for one in added:
            self.stored.put(one)
        if added and self.page is not None:
            write_stored(self.results, self.stored)

    def fill(self, work: Work) -> None:
        """Add all stored tables to `work`, with the hosts and kernels that were measured."""
        fill(work, self.stored)
        for one in self.stored.tables:
            if one.on:
                continue
            work.host |= one.host
            arms = work.arms.setdefault(one.lesson, {})
            arms.update({arm.name: arm for arm in one.arms})

    def has(self, folder: LessonFolder, key: Key, plan: MeasurePlan) -> bool:
        """Return whether a stored result exists for the kernels that this source tree builds."""
        table = self.stored.of(folder.slug).get(key)
        if table is None or self.page is None:
            return False
        settings = KernelSettings.default()
        try:
            keys = {arm: arm_facts(folder, arm, settings).key for arm in plan.arms}
        except DuetError:
            return False  # the measurement will report the error
        return table.has(keys, plan.metrics or ())

    def save(self, report: Report) -> None:
        """Store a finished measurement's table, so that a later interruption does not lose it."""
        table = report.tables[0]
        if self.page is None or not any(one.samples for one in table.series):
            return
        self.stored.put(stored_table(report.lesson, table, report.arms, report.host, report.at))
        write_stored(self.results, self.stored)

    def write_page(self) -> None:
        """Write the page with all lessons, whether they were measured now or earlier."""
        if self.page is None:
            return
        write(self.page, stored_page(self.stored).encode())
        note(f"wrote {self.page}")


def fill(work: Work, stored: Stored) -> None:
    """Add all stored tables to `work`, as if they had just been measured."""
    work.here, *others = stored.places()
    work.others = {place: {} for place in others}
    for one in stored.tables:
        place = next((p for p in others if p.on == one.on), None)
        tables = work.others[place] if place else work.tables
        tables.setdefault(one.lesson, {})[one.key] = one.table()


def stored_page(stored: Stored) -> str:
    """Return the page. Make it from stored results and from the lessons as they are now."""
    stored = _fitted(stored)
    root = repo_root()
    folders = [lessons.load(slug, root) for slug in lessons.slugs(root)]
    work = Work(folders=[folder for folder in folders if folder.lesson.published])
    fill(work, stored)
    changed = {folder.slug: changed_arms(folder, stored) for folder in work.folders}
    return page(work, stored, changed)


def _fitted(stored: Stored) -> Stored:
    """Adapt stored results to the knobs that the lessons have now."""
    named = {table.lesson for table in stored.tables}
    known = [lessons.load(slug) for slug in lessons.slugs() if slug in named]
    return stored.fitted({folder.slug: folder.check_params({}) for folder in known})


def changed_arms(folder: LessonFolder, stored: Stored) -> frozenset[str]:
    """Return the arms whose own patches no longer have the hashes in the stored results."""
    patches = repo_root() / "kernel-patches"
    arms = [arm for table in stored.of(folder.slug).values() for arm in table.arms if arm.key]
    now = {
        arm.name: [read_patch(file, patches).sha256 for file in folder.patch_files(arm.name)]
        for arm in folder.lesson.arms
    }
    return frozenset(
        arm.name for arm in arms if [sha for _, sha in arm.patches] != now.get(arm.name)
    )


Todo = list[tuple[LessonFolder, Key, MeasurePlan]]


@dataclass(frozen=True, slots=True)
class PageOptions:
    """Options that say what to do with results.

    Args:
        page: from --write. A page with all figures is written, and next to it a JSON file with the
            results. Kernels that have stored results are not measured again.
        stored: from --stored. Nothing is measured, and the stored results are shown.
        results: from --from. Nothing is measured, and other hosts' results are added.
    """

    page: Path | None = None
    stored: bool = False
    results: tuple[Path, ...] = ()

    @property
    def measures(self) -> bool:
        return not self.stored and not self.results


def compare_published(
    lesson: str | None, every: bool, published: bool, more: bool, how: str, output: Path | None,
    keep: PageOptions,
) -> int:  # fmt: skip
    """Compare measured figures of one lesson or all lessons with the figures in mails.

    Args:
        more: whether any options for a single measurement were given.
    """
    check_format(how)
    check_output(output)
    if not published and (keep.stored or keep.page is not None):
        raise InputError(
            "--write and --stored need --published.",
            remedy="Add --published.",
        )
    if not published:
        raise InputError(
            "--all needs --published, because it compares every lesson with its mail.",
            remedy="Write ./duet measure --published, or name a lesson.",
        )
    if more:
        raise InputError(
            "--published takes arms, knobs, clock and runs from the lessons' own `published:`.",
            remedy="Leave the other options out, or leave --published out.",
        )
    if lesson and every:
        raise InputError(
            f"--all means every lesson, but {lesson:.60} was also named.",
            remedy="Leave out --all or the lesson.",
        )
    if how not in ("mail", "json"):
        raise InputError(
            f"--published makes one table and has no format '{how}'.",
            remedy="Use --format mail or --json.",
        )
    shelf = StoredResults.open(keep.page)
    shelf.add(keep.results)
    began = time.monotonic()
    work = Work(command=" ".join(["./duet measure", *([lesson] if lesson else []), "--published"]))
    todo = _plan(work, [lesson] if lesson else lessons.slugs(), one=lesson is not None)
    if not keep.measures or keep.page is not None:
        shelf.fill(work)
    todo = [] if not keep.measures else [one for one in todo if not shelf.has(*one)]
    whole = asyncio.run(interruptible(_measure(work, todo, shelf)))
    shelf.write_page()
    seconds = time.monotonic() - began
    text = tree(work, seconds) if how == "json" else table(work, seconds)
    unwritten = write_report(text, output)
    if not whole:
        return interrupted_exit_code()
    nothing = not any(row.n for row in work.rows())
    return InfraError.exit_code if nothing and keep.measures else unwritten


def _plan(work: Work, slugs: list[str], *, one: bool) -> Todo:
    """Plan the measurements. Skip lessons that cannot be read or have no published figures.

    If the user named one lesson (`one`), raise an error instead.
    """
    todo: Todo = []
    for slug in slugs:
        try:
            folder = lessons.load(slug)
            plans = published_plans(folder)
        except DuetError as error:
            if one:
                raise
            work.skipped[slug] = error.sentence.rstrip(".")
            continue
        if folder.lesson.published:
            work.folders.append(folder)
            todo += [(folder, key, plan) for key, plan in plans.items()]
        elif one:
            raise InputError(
                f"{slug} has no published figures to compare with.",
                remedy="Write figures under `published:` in evidence.yaml, or name another lesson.",
            )
        else:
            work.skipped[slug] = "its evidence.yaml has no `published:`"
    return todo


async def _measure(work: Work, todo: Todo, shelf: StoredResults) -> None:
    """Run all measurements, one after another.

    After an interruption, `work` contains the tables that were measured before.
    """
    settings, began = KernelSettings.default(), time.monotonic()
    runs = [len(steps(plan)) for _, _, plan in todo]
    for number, (folder, key, plan) in enumerate(todo, 1):
        work.partial = f"interrupted in table {number} of {len(todo)}"
        done = sum(runs[: number - 1])
        left = (time.monotonic() - began) / done * (sum(runs) - done) if done else None
        note(f"table {number} of {len(todo)}: {_heading(folder, plan, left)}")
        with ProgressBar() as tell:
            try:
                measuring = await prepare_measurement(plan, settings, "", tell)
                work.tables.setdefault(folder.slug, {})[key] = measuring.report.tables[0]
                try:
                    await measuring.run()
                finally:
                    work.learn(measuring.report)
                shelf.save(measuring.report)
            except DuetError as error:
                # A failed table becomes a row with the reason. The other tables are still measured.
                why = f"{error.sentence.rstrip('.')} ({error.remedy.rstrip('.')})"
                work.troubles.setdefault(folder.slug, {})[key] = why
                note(f"table {number}: {error.sentence}")
    work.partial = None


def _heading(folder: LessonFolder, plan: MeasurePlan, left_s: float | None) -> str:
    words = [folder.slug, plan.workload, *(f"{k}={v}" for k, v in knobs(plan).items())]
    words += [f"{plan.clock} clock", f"{len(steps(plan))} runs"]
    left = "" if left_s is None else f" (about {format_duration(left_s)} left in all)"
    return ", ".join(words) + left
