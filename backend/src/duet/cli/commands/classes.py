# SPDX-License-Identifier: GPL-2.0-or-later
"""The verb of classes."""

from __future__ import annotations

from typing import Annotated

import typer

from duet.cli.commands.options import Json
from duet.cli.results.classes import ClassResult
from duet.cli.results.keys import keys_text

CLASS_KEYS = keys_text(ClassResult)


def class_(
    action: Annotated[str, typer.Argument(help="list, or forget.")] = "list",
    class_id: Annotated[
        str, typer.Argument(metavar="class", help="Of forget: the class's id.")
    ] = "",
    nickname: Annotated[str, typer.Argument(help="Of forget: the member's.")] = "",
    server_stopped: Annotated[
        bool, typer.Option("--server-stopped", help="Also in a class that has not ended.")
    ] = False,
    json: Json = False,
) -> int:
    """Classes that are stored here; or the deletion of one member's nickname, answers,
    questions and votes (docs/CLASSES.md).
    """
    from duet.cli.classes import class_ as body

    return body(action, class_id, nickname, server_stopped, json)
