# SPDX-License-Identifier: GPL-2.0-or-later
"""A Markdown page for docs/ that shows every published figure next to our result. Pure."""

from __future__ import annotations

import json
import re
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import chain

from duet.base.clock import format_duration
from duet.cli.keys import from_tree
from duet.cli.measure.results import PublishedResult, PublishedRow
from duet.lessons.load import LessonFolder
from duet.lessons.schema import Lesson, Mail
from duet.measure.compare import format_value
from duet.measure.model import ArmFacts, Report, Table
from duet.measure.published import (
    FigureRow,
    Key,
    Place,
    Stored,
    StoredTable,
    counts,
    interval_words,
    rows_of,
)
from duet.measure.reports.text import WIDTH, plain
from duet.measure.verdicts import PLANTED, RULE, Verdict

# The results of `duet measure --published`, as a table for a mail and as JSON. Pure.

SHORT = 12
"""Number of digits shown of a build's key. The key identifies the base, the config and all
patches.
"""


@dataclass(slots=True)
class Work:
    """Results of `duet measure --published` so far."""

    command: str = "./duet measure --published"
    tables: dict[str, dict[Key, Table]] = field(default_factory=dict)
    troubles: dict[str, dict[Key, str]] = field(default_factory=dict)
    folders: list[LessonFolder] = field(default_factory=list)
    skipped: dict[str, str] = field(default_factory=dict)
    host: dict[str, str] = field(default_factory=dict)
    arms: dict[str, dict[str, ArmFacts]] = field(default_factory=dict)
    partial: str | None = None
    here: Place | None = None
    others: dict[Place, dict[str, dict[Key, Table]]] = field(default_factory=dict)
    """Tables from other hosts."""

    def learn(self, report: Report) -> None:
        """Add what the guests reported about kernels and QEMU."""
        self.host |= report.host
        self.arms.setdefault(report.lesson, {}).update({arm.name: arm for arm in report.arms})

    def rows(self) -> list[FigureRow]:
        """Return a row for each figure of the measured lessons (`folders`)."""
        return [
            row
            for f in self.folders
            for row in rows_of(f, self.tables.get(f.slug, {}), self.troubles.get(f.slug), self.here)
        ]

    def rows_on(self, place: Place) -> list[FigureRow]:
        """Return rows as rows() does, but with the results of another host."""
        tables = self.others[place]
        return [r for f in self.folders for r in rows_of(f, tables.get(f.slug, {}), None, place)]

    def rows_elsewhere(self) -> list[list[FigureRow]]:
        """Return one list of rows per additional host. The figures have the order of rows()."""
        return [self.rows_on(place) for place in self.others]


def tree(work: Work, seconds: float) -> str:
    """Format the results as JSON with the documented keys."""
    rows = work.rows()
    body = PublishedResult(
        rows=[
            from_tree(PublishedRow, row.as_dict()) for row in chain(rows, *work.rows_elsewhere())
        ],
        counts=counts(rows),
        mails={
            f.slug: {name: mail.model_dump() for name, mail in f.lesson.mails.items()}
            for f in work.folders
        },
        rule=RULE,
        skipped=work.skipped,
        host=work.host,
        kernels={slug: [asdict(a) for a in arms.values()] for slug, arms in work.arms.items()},
        seconds=round(seconds, 1),
        partial=work.partial,
    )
    return json.dumps(asdict(body), indent=2, ensure_ascii=False)


FORM = "  {:>8} {:>8} {:<7} {:>2}  {:<17} {}"


