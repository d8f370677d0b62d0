# SPDX-License-Identifier: GPL-2.0-or-later
"""Files that describe running lanes for other programs of this user, one per run directory."""

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
        socket: QEMU monitor reserved for `duet drgn`.
        pid: process id of QEMU or its launcher.
    """

    lesson: str
    arm: str
    vmlinux: str
    socket: str
    pid: int


def publish(folder: Path, info: LaneInfo) -> None:
    """Write the lane's file. If writing fails, `duet drgn` does not find the lane."""
    try:
        draft = folder / f"{NAME}.new"
        draft.write_text(json.dumps(asdict(info)))
        draft.rename(folder / NAME)
    except OSError:
        pass


def running(base: Path | None = None) -> list[LaneInfo]:
    """Return all lanes whose owner is alive, sorted by lesson and arm."""
    found = []
    for folder in live_folders(base or runtime_base()):
        try:
            tree = json.loads((folder / NAME).read_text())
            found.append(LaneInfo(**tree))
        except (OSError, ValueError, TypeError):
            continue  # the guest is still booting, or belongs to no lane
    return sorted(found, key=lambda info: (info.lesson, info.arm, info.pid))
