# SPDX-License-Identifier: GPL-2.0-or-later
"""The frequency of the TSC that a guest under TCG reads, which is the host's.

A guest measures it at boot against an emulated timer. On a busy host that goes wrong: 287 MHz
were found where the truth was 2,596, and the guest's clock ran nine times too fast. So the
command line gives it.
"""

from __future__ import annotations

import ctypes
from functools import cache
from pathlib import Path

from duet.native import compiled

SOURCE = Path(__file__).with_name("_tsc.c")
SPAN_NS = 50_000_000
"""Two looks at 50 ns each are 2 millionths of it."""


@cache
def host_tsc_khz() -> int:
    """Measured once, in 50 ms; 0 where the host has no TSC.

    Raises:
        InfraError: the C function cannot be compiled.
    """
    library = ctypes.CDLL(str(compiled(SOURCE)))
    library.duet_tsc_khz.restype = ctypes.c_long
    library.duet_tsc_khz.argtypes = [ctypes.c_long]
    return int(library.duet_tsc_khz(SPAN_NS))
