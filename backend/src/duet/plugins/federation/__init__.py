# SPDX-License-Identifier: GPL-2.0-or-later
"""Several servers share one PostgreSQL database. Each class has one owner, and other servers relay
messages to the owner.

`shared.py` finds a class's owner. The server that serves a page connects by `relay.py` to
`entrance.py` on the owner. `wire.py` checks the messages between servers. `mirrors.py` shows live
runs of other servers, which send their runs through `entrance.py`.
"""

from __future__ import annotations

from duet.base.plugins import Registry

REQUIRES = ("classroom",)


def register(core: Registry) -> None:
    core.offer(tables="tables", service="choose", classrooms="choose")