def table(work: Work, seconds: float) -> str:
    """Format the results as plain ASCII for a mail or a closing note."""
    rows, elsewhere = work.rows(), work.rows_elsewhere()
    lines = _wrap(f"PARTIAL: {work.partial}.", "!! ", "!!   ") if work.partial else []
    lines += ["Figures of the mails and of this machine: ratios, arm over reference", ""]
    lines += [FORM.format("mail", "ours", "clock", "n", "interval", "verdict"), "-" * WIDTH]
    for number, row in enumerate(rows):
        if not number or row.lesson != rows[number - 1].lesson:
            lines += ["", row.lesson, "=" * len(row.lesson)]
        lines += ["", *_table_row(row, work)]
        for other in (found[number] for found in elsewhere):
            if other.n:
                lines += _wrap(f"{other.on}: {_other_words(other)}", "    ", "      ")
    lines += ["", "-" * WIDTH]
    found = [f"{n} {name}" for name, n in counts(rows).items() if n]
    lines += _wrap(f"{', '.join(found) or 'nothing measured'}. {RULE}")
    lines += _wrap(
        "n is runs per arm. The interval is the 95 % bootstrap interval of the ratio on the wall "
        "clock, and the range over perturbed starts on the count clock (count/3: 8 ns an "
        "instruction)."
    )
    for slug, why in work.skipped.items():
        lines += _wrap(f"Skipped {slug}: {why}.")
    return "\n".join(plain(line) for line in [*lines, *_provenance(work, seconds)])


def _table_row(row: FigureRow, work: Work) -> list[str]:
    figure = row.figure
    lines = _wrap(f"{figure.claim}: {figure.mail}")
    untested = row.judged.verdict is Verdict.NOT_TESTABLE
    if figure.measured:
        start = FORM.format(
            mail_words(row), "-" if row.ratio is None else short(row.ratio), clock_words(row),
            row.n, interval_words(row), "",
        )  # fmt: skip
        lines += _wrap(start.rstrip() + "  " + row.judged.words, "", "    ")
        lines += _wrap(f"here: {_here(row, work)}", "    ", "      ")
    elif not untested:
        lines += _wrap(row.judged.words, "    ", "      ")
    if untested:
        return lines + _wrap(f"{row.judged.words}: {row.because}.", "    ", "      ")
    return lines + (_wrap(f"because {row.because}.", "    ", "      ") if row.because else [])


def _other_words(row: FigureRow) -> str:
    """Format another host's result for a figure, such as '0.203 (0.2..0.21), n 5: reproduced'."""
    if row.ratio is None:
        return f"n {row.n}: {row.judged.words}: {row.because}"
    interval = f" ({interval_words(row)})" if row.interval else ""
    return f"{short(row.ratio)}{interval}, n {row.n}: {row.judged.words}"


def mail_words(row: FigureRow) -> str:
    """Return the mail's ratio, or an exponent such as 'n^2' for a complexity, or '-'."""
    if row.figure.exponent is not None:
        return f"n^{row.figure.exponent:g}"
    return "-" if row.figure.ratio is None else short(row.figure.ratio)


def clock_words(row: FigureRow) -> str:
    """Return the clock, such as 'wall' or 'count/3'. Return '-' if the figure was not measured."""
    figure = row.figure
    if not figure.measured:
        return "-"
    return figure.clock if figure.clock == "wall" or not figure.shift else f"count/{figure.shift}"


def _here(row: FigureRow, work: Work) -> str:
    lesson = next(f.lesson for f in work.folders if f.slug == row.lesson)
    return here(row, lesson)


def here(row: FigureRow, lesson: Lesson) -> str:
    """Describe the measurement that is compared with a published figure.

    An example is 'fifth drop_caches, containers, n=800, after over before'.
    """
    figure = row.figure
    if figure.metric is None:
        return ""
    ours, theirs = (_knobs(k) for k in (figure.params, {**figure.params, **figure.to_params}))
    workload = figure.workload or next(iter(lesson.workloads))
    what = f"{lesson.metrics[figure.metric].title}, {workload}"
    if ours == theirs:
        return ", ".join(p for p in (what, ours, f"{figure.arm} over {figure.to}") if p)
    return f"{what}, {figure.arm} with {ours} over {figure.to} with {theirs}"


def _knobs(params: Mapping[str, int]) -> str:
    return " ".join(f"{name}={value}" for name, value in params.items())


def short(ratio: float) -> str:
    """Format the ratio with three significant digits."""
    return format_value(float(f"{ratio:.3g}"))


