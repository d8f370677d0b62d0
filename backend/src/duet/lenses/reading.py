# SPDX-License-Identifier: GPL-2.0-or-later
"""What a probe returns: columns, numbers, and texts for its rows."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Columns = dict[str, NDArray[np.generic]]
DTYPES = {"<f8": "f8", "<i4": "i4", "|u1": "u1", "<u4": "u4", "<i2": "i2"}
"""numpy's names -> those of the browser contract."""


@dataclass(frozen=True, slots=True)
class Reading:
    """One look at a structure.

    Args:
        n: rows. Most columns have n values; one whose rows are wider or that lists something
            else says so in its probe.
        facts: single numbers.
        texts: a name per row, where rows have names.
    """

    n: int
    columns: Columns
    facts: dict[str, float]
    texts: tuple[str, ...] = field(default=())

    def __post_init__(self) -> None:
        for name, column in self.columns.items():
            if column.dtype.str not in DTYPES:
                raise ValueError(f"{name} has dtype {column.dtype.str}, not in the contract")
