# SPDX-License-Identifier: GPL-2.0-or-later
"""Why a login or a launch is refused."""

from __future__ import annotations

from duet.base.errors import InputError

AGAIN = "Open the activity again from your course."


class LaunchRefused(InputError):
    """A message that did not come from a registered platform just now, for this browser."""

    code = "lti"

    def __init__(self, sentence: str, *, remedy: str = AGAIN, detail: str = "") -> None:
        super().__init__(sentence, remedy=remedy, detail=detail)
