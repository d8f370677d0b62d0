# SPDX-License-Identifier: GPL-2.0-or-later
"""Every wait and every bound of the lenses, by name."""

from __future__ import annotations

from typing import Final

ATTACH_S: Final = 20.0
"""From the start of the x-ray's process to an attached, symbolised guest. Usual: 1 s."""

ATTACH_BEFORE_RUN_S: Final = 5.0
"""So long a run waits for its lens before it starts; afterwards the lens comes when it comes."""

PINGS: Final = 5
PING_S: Final = 0.3
"""Round trips that calibrate the guest's clock before a run, and the longest of each. Usual: 1 ms
on an idle host; the quickest counts."""

SAMPLE_S: Final = 10.0
"""Without a sample for so long the process is given up. Usual: 1-15 ms a sample."""

MAX_HZ: Final = 30
ROUTE_BYTES: Final = 64 << 10
"""Read once to tell the fast route from the slow one, if drgn has not said which it is."""

ROUTE_FAST_S: Final = 0.05
"""The process's memory gives ROUTE_BYTES in under 1 ms; QMP text takes seconds."""

TORN_TRIES: Final = 3
"""Memory that two reads see differently is read so often again."""

FAILED_IN_A_ROW: Final = 5
"""So many samples of a probe may fail one after another; then the guest is taken for gone."""

QUEUE_BYTES: Final = 4 << 20
"""Samples that wait for the server inside the x-ray's process; then the newest are dropped."""

FRAME_BYTES: Final = 16 << 20
"""The longest message of that process; a longer one means that it is not ours."""

PENDING_SAMPLES: Final = 512
"""Samples that wait until it is known when the workload has started."""

SCOPE_CONNECT_S: Final = 5.0
"""The microscope listens before the guest runs."""
SCOPE_ANSWER_S: Final = 5.0
SCOPE_SNAPSHOT_S: Final = 10.0
"""All of the log goes before it. Usual: 30 ms."""

AIM_READY_S: Final = 20.0
"""From the workload's start until it says that the object is there. Usual: 0.2 s."""
AIM_FOUND_S: Final = 10.0
"""Until the x-ray has found the object. Usual: 0.1 s, or 1 s with the loading of the DWARF."""

SCOPE_TELL_HZ: Final = 5
"""Of the counts 30 a second come; so many are reported and recorded."""
