# SPDX-License-Identifier: GPL-2.0-or-later
"""Paths from global variables as in C: `nr_files`, `rcu_state.gp_seq`, `vm_node_stat[3]`. Pure."""

from __future__ import annotations

import re

PATH = re.compile(
    r"^(?P<name>[A-Za-z_]\w*)(?P<steps>(?:(?:\.|->)[A-Za-z_]\w*|\[\d+\])*)$", re.ASCII
)
STEP = re.compile(r"(?:\.|->)([A-Za-z_]\w*)|\[(\d+)\]", re.ASCII)

Step = str | int
"""A field's name, or an index."""


def split_path(of: str) -> tuple[str, list[Step]] | None:
    """Name and steps; None: it is no path."""
    match = PATH.match(of)
    if match is None:
        return None
    return match["name"], [name or int(index) for name, index in STEP.findall(match["steps"])]
