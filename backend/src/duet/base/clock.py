# SPDX-License-Identifier: GPL-2.0-or-later
"""The clock that a guest runs on.

`wall` is the host's. `count` is QEMU's -icount: the guest's time is the number of instructions
that it has executed, times 2^shift ns, so a run is the same whatever else the host does.
"""

from __future__ import annotations

from typing import Literal

Clock = Literal["wall", "count"]
