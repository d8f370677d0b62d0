# SPDX-License-Identifier: GPL-2.0-or-later
"""What a program of this project on a lease needs of our environment; the rest may hold secrets."""

from __future__ import annotations

import os
from typing import Final

PASSED_ON: Final = (
    *("DUET_ROOT", "DUET_CACHE", "DUET_LESSONS", "DUET_BASE", "DUET_ACCEL", "DUET_GUEST"),
    *("DUET_TEMPLATES_MIB", "DUET_LOG", "PYTHONPATH"),
)
PLACES: Final = ("DUET_ROOT", "DUET_CACHE", "DUET_LESSONS", "PYTHONPATH")
"""Those of them that are paths of the server. An image has its own."""


def environment() -> dict[str, str]:
    """Of such a program."""
    return {name: os.environ[name] for name in PASSED_ON if name in os.environ}
