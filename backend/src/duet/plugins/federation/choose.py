# SPDX-License-Identifier: GPL-2.0-or-later
"""Shares classes and live runs with other servers, if there are any."""

from __future__ import annotations

from duet.plugins.classroom.classrooms import Classrooms
from duet.plugins.classroom.try_parts import LiveParts
from duet.plugins.federation.entrance import RunSender
from duet.plugins.federation.mirrors import Mirrors
from duet.plugins.federation.shared import SharedClassrooms
from duet.server.services import Core
from duet.store.store import Store


def classrooms(store: Store | None, live: LiveParts, days: int) -> Classrooms | None:
    """Return classes that several servers share, or None if this server is alone."""
    if store is None or not store.server:
        return None
    return SharedClassrooms(store, live, days)


def service(core: Core) -> Mirrors | None:
    """Show other servers' live runs here, and let those servers show this server's live runs."""
    classes = core.services.of(Classrooms)
    if not isinstance(classes, SharedClassrooms):
        return None
    find = core.finder.live_runs.find
    classes.entrance.runs = RunSender(core.hub, find)
    return Mirrors(core.hub, classes, lambda run_id: find(run_id) is not None, core.finder.file_of)
