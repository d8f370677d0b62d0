# SPDX-License-Identifier: GPL-2.0-or-later
"""Waits and bounds of owned processes, by name. Seconds."""

from __future__ import annotations

from typing import Final

END_S: Final = 5.0
"""SIGKILL to the end of the process. Longer means a process stuck in the host's kernel."""

DRAFT_S: Final = 60.0
"""A private directory in the making that is older was left by an owner that was killed."""

TERM_S: Final = 2.0
"""SIGTERM to SIGKILL, for a launcher that cleans up after itself."""

NICE: Final = 10
"""Guests run below server and browser."""
