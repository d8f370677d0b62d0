# SPDX-License-Identifier: GPL-2.0-or-later
"""What one request, socket, recording, guest or child process may use, with its usual value.

One place for every bound that keeps one viewer, file or guest from spoiling another's lesson.
Time limits of single waits stand in the `limits.py` of each package. Each entry says what
happens beyond it.
"""

from __future__ import annotations

from typing import Final

# The event loop

LOOP_HOLD_S: Final = 0.05
"""The longest the event loop may work on one thing. Usual: 1-5 ms. A watchdog counts what
exceeds it; /api/health shows the longest."""
