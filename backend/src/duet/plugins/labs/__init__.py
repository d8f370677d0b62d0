# SPDX-License-Identifier: GPL-2.0-or-later
"""Labs: the tasks of a lab.yaml, people's answers, and their points.

Answers are stored unchanged, in a chain of hashes. Points are never stored: scoring.py computes
them from the answers each time. `labs.py` is the labs' part of a server.
"""

from __future__ import annotations

from duet.base.plugins import Registry


def register(core: Registry) -> None:
    core.offer(bodies="bodies", tables="tables", service="labs", rules="rules")
    core.verb("lab", "verb", "Show or export a lab's scores, set a grade, delete answers.", "teach")
