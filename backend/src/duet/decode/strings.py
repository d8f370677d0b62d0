# SPDX-License-Identifier: GPL-2.0-or-later
"""Texts that events name by a number or by an address in the kernel. Pure."""

from __future__ import annotations

import re

import numpy as np
from numpy.typing import NDArray

PRINTK_LINE = re.compile(rb'^(0x[0-9a-f]{1,16}) : "(.*)"$', re.MULTILINE)


class StringTable:
    """Each text once, by index.

    Args:
        printk_formats: the file of that name in tracefs: which text lies at which address.
    """

    def __init__(self, printk_formats: bytes = b"") -> None:
        self._by_address = {
            int(address, 16): text.decode(errors="replace")
            for address, text in PRINTK_LINE.findall(printk_formats)
        }
        self._ids: dict[str, int] = {}
        self._address_ids: dict[int, int] = {}
        self.texts: list[str] = []

    def id_of(self, text: str) -> int:
        """The index of a text, added if new."""
        if text not in self._ids:
            self._ids[text] = len(self.texts)
            self.texts.append(text)
        return self._ids[text]

    def ids_at(self, addresses: NDArray[np.int64]) -> NDArray[np.int64]:
        """The index of the text at each address; where none is known, the address is the text."""
        values, places = np.unique(addresses, return_inverse=True)
        ids = np.empty(len(values), np.int64)
        for index, value in enumerate(values.tolist()):
            if value not in self._address_ids:
                address = value & 0xFFFF_FFFF_FFFF_FFFF
                text = self._by_address.get(address, f"{address:#x}")
                self._address_ids[value] = self.id_of(text)
            ids[index] = self._address_ids[value]
        return ids[places]
