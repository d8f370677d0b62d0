# SPDX-License-Identifier: GPL-2.0-or-later
"""Classes and runs of the only server, or of one of several."""

from __future__ import annotations

from duet.classes.store import ClassStore
from duet.server.classroom import Classrooms
from duet.server.classroom.try_parts import LiveParts
from duet.server.runs import RunFinder
from duet.server.servers.entrance import Showing
from duet.server.servers.mirrors import Elsewhere, Mirrors
from duet.server.servers.shared import SharedClassrooms
from duet.stream.hub import Hub


def classrooms(store: ClassStore | None, live: LiveParts | None = None) -> Classrooms:
    """As the store says; see Classrooms."""
    if store is not None and store.server:
        return SharedClassrooms(store, live)
    return Classrooms(store, live)


def elsewhere(hub: Hub, classes: Classrooms, finder: RunFinder) -> Elsewhere:
    """Live runs of other servers; theirs are found, and they find those of this one."""
    if not isinstance(classes, SharedClassrooms):
        return Elsewhere()
    find = finder.live_runs.find
    classes.entrance.runs = Showing(hub, find)
    made = Mirrors(hub, classes, lambda run_id: find(run_id) is not None, finder.file_of)
    finder.elsewhere, classes.ending = made.find, made.close
    return made
