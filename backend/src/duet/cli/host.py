# SPDX-License-Identifier: GPL-2.0-or-later
"""`duet host`: runs guests for a server of another machine."""

from __future__ import annotations

import logging
import sys
from pathlib import Path
from typing import Annotated

import typer

from duet.base.errors import InputError
from duet.base.logs import begin_log
from duet.base.settings import log_form
from duet.processes.run_dir import sweep_all

TOKEN_CHARS = 400


def host(
    join: Annotated[str, typer.Option(help="The server: ws://NAME:PORT/hosts/join, or wss://.")],
    token_file: Annotated[
        Path | None, typer.Option(help="Has the token in its first line; default: standard input.")
    ] = None,
) -> int:
    """Run guests for a server of another machine, which starts this with a token that counts once.

    The server asks for runs, and gets their events while they go on. When the connection breaks,
    nothing is lost; when the server is away for 30 s, this ends its guests and itself.
    """
    from duet.host import process

    token = read_token(token_file)
    begin_log(logging.StreamHandler(), log_form() == "json")
    sweep_all()
    process.run(lambda end: process.join(join, token, end))
    return 0


def read_token(file: Path | None) -> str:
    """The first line of a file, or of standard input.

    Raises:
        InputError: there is none.
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
            f"{name} cannot be read ({error}).", remedy="Give the token of a server, in one line."
        ) from error
    token = line.strip()
    if not token or not token.isprintable() or " " in token:
        raise InputError(
            f"{name} has no token in its first line.",
            remedy="Give the token that the server has made for this host.",
        )
    return token
