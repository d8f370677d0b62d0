# SPDX-License-Identifier: GPL-2.0-or-later
"""What a running guest tells other programs of this user: a small file in its run directory."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from duet.processes.run_dir import live_folders, runtime_base

NAME = "lane.json"


@dataclass(frozen=True, slots=True)
class LaneInfo:
    """A running lane.

    Args:
        socket: the monitor kept for `duet drgn`.
        pid: of its QEMU (or launcher).
    """

    lesson: str
    arm: str
    vmlinux: str
    socket: str
    pid: int


def publish(folder: Path, info: LaneInfo) -> None:
    """Write the file; a lane that cannot only cannot be found."""
    try:
        draft = folder / f"{NAME}.new"
        draft.write_text(json.dumps(asdict(info)))
        draft.rename(folder / NAME)
    except OSError:
        pass


def running(base: Path | None = None) -> list[LaneInfo]:
    """All lanes whose owner lives, by lesson and arm."""
    found = []
    for folder in live_folders(base or runtime_base()):
        try:
            tree = json.loads((folder / NAME).read_text())
            found.append(LaneInfo(**tree))
        except (OSError, ValueError, TypeError):
            continue  # a guest that is booting, or is no lane
    return sorted(found, key=lambda info: (info.lesson, info.arm, info.pid))
