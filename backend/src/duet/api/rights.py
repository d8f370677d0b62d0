# SPDX-License-Identifier: GPL-2.0-or-later
"""Which action each command of a browser is. Whose run it is, the director knows."""

from __future__ import annotations

from typing import Final

from duet.access import Action
from duet.stream import messages as m

ACTIONS: Final[dict[type[m.Command], Action]] = {
    m.Open: Action.WATCH,
    m.Start: Action.RUN,
    m.Again: Action.RUN,
    m.Stop: Action.RUN,
    m.Do: Action.RUN,
    m.Hold: Action.RUN,
    m.TakeControl: Action.RUN,
    m.Measure: Action.MEASURE,
}


def action_of(command: m.Command) -> Action:
    """What a visitor must be allowed to, to send this command."""
    return ACTIONS[type(command)]
