# SPDX-License-Identifier: GPL-2.0-or-later
"""`duet` with a wall clock that a test can step; the machine's own clock stays as it is.

time.time() and datetime.now() have the seconds in the file $DUET_SOAK_CLOCK added, read at each
call. The monotonic clock never steps, and is left alone, as the kernel does it.
"""

from __future__ import annotations

import datetime as module
import os
import sys
import time
from pathlib import Path

OFFSET = Path(os.environ["DUET_SOAK_CLOCK"])
_real_time = time.time
_real_ns = time.time_ns
_Real = module.datetime


def offset_s() -> float:
    """By how much the clock was stepped."""
    try:
        return float(OFFSET.read_text())
    except (OSError, ValueError):
        return 0.0


class Stepped(_Real):
    """datetime, whose now() is the stepped time."""

    @classmethod
    def now(cls, tz: module.tzinfo | None = None) -> Stepped:
        return cls.fromtimestamp(time.time(), tz)


time.time = lambda: _real_time() + offset_s()
time.time_ns = lambda: _real_ns() + int(offset_s() * 1e9)
module.datetime = Stepped  # type: ignore[misc]

if __name__ == "__main__":
    from duet.cli.entry import main

    sys.argv[0] = "duet"
    sys.exit(main())
