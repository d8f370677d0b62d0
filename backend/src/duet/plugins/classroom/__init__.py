# SPDX-License-Identifier: GPL-2.0-or-later
"""Classes: members, the driver's position in the lesson, questions, answers, tried patches.

A class is in memory while pages are connected to it. The store (`duet.store`) has everything but
the last two seconds of the driver's position, so a class survives a restart of the server.
"""

from __future__ import annotations

from duet.base.plugins import Registry


def register(core: Registry) -> None:
    core.offer(messages="messages", bodies="bodies", tables="tables", service="classrooms")
    core.verb("class", "verb", "List stored classes, or delete one member's data.", "teach")
