# SPDX-License-Identifier: GPL-2.0-or-later
"""The tables of each lane of a run, out of what a viewer is sent."""

from __future__ import annotations

import msgpack
import numpy as np

from duet.runs.sought import LaneTables, Looks
from duet.session.tables import TABLES, Columns
from duet.stream.runlog import RunLog

Look = tuple[float, dict[str, float]]
"""Guest time in ns, and the facts of a sample."""


def lanes_of(log: RunLog) -> dict[str, LaneTables]:
    """Arm -> its tables, as far as the log holds them."""
    parts: dict[str, dict[str, list[Columns]]] = {}
    looks: dict[str, dict[str, list[Look]]] = {}
    threads: dict[str, int] = {}
    ends: dict[str, float] = {}
    for packet in log.backlog():
        if packet.type not in ("batch", "rows", "sample"):
            continue
        message = msgpack.unpackb(packet.body)
        arm = message["arm"]
        if packet.type == "sample":
            one = (message["t_ns"], message["facts"])
            looks.setdefault(arm, {}).setdefault(message["probe"], []).append(one)
            continue
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
            {probe: _seen(several) for probe, several in looks.get(arm, {}).items()},
        )
        for arm in parts
    }


def _seen(looks: list[Look]) -> Looks:
    # Guest times may be in the wrong order by less than their error.
    looks = sorted(looks, key=lambda look: look[0])
    names = sorted({name for _, facts in looks for name in facts})
    columns = {
        name: np.array([facts.get(name, np.nan) for _, facts in looks], np.float64)
        for name in names
    }
    return Looks(np.array([t for t, _ in looks], np.float64), columns)


def _joined(table: str, parts: list[Columns]) -> Columns:
    return {
        name: np.concatenate([part[name] for part in parts] or [np.empty(0, dtype)])
        for name, dtype in TABLES[table].items()
    }
