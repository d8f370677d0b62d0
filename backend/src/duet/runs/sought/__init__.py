# SPDX-License-Identifier: GPL-2.0-or-later
"""Whether a run shows what a step claims. The page decides alike (frontend/src/derive/sought)."""

from duet.runs.sought.found import Names
from duet.runs.sought.lane import LaneTables, Looks
from duet.runs.sought.search import Step, Window, windows_that_show

__all__ = ["LaneTables", "Looks", "Names", "Step", "Window", "windows_that_show"]
