# SPDX-License-Identifier: GPL-2.0-or-later
"""One record of a transcript: when, from which port, what."""

from __future__ import annotations

from struct import Struct
from typing import NamedTuple

CTL = -1
"""Stream number of the control port; CPUs are 0, 1, ..."""
LENS = -2
"""Records of the x-ray: samples, and how it is. Each begins with RECORD_TIME."""
RECORD_TIME = Struct("<Q")
"""Guest time of a sample; 0: it is none."""


class Record(NamedTuple):
    """Bytes as they came, host time counted from the beginning of the recording."""

    host_ns: int
    stream: int
    payload: bytes
