# SPDX-License-Identifier: GPL-2.0-or-later
"""How often a class sends and stores what changes all the time."""

from __future__ import annotations

from typing import Final

STATE_EVERY_S: Final = 1.0
"""For members who come and go; a change of the driver, and the end, are sent at once."""
ROSTER_EVERY_S: Final = 1.0
TALLY_EVERY_S: Final = 0.25
RAISED_EVERY_S: Final = 0.25
TIMER_SEEN_S: Final = 60.0
"""A finished timer is shown for so long, also to pages that come later."""
CONFUSION_EVERY_S: Final = 1.0
TRIES_EVERY_S: Final = 0.5
SAVED_S: Final = 120.0
"""From the end of a run to its file; then the run counts as over anyway. Usual: 2 s."""
PLACE_EVERY_S: Final = 2.0
"""Between two times that the driver's position is stored."""
DELETE_EVERY_S: Final = 12 * 3600.0
"""Between two purges of old classes; a server also purges at its start."""
BUCKET_S: Final = 10
"""A member counts as lost once in this time."""
NUMBERS_SKIPPED: Final = 1000
"""Position numbers that a killed server may have sent and not stored: 2 s of them are 60 to 120."""
UNUSED_DAYS: Final = 60
"""A class that nobody ended or visited for so long is ended when a server starts."""
