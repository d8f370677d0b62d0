# SPDX-License-Identifier: GPL-2.0-or-later
"""Timeouts and limits of owned processes, in seconds."""

from __future__ import annotations

from typing import Final

END_S: Final = 5.0
"""Timeout from SIGKILL to the end of the process. A longer wait means that the process hangs in the
host's kernel."""

DRAFT_S: Final = 60.0
"""Age at which an unfinished private directory is removed, because its owner must have been
killed."""

TERM_S: Final = 2.0
"""Time from SIGTERM to SIGKILL, for a launcher that cleans up."""

NICE: Final = 10
"""Niceness of guests, so that the server and the browser have priority."""