def _provenance(work: Work, seconds: float) -> list[str]:
    lines: list[str] = []
    for slug, arms in work.arms.items():
        kernels = ", ".join(dict.fromkeys(f"Linux {a.kernel}" for a in arms.values() if a.kernel))
        builds = ", ".join(f"{a.name} {a.key[:SHORT]}" for a in arms.values())
        lines += _wrap(
            f"Kernels of {slug}: {kernels or 'never booted'}; builds {builds}.", "", "  "
        )
    if work.host:
        host_words = ", ".join(f"{name} {value}" for name, value in work.host.items())
        lines += _wrap(f"Host: {host_words}.", "", "  ")
    return [*lines, f"Measured in {format_duration(seconds)}: {work.command}"]


def _wrap(text: str, first: str = "", rest: str = "") -> list[str]:
    return textwrap.wrap(
        plain(text), WIDTH, initial_indent=first, subsequent_indent=rest, break_on_hyphens=False
    )


COMMAND = "./duet measure --published --stored --write docs/PUBLISHED.md"
Changed = Mapping[str, frozenset[str]]
HASH = 12
"""Number of digits of a hash that are printed. PUBLISHED.json has all digits."""


def page(work: Work, stored: Stored, changed: Changed) -> str:
    """Return the page as Markdown. All dates on the page are dates of results.

    Args:
        changed: lesson -> arms whose patches have changed.
    """
    rows, elsewhere = work.rows(), work.rows_elsewhere()
    lines = [
        "<!-- SPDX-License-Identifier: GPL-2.0-or-later -->",
        f"<!-- Written by `{COMMAND}`. Do not edit. -->",
        "# Published figures and ours",
        "",
        "Every figure of the mails, and what real kernels gave here. A ratio is that of the arm "
        "over its reference. `PUBLISHED.json` has all samples.",
        "",
        f"{len(rows)} figures: {_counted(rows)}. {_when([t for t in stored.tables if not t.on])}",
        *(
            line
            for place, found in zip(work.others, elsewhere, strict=True)
            for line in ("", _elsewhere(place, found, stored))
        ),
        "",
        f"{_plain(RULE)} `backend/src/duet/measure/verdicts.py` is the rule.",
        "",
        "n is runs per arm. The interval is the 95 % bootstrap interval of the ratio on the wall "
        "clock, and the range over perturbed starts on the instruction clock (count/3: 8 ns an "
        "instruction).",
    ]
    for folder in work.folders:
        own = [row for row in rows if row.lesson == folder.slug]
        others = [[row for row in found if row.lesson == folder.slug] for found in elsewhere]
        others = [found for found in others if any(row.n for row in found)]
        arms = changed.get(folder.slug, frozenset())
        lines += _lesson(folder, own, others, list(stored.of(folder.slug).values()), arms)
    return "\n".join([*lines, *_planted()]) + "\n"


def _lesson(
    folder: LessonFolder,
    rows: Sequence[FigureRow],
    others: Sequence[Sequence[FigureRow]],
    tables: Sequence[StoredTable],
    changed: frozenset[str],
) -> Iterator[str]:
    lesson = folder.lesson
    yield from ("", f"## {folder.slug}", f"{_counted(rows)}.", "")
    links = list(lesson.mails)
    for letter, mail in enumerate(lesson.mails.values(), 1):
        yield f"{letter}. {_mail(mail)}"
    contexts = list(dict.fromkeys(row.figure.context for row in rows))
    yield ""
    yield from _table(
        (
            *("figure", "mail", "its figures", "ratio", "ours", "interval", "n", "clock"),
            *("verdict", *(f"on {_plain(found[0].on)}" for found in others)),
        ),
        (
            (*_row(row, links, contexts, changed), *(_cell(found[n]) for found in others))
            for n, row in enumerate(rows)
        ),
    )
    yield ""
    for number, context in enumerate(contexts):
        yield f"- *{_letter(number)}*: {_plain(context)}"
    tested = [row for row in rows if row.figure.measured]
    if tested:
        yield from ("", "What stands for them here:", "")
        said = dict.fromkeys(here(row, lesson) for row in tested)
        yield from (f"- {_plain(words)}" for words in said)
    if tables:
        yield from ("", *_kernels(tables))


