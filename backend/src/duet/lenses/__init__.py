# SPDX-License-Identifier: GPL-2.0-or-later
"""Ways of seeing into a lane beside its events. Here: the x-ray, which reads its memory.

The side of the host process (`xray`, `calibration`, `records`) knows no drgn; the side that reads
(`worker`, `attach`, `kernel`, `memory`, `clock`, `probes`) runs in a process of its own, since
drgn's calls block and hold the interpreter's lock.
"""

from duet.lenses.calibration import Calibration, Window, bracket
from duet.lenses.records import LensState, Sample, pack_record, unpack_record
from duet.lenses.registry import probe_names
from duet.lenses.xray import Wanted, Xray

__all__ = [
    "Calibration",
    "LensState",
    "Sample",
    "Wanted",
    "Window",
    "Xray",
    "bracket",
    "pack_record",
    "probe_names",
    "unpack_record",
]
