# SPDX-License-Identifier: GPL-2.0-or-later
"""Who is called with scores that have changed, such as what sends them to a learning platform."""

from __future__ import annotations

import logging
from collections.abc import Callable

from duet.grades import LabScore

Listener = Callable[[LabScore], None]
log = logging.getLogger("duet.labs")


class Listeners(list[Listener]):
    """Each is called on the event loop, after the commit; one that fails is logged."""

    def call(self, score: LabScore) -> None:
        """A score has changed, or is to be sent again."""
        for listener in self:
            try:
                listener(score)
            except Exception:
                log.exception("a listener of scores failed")
