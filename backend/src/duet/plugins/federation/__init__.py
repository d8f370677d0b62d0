# SPDX-License-Identifier: GPL-2.0-or-later
"""Several servers with one PostgreSQL: each class is owned by one, the others relay pages to it.

`shared.py` finds the owner of a class, `relay.py` is the end of the server with the pages,
`entrance.py` is the owner's end, `wire.py` checks what travels between them.
`mirrors.py` shows live runs of other servers, which `entrance.py` sends there.
"""

from __future__ import annotations

from duet.base.plugins import Registry

REQUIRES = ("classroom",)


def register(core: Registry) -> None:
    """Name what this plug-in has."""
    core.offer(tables="tables", service="choose", classrooms="choose")
