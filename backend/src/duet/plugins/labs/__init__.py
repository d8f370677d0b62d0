# SPDX-License-Identifier: GPL-2.0-or-later
"""Labs: tasks in lab.yaml files, people's answers, and the points for these answers.

Answers are stored unchanged, in a hash chain. Points are never stored, because scoring.py computes
them from the answers each time. `labs.py` is the service that a server runs for labs.
"""

from __future__ import annotations

from duet.base.plugins import Registry


def register(core: Registry) -> None:
    core.offer(bodies="bodies", tables="tables", service="labs", rules="rules")
    core.verb("lab", "verb", "Show or export a lab's scores, set a grade, delete answers.", "teach")
