# SPDX-License-Identifier: GPL-2.0-or-later
"""Conversion of rows to columns."""

from __future__ import annotations

import numpy as np

from duet.session.tables import TABLES, Columns


def columns_of(table: str, rows: list[tuple[float, ...]]) -> Columns:
    """Convert tuples, in the order of TABLES[table], to typed columns."""
    types = TABLES[table]
    if not rows:
        return {name: np.empty(0, dtype) for name, dtype in types.items()}
    return {
        name: np.array(cells, dtype)
        for (name, dtype), cells in zip(types.items(), zip(*rows, strict=True), strict=True)
    }
