# SPDX-License-Identifier: GPL-2.0-or-later
"""Describes in words what is at some addresses (see lenses.identity).

`of` is a comma-separated list of at most 512 hexadecimal addresses. There is one row per address,
with one column: `address` f8, the low 48 bits of the address. Texts: what is at the address, or ""
if that is unknown.
"""

from __future__ import annotations

import numpy as np

from duet.base.errors import InputError
from duet.lenses.identity import Identifier
from duet.lenses.kernel import Kernel
from duet.lenses.memory import Memory
from duet.lenses.records import Reading

TITLE = "what is at an address"
MOST = 512


class Probe:
    """Parses the addresses in `of` once."""

    def __init__(self, kernel: Kernel, memory: Memory, of: str = "") -> None:
        try:
            self._addresses = [int(word, 16) for word in of.split(",") if word]
        except ValueError:
            self._addresses = []
        if not 0 < len(self._addresses) <= MOST:
            raise InputError(
                f"identify needs 1 to {MOST} hexadecimal addresses separated by commas, not "
                f"'{of:.40}'.",
                remedy="Give the addresses with --of, e.g. --of ffff888003a1c058.",
            )
        self._identifier = Identifier(kernel, memory)

    def sample(self) -> Reading:
        low = (1 << 48) - 1
        self._identifier.begin()
        return Reading(
            n=len(self._addresses),
            columns={"address": np.array([a & low for a in self._addresses], "<f8")},
            facts={},
            texts=tuple(self._identifier.words(address) for address in self._addresses),
        )
