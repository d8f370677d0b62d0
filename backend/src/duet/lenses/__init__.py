# SPDX-License-Identifier: GPL-2.0-or-later
"""Lenses: ways to look into a lane besides its events. Here: the x-ray, which reads guest memory.

The host process's side (`xray`, `calibration`, `records`) does not import drgn. The reading side
(`worker`, `attach`, `kernel`, `memory`, `clock`, `probes`) runs in a separate process, since drgn's
calls block and hold the interpreter's lock.
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
