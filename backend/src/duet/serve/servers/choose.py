# SPDX-License-Identifier: GPL-2.0-or-later
"""Classes and runs of the only server, or of one of several."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from duet.classes.store import ClassStore
from duet.serve.classroom import Classrooms
from duet.serve.classroom.try_parts import LiveParts
from duet.serve.interfaces import QueuedRun
from duet.serve.servers.mirrors import Elsewhere, Mirrors
from duet.serve.servers.shared import SharedClassrooms
from duet.serve.servers.showing import Showing
from duet.stream.hub import Hub


def classrooms(store: ClassStore | None, live: LiveParts | None = None) -> Classrooms:
    """As the store says; see Classrooms."""
    if store is not None and store.server:
        return SharedClassrooms(store, live)
    return Classrooms(store, live)


def elsewhere(
    hub: Hub,
    classes: Classrooms,
    find: Callable[[str], QueuedRun | None],
    file_of: Callable[[str], Path | None],
) -> Elsewhere:
    """Live runs of other servers.

    Args:
        find: a live run of this one, which others may show.
        file_of: the file of a saved run.
    """
    if not isinstance(classes, SharedClassrooms):
        return Elsewhere()
    classes.entrance.runs = Showing(hub, find)
    return Mirrors(hub, classes, lambda run_id: find(run_id) is not None, file_of)
