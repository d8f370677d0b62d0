# SPDX-License-Identifier: GPL-2.0-or-later
"""Errors that say why a login or launch is refused."""

from __future__ import annotations

from collections.abc import Mapping

from duet.base.errors import InputError

AGAIN = "Open the activity again from your course."


class LaunchRefused(InputError):
    """The message is too old, not from a registered platform, or not meant for this browser."""

    code = "lti"

    def __init__(self, sentence: str, *, remedy: str = AGAIN, detail: str = "") -> None:
        super().__init__(sentence, remedy=remedy, detail=detail)


def refused_by_platform(values: Mapping[str, str]) -> LaunchRefused | None:
    """Return the error that the platform sent instead of a message (OpenID Connect, 3.1.2.6)."""
    error = values.get("error", "")
    if not error or values.get("id_token"):
        return None
    more = values.get("error_description", "")
    return LaunchRefused(
        f"the platform did not let you in ({error:.60}{': ' * bool(more)}{more:.200})."
    )
