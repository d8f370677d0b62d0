# SPDX-License-Identifier: GPL-2.0-or-later
"""recorded/stale.txt of a lesson: what is known to be stale and still to be made anew.

A line is the name of a recording or of a table, as `duet record-all --list` prints it. The lint
reports these as not checked; `duet record-all` takes off what it has made, and the file goes with
its last line.
"""

from __future__ import annotations

from pathlib import Path

from duet import durable
from duet.serve.recorded_items import Item

STALE = "stale.txt"


def known_stale(recorded: Path) -> tuple[str, ...]:
    """Names in the file of this folder; none without one."""
    path = recorded / STALE
    if not path.is_file():
        return ()
    lines = path.read_text(encoding="utf-8").splitlines()
    return tuple(line.strip() for line in lines if line.strip() and not line.startswith("#"))


def take_off(item: Item) -> None:
    """An item was made anew.

    Raises:
        OSError: the file cannot be written.
    """
    recorded = item.path.parent
    left = [name for name in known_stale(recorded) if name != item.name]
    if left:
        durable.write(recorded / STALE, "".join(f"{name}\n" for name in left).encode())
    else:
        (recorded / STALE).unlink(missing_ok=True)
