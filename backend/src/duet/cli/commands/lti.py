# SPDX-License-Identifier: GPL-2.0-or-later
"""The verb for learning platforms: its options, its help, and nothing that takes time to import."""

from __future__ import annotations

from typing import Annotated

import typer

from duet.cli.commands.options import Json
from duet.cli.results.keys import keys_text
from duet.cli.results.lti import LtiResult

LTI_KEYS = keys_text(LtiResult)


def lti(
    action: Annotated[
        str, typer.Argument(help="platforms (what each is given), or keys (those that sign).")
    ] = "platforms",
    rotate: Annotated[
        bool, typer.Option("--rotate", help="keys: a new key signs from now on.")
    ] = False,
    url: Annotated[
        str, typer.Option("--url", envvar="DUET_PUBLIC_URL", help="Address of the server.")
    ] = "http://localhost:8642/",
    json: Json = False,
) -> int:
    """Show what a learning platform (Moodle, Canvas) must be given, or the keys for it.

    $DUET_LTI names the file of platforms. A key that was replaced stays in the key set for 7 days.
    A running server follows a rotation at once, and a change of the platforms when it is started.
    """
    from duet.cli.lti import lti as body

    return body(action, rotate, url, json)
