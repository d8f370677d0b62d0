# SPDX-License-Identifier: GPL-2.0-or-later
"""Lenses show what events do not show. The x-ray is here; the microscope is in `scope`.

The side in the host process (`xray`, `calibration`, `records`) does not import drgn. The side that
reads (`worker`, `attach`, `kernel`, `memory`, `clock`, `probes`) runs in a separate process,
because drgn's calls block and hold the interpreter lock.
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
