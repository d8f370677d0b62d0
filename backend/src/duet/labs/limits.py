# SPDX-License-Identifier: GPL-2.0-or-later
"""Sizes of labs, of what people send, and of what is stored."""

from __future__ import annotations

from typing import Final

TASKS: Final = 40
"""Of one lab."""
TEXT_CHARS: Final = 10_000
"""Most that an explanation of any lab may have."""
BODY_BYTES: Final = 64 * 1024
"""Of a request that sends an answer or a grade."""
ATTEMPTS: Final = 2000
"""Of one person in one lab, of all tasks together."""
NAME_CHARS: Final = 60
COMMENT_CHARS: Final = 4000
"""Of whoever grades."""
VERDICTS: Final = 500
"""Verdicts of challenges that a server remembers until they are handed in."""
