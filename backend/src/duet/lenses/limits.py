# SPDX-License-Identifier: GPL-2.0-or-later
"""Every timeout and every limit of the lenses, by name."""

from __future__ import annotations

from typing import Final

ATTACH_S: Final = 20.0
"""Timeout for the x-ray's process to start, attach and load symbols. Usual: 1 s.
"""

ATTACH_BEFORE_RUN_S: Final = 5.0
"""Maximum time that a run waits for its lens before the run starts. A lens that is ready later
joins the run.
"""

PINGS: Final = 5
PING_S: Final = 0.3
"""Number of round trips that calibrate the guest's clock before a run, and the timeout of each. The
quickest is used. Usual: 1 ms on an idle host."""

SAMPLE_S: Final = 10.0
"""Timeout for a sample, after which the x-ray's process is ended. Usual: 1-15 ms per
sample.
"""

MAX_HZ: Final = 30
ROUTE_BYTES: Final = 64 << 10
"""Number of bytes that are read once to find out the route by its speed, if drgn's log does not
name it.
"""

ROUTE_FAST_S: Final = 0.05
"""Maximum time for reading ROUTE_BYTES on the fast route. The read takes under 1 ms from QEMU's
memory, and seconds as text over QMP.
"""

TORN_TRIES: Final = 3
"""Maximum number of times that a read is repeated while two successive results differ."""

FAILED_IN_A_ROW: Final = 5
"""Number of failed samples in a row after which a probe is removed."""

QUEUE_BYTES: Final = 4 << 20
"""Maximum number of bytes of samples in the queue of the x-ray's process. When the queue is full,
new samples are dropped.
"""

FRAME_BYTES: Final = 16 << 20
"""Maximum length of a message from that process. A longer message does not come from our worker."""

PENDING_SAMPLES: Final = 512
"""Number of samples that are stored until the workload's start is known."""

SCOPE_CONNECT_S: Final = 5.0
"""Timeout for connecting. The microscope already listens before the guest runs."""
SCOPE_ANSWER_S: Final = 5.0
SCOPE_SNAPSHOT_S: Final = 10.0
"""Timeout for a snapshot. The whole log is sent before it. Usual: 30 ms."""

AIM_READY_S: Final = 20.0
"""Timeout from the workload's start until it reports that the object exists. Usual: 0.2 s."""
AIM_FOUND_S: Final = 10.0
"""Timeout until the x-ray has found the object. Usual: 0.1 s, or 1 s if DWARF must be loaded."""

SCOPE_TELL_HZ: Final = 5
"""Rate at which counts are reported and recorded. The plugin sends them 30 times per second."""
