# SPDX-License-Identifier: GPL-2.0-or-later
"""`duet host`: runs guests for a server on another machine."""

from __future__ import annotations

import logging
import sys
from pathlib import Path
from typing import Annotated

import typer

from duet.base.errors import InputError
from duet.base.logs import set_up_logging
from duet.base.settings import log_form
from duet.processes.run_dir import sweep_all

TOKEN_CHARS = 400


def host(
    join: Annotated[str, typer.Option(help="The server: ws://NAME:PORT/hosts/join, or wss://.")],
    token_file: Annotated[
        Path | None,
        typer.Option(help="File whose first line is the token; default: standard input."),
    ] = None,
) -> int:
    """Run guests for a server on another machine.

    The server starts this program with a one-time token. The server then requests runs, and
    receives their events as they happen. No events are lost if the connection breaks. After 30 s
    without the server, this program ends its guests and exits.
    """
    from duet import confine
    from duet.host import process

    # Children are forked by a copy of this process, which is made before the token is read.
    confine.fork()
    token = read_token(token_file)
    set_up_logging(logging.StreamHandler(), log_form() == "json")
    sweep_all()
    process.run(lambda end: process.join(join, token, end))
    return 0


def read_token(file: Path | None) -> str:
    """Read the first line of a file, or of standard input.

    Raises:
        InputError: there is no token.
    """
    name = "standard input" if file is None else f"the file {file}"
    try:
        if file is None:
            line = sys.stdin.readline(TOKEN_CHARS)
        else:
            with file.open(encoding="utf-8") as lines:
                line = lines.readline(TOKEN_CHARS)
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(
            f"{name} cannot be read ({error}).", remedy="Provide a server's token on one line."
        ) from error
    token = line.strip()
    if not token or not token.isprintable() or " " in token:
        raise InputError(
            f"{name} has no token in its first line.",
            remedy="Provide the token that the server created for this host.",
        )
    return token
