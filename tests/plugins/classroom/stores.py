# SPDX-License-Identifier: GPL-2.0-or-later
"""Classes with a store of their own, as the director has them."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from typing import TypeVar

from duet.plugins.classroom.classrooms import Classrooms

Some = TypeVar("Some", bound=Classrooms)


@contextlib.asynccontextmanager
async def running(classes: Some) -> AsyncIterator[Some]:
    """Begins the store of these classes and the classes, and ends both."""
    assert classes.store is not None
    classes.store.begin()
    try:
        async with classes:
            yield classes
    finally:
        await classes.store.close()
