# SPDX-License-Identifier: GPL-2.0-or-later
"""Saved runs that stay while a class that made them goes on, within half of what may be saved."""

from __future__ import annotations

from collections.abc import Mapping, Sequence


class Held:
    """Their names, the newest first. The archiver's thread reads what the event loop writes."""

    def __init__(self) -> None:
        self._names: tuple[str, ...] = ()

    def hold(self, names: Sequence[str]) -> None:
        """From now on these, and no others."""
        self._names = tuple(names)

    def among(self, sizes: Mapping[str, int], most: int, most_bytes: int) -> set[str]:
        """Which of these runs stay: the newest ones that fit.

        Args:
            sizes: of all saved runs, in bytes.
        """
        held: set[str] = set()
        left_bytes = most_bytes
        for name in self._names:
            size = sizes.get(name)
            if size is None:
                continue
            left_bytes -= size
            if len(held) >= most or left_bytes < 0:
                break
            held.add(name)
        return held
