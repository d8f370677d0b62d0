# SPDX-License-Identifier: GPL-2.0-or-later
"""What a child may use, and for whose sake it runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from duet import budgets
from duet.errors import DuetError, InputError

LATER: Final = "Get the file anew, or record it again."


@dataclass(frozen=True, slots=True)
class Terms:
    """Bounds of one child.

    Args:
        subject: begins the sentence about its end, as in "the events of lane srcu".
        blame: the kind of error that this sentence is.
        memory_bytes: of its address space.
        cpu_s: CPU time of its whole life.
        request_cpu_s: CPU time of one request.
        wait_s: from a request to its whole reply.
        reply_bytes: of one reply.
        file_bytes: the longest file it may write.
    """

    subject: str
    blame: type[DuetError] = InputError
    remedy: str = LATER
    memory_bytes: int = budgets.CHILD_MEMORY_BYTES
    cpu_s: int = budgets.RECORDING_CPU_S
    request_cpu_s: float = budgets.REQUEST_CPU_S
    wait_s: float = budgets.REQUEST_WAIT_S
    reply_bytes: int = budgets.REPLY_BYTES
    file_bytes: int = 0
