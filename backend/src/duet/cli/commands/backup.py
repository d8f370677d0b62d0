# SPDX-License-Identifier: GPL-2.0-or-later
"""Verbs for what a server stores."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from duet.cli.commands.options import Json
from duet.cli.results.host import BackupResult
from duet.cli.results.keys import keys_text

BACKUP_KEYS = keys_text(BackupResult)
File = Annotated[Path, typer.Argument(help="A file; it has hashes of tokens and a key in it.")]


def backup(file: File, json: Json = False) -> int:
    """Write saved runs, tokens, classes and visitors' changes into one file; the server may run.

    Kernels are not in it: they are built again. Nor are trials of ./duet try.
    """
    from duet.cli.backup import backup as body

    return body(file, json)


def restore(
    file: File,
    replace: Annotated[
        bool, typer.Option("--replace", help="In the place of what is stored now.")
    ] = False,
    json: Json = False,
) -> int:
    """Check a backup by its hashes, then bring back what is in it. End the server first."""
    from duet.cli.backup import restored as body

    return body(file, replace, json)
