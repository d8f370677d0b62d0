# SPDX-License-Identifier: GPL-2.0-or-later
"""Changes that somebody makes to an arm: read strictly, stored by content, an arm of their own.

`change.py` reads one, `store.py` stores it and gives a lesson with the arm, `source.py` has the
text that can be changed, `from_recordings.py` the changes that recordings bring.
"""

from duet.changes.change import Change, read_change
from duet.changes.from_recordings import BroughtChanges, brought
from duet.changes.source import Region, Source, arm_source
from duet.changes.store import Changes

__all__ = [
    "BroughtChanges",
    "Change",
    "Changes",
    "Region",
    "Source",
    "arm_source",
    "brought",
    "read_change",
]