def _row(
    row: FigureRow, links: Sequence[str], contexts: Sequence[str], changed: frozenset[str]
) -> tuple[str, ...]:
    figure = row.figure
    number = links.index(figure.link) + 1 if figure.link else 1
    where = f"{number}{_letter(contexts.index(figure.context))}"
    verdict = f"**{_plain(row.judged.words)}**"
    if row.because:
        verdict += f": {_plain(row.because)}"
    if row.ratio is not None and changed & {figure.arm, figure.to}:
        verdict += " (measured before a patch changed)"
    if not figure.measured:
        numbers = (mail_words(row), "", "", "", "")
    else:
        ours = "" if row.ratio is None else short(row.ratio)
        interval = interval_words(row) if row.interval else ""
        numbers = (mail_words(row), ours, interval, str(row.n or ""), clock_words(row))
    cells = (_plain(figure.claim), where, _plain(figure.mail))
    return (*cells, *numbers, verdict)


def _cell(row: FigureRow) -> str:
    """Format another host's result for a figure, with its verdict."""
    if row.n:
        return _plain(_other_words(row))
    untested = row.judged.verdict is Verdict.NOT_TESTABLE
    return _plain(f"{row.judged.words}: {row.because}") if untested and row.because else ""


def _elsewhere(place: Place, rows: Iterable[FigureRow], stored: Stored) -> str:
    measured = [row for row in rows if row.ratio is not None]
    tables = [table for table in stored.tables if table.on == place.on]
    return f"On {_plain(place.on)}: {_counted(measured)}. {_when(tables)}"


def _kernels(tables: Sequence[StoredTable]) -> Iterator[str]:
    """List the measured kernels by hash. An arm with results from two builds appears twice."""
    builds = dict.fromkeys((arm for table in tables for arm in table.arms), "")
    for table in sorted(tables, key=lambda table: table.at):
        builds |= dict.fromkeys(table.arms, table.at[:10])

    def cells() -> Iterator[tuple[str, ...]]:
        for arm, day in builds.items():
            if not arm.key:
                yield (arm.name, "", "not stored", "", "", "", day)
                continue
            own = [f"{file.rpartition('/')[2]} {sha[:HASH]}" for file, sha in arm.patches]
            shared = ", ".join(sha[:HASH] for _, sha in arm.both)
            yield (
                arm.name, arm.kernel, f"`{arm.key[:HASH]}`", f"`{arm.config_sha256[:HASH]}`",
                _plain(", ".join(own)) or "none", shared or "none", day,
            )  # fmt: skip

    yield from _table(
        ("arm", "Linux", "build", "config", "patches", "patches of all arms", "measured"), cells()
    )


def _planted() -> Iterator[str]:
    yield from ("", "## What the rule refuses")
    yield "Planted wrong results; `backend/src/duet/measure/verdicts.py` has them for a test, too."
    yield ""
    yield from _table(
        ("the mail says, and planted is", "verdict"),
        ((_plain(one.what), _plain(one.judged().words)) for one in PLANTED),
    )


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    yield "| " + " | ".join(head) + " |"
    yield "| " + " | ".join("---" for _ in head) + " |"
    for row in rows:
        yield "| " + " | ".join(cell or " " for cell in row) + " |"


def _mail(mail: Mail) -> str:
    subject = _plain(mail.subject)
    where = f"[{subject}]({mail.url})" if mail.url else subject
    return f"{_plain(mail.author)}, {mail.date}: {where}"


def _when(tables: Sequence[StoredTable]) -> str:
    days = sorted({table.at[:10] for table in tables})
    if not days:
        return "Nothing was measured yet."
    hosts = sorted({_host(table) for table in tables})
    between = days[0] if len(days) == 1 else f"{days[0]} to {days[-1]}"
    return f"Measured {between} on {'; '.join(hosts)}."


def _host(table: StoredTable) -> str:
    names = ("cpu", "cpus", "memory_mib", "os", "qemu", "accel")
    return ", ".join(f"{name} {table.host[name]}" for name in names if name in table.host)


def _counted(rows: Iterable[FigureRow]) -> str:
    return ", ".join(f"{n} {name}" for name, n in counts(rows).items() if n)


def _letter(number: int) -> str:
    return chr(ord("a") + number)


def _plain(text: str) -> str:
    """Escape text for Markdown."""
    return re.sub(r"([\\*_|<>`\[\]])", r"\\\1", text)
