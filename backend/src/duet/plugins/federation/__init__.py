# SPDX-License-Identifier: GPL-2.0-or-later
"""Several servers with one PostgreSQL: one server owns each class, the others relay pages to it.

`shared.py` finds the owner of a class. `relay.py` is the end at the server with the pages,
`entrance.py` the end at the owner; `wire.py` checks the messages between them. `mirrors.py` shows
live runs of other servers, which send them through `entrance.py`.
"""

from __future__ import annotations

from duet.base.plugins import Registry

REQUIRES = ("classroom",)


def register(core: Registry) -> None:
    core.offer(tables="tables", service="choose", classrooms="choose")
