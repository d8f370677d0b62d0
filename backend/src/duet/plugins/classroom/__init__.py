# SPDX-License-Identifier: GPL-2.0-or-later
"""Classes that go on: who sits where, the driver's place, questions and answers.

A class is in memory while pages are in it; all but the last two seconds of the driver's place is
in the store (`duet.store`), from which a class comes back after a restart.
"""

from __future__ import annotations

from duet.base.plugins import Registry


def register(core: Registry) -> None:
    """Name what this plug-in has."""
    core.offer(messages="messages", bodies="bodies", tables="tables", service="classrooms")
    core.verb(
        "class",
        "verb",
        "Classes that are stored here; or the deletion of one member's nickname, "
        "answers, questions and votes (docs/CLASSES.md).",
    )
