# SPDX-License-Identifier: GPL-2.0-or-later
"""What a guest's process costs the host in memory."""

from __future__ import annotations

from pathlib import Path

from duet.errors import InfraError


def pss_bytes(pid: int) -> int:
    """Proportional set size: pages that several processes map are shared out among them.

    Source: /proc/PID/smaps_rollup (proc(5)).

    Raises:
        InfraError: there is no such process, or it may not be read.
    """
    try:
        text = Path(f"/proc/{pid}/smaps_rollup").read_text()
        return next(int(line.split()[1]) << 10 for line in text.splitlines() if line[:4] == "Pss:")
    except (OSError, StopIteration, ValueError) as error:
        raise InfraError(
            f"the memory of process {pid} cannot be read: {error}.",
            remedy="Run it as the user that started the guest, or as root.",
        ) from error
