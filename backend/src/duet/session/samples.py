# SPDX-License-Identifier: GPL-2.0-or-later
"""What a lane's operations and losses add up to. Pure."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from duet.session.tables import Loss


class Samples:
    """Numbers in the order in which they came."""

    def __init__(self) -> None:
        self._parts: list[NDArray[np.generic]] = []

    def add(self, part: NDArray[np.generic]) -> None:
        """More of them."""
        self._parts.append(part)

    def all(self) -> NDArray[np.float64]:
        """All parts, joined for good."""
        if len(self._parts) > 1:
            self._parts[:] = [np.concatenate(self._parts)]
        return np.asarray(self._parts[0] if self._parts else [], np.float64)


class MissingEvents:
    """Events that pages say are missing."""

    def __init__(self) -> None:
        self.count = 0
        """Where the kernel counted them."""
        self.uncounted = 0
        """Places where it did not."""
        self._new: list[Loss] = []

    def add(self, t0_ns: float, t1_ns: float, count: int) -> None:
        """One place, in nanoseconds since the start marker; count < 0: it is not known."""
        if count < 0:
            self.uncounted += 1
        else:
            self.count += count
        self._new.append(Loss(t0_ns, t1_ns, count if count >= 0 else None, "ring buffer"))

    def take(self) -> list[Loss]:
        """Those since the last call."""
        new, self._new = self._new, []
        return new
