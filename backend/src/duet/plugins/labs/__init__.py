# SPDX-License-Identifier: GPL-2.0-or-later
"""Labs: what lab.yaml says, what people answered, and the points that both come to.

Answers are stored as they came, in a chain of hashes; points are never stored, they are counted
from the answers each time (scoring.py). `labs.py` is their part of a server.
"""

from __future__ import annotations

from duet.base.plugins import Registry


def register(core: Registry) -> None:
    """Name what this plug-in has."""
    core.offer(bodies="bodies", tables="tables", service="labs", rules="rules")
    core.verb(
        "lab",
        "verb",
        "Scores of a lab, its export, a grade, or the deletion of a person's answers.",
    )
