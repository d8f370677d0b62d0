# SPDX-License-Identifier: GPL-2.0-or-later
"""The tables of each lane of a run, out of what a viewer is sent."""

from __future__ import annotations

import msgpack
import numpy as np

from duet.runs.sought import LaneTables
from duet.session.tables import TABLES, Columns
from duet.stream.runlog import RunLog


def lanes_of(log: RunLog) -> dict[str, LaneTables]:
    """Arm -> its tables, as far as the log holds them."""
    parts: dict[str, dict[str, list[Columns]]] = {}
    threads: dict[str, int] = {}
    ends: dict[str, float] = {}
    for packet in log.backlog():
        if packet.type not in ("batch", "rows"):
            continue
        message = msgpack.unpackb(packet.body)
        arm = message["arm"]
        if packet.type == "rows":
            threads[arm] = sum(row["role"] == "thread" for row in message["rows"])
            continue
        ends[arm] = max(ends.get(arm, 0.0), message["watermark_ns"])
        if message["table"] in TABLES:
            parts.setdefault(arm, {}).setdefault(message["table"], []).append(
                {
                    name: np.frombuffer(message["columns"][name], dtype)
                    for name, dtype in TABLES[message["table"]].items()
                }
            )
    return {
        arm: LaneTables(
            {table: _joined(table, parts[arm].get(table, [])) for table in TABLES},
            threads.get(arm, 0),
            ends[arm],
        )
        for arm in parts
    }


def _joined(table: str, parts: list[Columns]) -> Columns:
    return {
        name: np.concatenate([part[name] for part in parts] or [np.empty(0, dtype)])
        for name, dtype in TABLES[table].items()
    }
