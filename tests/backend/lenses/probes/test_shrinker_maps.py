# SPDX-License-Identifier: GPL-2.0-or-later
"""A guest that claims enormous shrinker maps does not take the host's memory."""

from __future__ import annotations

import struct
import sys
import tracemalloc
from types import SimpleNamespace
from typing import Any

import pytest

from duet.base.budgets import LENS_SAMPLE_BYTES
from duet.base.settings import repo_root
from duet.lenses.loading import load_probe
from duet.lenses.memory import DIRECT_MAP, Gone, Memory

Probe: Any = load_probe(repo_root() / "lessons/01-shrinker-bitmaps/probes/shrinker_maps.py")
Memcg = sys.modules[Probe.__module__].Memcg
MEMCGS, BITS = 512, (1 << 20) - 1  # 64 MiB of maps


class Claim:
    """A guest's memory that claims BITS shrinkers and has bits for as long as they are read."""

    def read(self, address: int, size: int, physical: bool = False) -> bytes:
        return struct.pack("<i", BITS) if size == 4 else b"\xff" * size


def test_maps_of_64_mib_are_refused_before_they_are_read() -> None:
    probe = Probe.__new__(Probe)  # its structures are walked by the guest tests
    probe._memory = Memory(Claim())
    probe._nr_max = DIRECT_MAP
    probe._info = probe._map = 0
    probe._list = SimpleNamespace(walk=lambda: [])
    memcgs = [Memcg(ino, DIRECT_MAP + ino * 64, 1, True) for ino in range(MEMCGS)]
    probe._walk = lambda: memcgs
    tracemalloc.start()
    try:
        with pytest.raises(Gone, match="512 maps of 1048575 bits are more than 4 MiB"):
            probe.sample()
        assert tracemalloc.get_traced_memory()[1] < LENS_SAMPLE_BYTES
    finally:
        tracemalloc.stop()
