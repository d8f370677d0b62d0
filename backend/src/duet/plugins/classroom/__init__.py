# SPDX-License-Identifier: GPL-2.0-or-later
"""Classes, with members, the driver's position in the lesson, questions, answers and tried patches.

A class is in memory while pages are connected to it. The database (`duet.store`) contains
everything except the driver's positions of the last two seconds, so a class survives a server
restart.
"""

from __future__ import annotations

from duet.base.plugins import Registry


def register(core: Registry) -> None:
    core.offer(messages="messages", bodies="bodies", tables="tables", service="classrooms")
    core.verb("class", "verb", "List stored classes, or delete one member's data.", "teach")
