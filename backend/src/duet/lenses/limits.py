# SPDX-License-Identifier: GPL-2.0-or-later
"""Every wait and every bound of the lenses, by name."""

from __future__ import annotations

from typing import Final

ATTACH_S: Final = 20.0
"""From the start of the x-ray's process to an attached, symbolised guest. Usual: 1 s."""

ATTACH_BEFORE_RUN_S: Final = 5.0
"""How long a run waits for its lens before it starts; a later lens joins the running run."""

PINGS: Final = 5
PING_S: Final = 0.3
"""Round trips that calibrate the guest's clock before a run, and the timeout of each. Usual: 1 ms
on an idle host; the quickest is used."""

SAMPLE_S: Final = 10.0
"""Timeout without a sample; then the process is ended. Usual: 1-15 ms a sample."""

MAX_HZ: Final = 30
ROUTE_BYTES: Final = 64 << 10
"""Bytes read once to time the route, if drgn's log does not name it."""

ROUTE_FAST_S: Final = 0.05
"""Reading ROUTE_BYTES takes under 1 ms from the process's memory, and seconds by QMP text."""

TORN_TRIES: Final = 3
"""Retries of a read whose two results differ."""

FAILED_IN_A_ROW: Final = 5
"""Failed samples in a row after which a probe is removed."""

QUEUE_BYTES: Final = 4 << 20
"""Bytes of samples that are queued in the x-ray's process; beyond it new samples are dropped."""

FRAME_BYTES: Final = 16 << 20
"""Longest valid message of that process; a longer one is not from our worker."""

PENDING_SAMPLES: Final = 512
"""Samples that are kept until the workload's start is known."""

SCOPE_CONNECT_S: Final = 5.0
"""Connect timeout; the microscope listens before the guest runs."""
SCOPE_ANSWER_S: Final = 5.0
SCOPE_SNAPSHOT_S: Final = 10.0
"""The whole log is sent before the snapshot. Usual: 30 ms."""

AIM_READY_S: Final = 20.0
"""From the workload's start until it reports that the object exists. Usual: 0.2 s."""
AIM_FOUND_S: Final = 10.0
"""Until the x-ray has found the object. Usual: 0.1 s, or 1 s if DWARF must be loaded."""

SCOPE_TELL_HZ: Final = 5
"""Rate at which counts are reported and recorded; the plugin sends 30 a second."""
