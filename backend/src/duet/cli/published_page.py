# SPDX-License-Identifier: GPL-2.0-or-later
"""Every published figure beside ours, as a page of docs/: Markdown, out of stored results. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from duet.cli.against_table import Work, clock_words, here, mail_words, short
from duet.lessons.load import LessonFolder
from duet.lessons.schema import Mail
from duet.measure.published import FigureRow, Stored, StoredTable, counts, interval_words
from duet.measure.verdicts import PLANTED, RULE

COMMAND = "./duet measure --published --stored --write docs/PUBLISHED.md"
Changed = Mapping[str, frozenset[str]]
HASH = 12
"""Digits of a hash that are printed; PUBLISHED.json has them whole."""


def page(work: Work, stored: Stored, changed: Changed) -> str:
    """The page, with no date but those of the results.

    Args:
        changed: lesson -> arms whose patches are others now.
    """
    rows = work.rows()
    lines = [
        "<!-- SPDX-License-Identifier: GPL-2.0-or-later -->",
        f"<!-- Written by `{COMMAND}`. Do not edit. -->",
        "# Published figures and ours",
        "",
        "Every figure of the mails, and what real kernels gave here. A ratio is that of the arm "
        "over its reference. `PUBLISHED.json` has all samples.",
        "",
        f"{len(rows)} figures: {_counted(rows)}. {_when(stored.tables)}",
        "",
        f"{_plain(RULE)} `backend/src/duet/measure/verdicts.py` is the rule.",
        "",
        "n is runs per arm. The interval is the 95 % bootstrap interval of the ratio on the wall "
        "clock, and the range over perturbed starts on the instruction clock (count/3: 8 ns an "
        "instruction).",
    ]
    for folder in work.folders:
        own = [row for row in rows if row.lesson == folder.slug]
        others = changed.get(folder.slug, frozenset())
        lines += _lesson(folder, own, list(stored.of(folder.slug).values()), others)
    return "\n".join([*lines, *_planted()]) + "\n"


def _lesson(
    folder: LessonFolder,
    rows: Sequence[FigureRow],
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
        ("figure", "mail", "its figures", "ratio", "ours", "interval", "n", "clock", "verdict"),
        (_row(row, links, contexts, changed) for row in rows),
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


def _kernels(tables: Sequence[StoredTable]) -> Iterator[str]:
    """Which kernels, by hash, the results are of; an arm twice if it was built twice."""
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
    """Text that Markdown leaves as it is."""
    return re.sub(r"([\\*_|<>`\[\]])", r"\\\1", text)
