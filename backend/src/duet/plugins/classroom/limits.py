# SPDX-License-Identifier: GPL-2.0-or-later
"""How often a class sends and stores data that changes all the time."""

from __future__ import annotations

from typing import Final

STATE_EVERY_S: Final = 1.0
"""Interval between state messages when members come and go. A change of driver and the end of the
class are sent at once."""
ROSTER_EVERY_S: Final = 1.0
TALLY_EVERY_S: Final = 0.25
RAISED_EVERY_S: Final = 0.25
TIMER_SEEN_S: Final = 60.0
"""How long a finished timer stays visible, also to pages that connect later."""
CONFUSION_EVERY_S: Final = 1.0
TRIES_EVERY_S: Final = 0.5
SAVED_S: Final = 120.0
"""Longest wait for a run's file after the run ends; after that, the run counts as over anyway.
Usual wait: 2 s."""
PLACE_EVERY_S: Final = 2.0
"""Interval at which the driver's position is stored."""
DELETE_EVERY_S: Final = 12 * 3600.0
"""Interval between purges of old classes. A server also purges when it starts."""
BUCKET_S: Final = 10
"""Length in seconds of the interval in which a member counts as lost at most once."""
NUMBERS_SKIPPED: Final = 1000
"""Position numbers to skip after a restart, because a killed server may have sent positions that it
did not store. In 2 s it sends 60 to 120."""
UNUSED_DAYS: Final = 60
"""Days after which a starting server ends a class that nobody ended or visited."""
