# SPDX-License-Identifier: GPL-2.0-or-later
"""`duet host`: runs guests for a server of another machine."""

from __future__ import annotations

import logging
import sys
from pathlib import Path

from duet.base.errors import InputError
from duet.base.logs import begin_log
from duet.base.settings import log_form
from duet.host.worker import join, run
from duet.processes.run_dir import sweep_all

TOKEN_CHARS = 400


def host(url: str, token_file: Path | None) -> int:
    """See `duet host --help`."""
    token = read_token(token_file)
    begin_log(logging.StreamHandler(), log_form() == "json")
    sweep_all()
    run(lambda end: join(url, token, end))
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
