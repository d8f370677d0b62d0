# SPDX-License-Identifier: GPL-2.0-or-later
"""`duet backup` and `duet restore`: copy a server's stored data to one file, and back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from duet.cli.keys import key, keys_text
from duet.cli.options import Json
from duet.cli.output import emit

if TYPE_CHECKING:
    from duet.server.backup import Contents


@dataclass(frozen=True, slots=True)
class BackupResult:
    file: str
    made_at: str = key("ISO 8601 UTC")
    version: str = key("of the Kernel Duet that wrote it")
    files: Mapping[Any, int] = key(shape="{run|owner|tokens|classes|change: n}")
    bytes: int = key("of all files")


BackupFile = Annotated[
    Path, typer.Argument(help="The backup; keep it safe: it has token hashes and a key.")
]

KEYS = keys_text(BackupResult)


def backup(file: BackupFile, as_json: Json = False) -> int:
    """Write saved runs, tokens, classes and changes into one file. The server may keep running.

    Kernels are left out, because they can be built again. Trials that ./duet try made are left out,
    too.
    """
    from duet.server.backup import Places, make

    return print_contents("in the backup", file, make(file, Places.default()), as_json)


def restore(
    file: BackupFile,
    replace: Annotated[bool, typer.Option("--replace", help="Replace what is stored now.")] = False,
    as_json: Json = False,
) -> int:
    """Verify a backup by its hashes, then restore its contents. Stop the server first."""
    from duet.server import backup

    return print_contents(
        "restored", file, backup.restore(file, backup.Places.default(), replace=replace), as_json
    )


WORDS = {
    "run": "saved runs",
    "change": "files of changes",
    "tokens": "file of tokens",
    "classes": "database of classes",
}


def print_contents(done: str, file: Path, contents: Contents, as_json: bool) -> int:
    counts = contents.counts()
    if as_json:
        emit(BackupResult(str(file), contents.made_at, contents.version, counts, contents.size))
        return 0
    found = [f"{counts[kind]} {words}" for kind, words in WORDS.items() if kind in counts]
    print(
        f"{done}: {', '.join(found) or 'nothing'} ({contents.size:,} bytes), of {contents.made_at}"
    )
    return 0
