# SPDX-License-Identifier: GPL-2.0-or-later
"""`duet backup` and `duet restore`: what a server stores, as one file."""

from __future__ import annotations

from pathlib import Path

from duet.cli.output import emit
from duet.cli.results.host import BackupResult
from duet.server.backup import Contents, Places, make, restore

WORDS = {
    "run": "saved runs",
    "change": "files of changes",
    "tokens": "file of tokens",
    "classes": "database of classes",
}


def backup(file: Path, as_json: bool) -> int:
    """See `duet backup --help`."""
    return tell("in the backup", file, make(file, Places.default()), as_json)


def restored(file: Path, replace: bool, as_json: bool) -> int:
    """See `duet restore --help`."""
    return tell("restored", file, restore(file, Places.default(), replace=replace), as_json)


def tell(done: str, file: Path, contents: Contents, as_json: bool) -> int:
    """What is in a backup."""
    counts = contents.counts()
    if as_json:
        emit(BackupResult(str(file), contents.made_at, contents.version, counts, contents.size))
        return 0
    found = [f"{counts[kind]} {words}" for kind, words in WORDS.items() if kind in counts]
    print(
        f"{done}: {', '.join(found) or 'nothing'} ({contents.size:,} bytes), of {contents.made_at}"
    )
    return 0
