# SPDX-License-Identifier: GPL-2.0-or-later
"""Who controls one live run: its owner, until he gives it back, goes, idles, or is overruled.

Pure: times come from the caller.
"""

from __future__ import annotations

from duet.access import Action, Visitor
from duet.budgets import CONTROL_IDLE_S
from duet.errors import InputError


class Control:
    """Control of one run.

    Args:
        owner: ident of the visitor who started it; he has control first.
        idle_s: control without a command for so long expires.
    """

    def __init__(self, owner: str, now_s: float, idle_s: float = CONTROL_IDLE_S) -> None:
        self.owner = owner
        self.holder: str | None = owner
        self._idle_s = idle_s
        self._used_s = now_s

    def may_take(self, visitor: Visitor) -> bool:
        """Whether a visitor could have control now by asking for it."""
        if not visitor.may(Action.RUN):
            return False
        return self.holder in (None, visitor.ident) or visitor.may(Action.CONTROL_OTHERS)

    def use(self, visitor: Visitor, now_s: float) -> None:
        """A visitor acts on the run; free control becomes his.

        Raises:
            InputError: somebody else has control (code `not-controller`), or he may only watch.
        """
        visitor.require(Action.RUN)
        if self.holder not in (None, visitor.ident):
            error = InputError(
                "somebody else controls this run; this page only watches it.",
                remedy=(
                    "Press take control first."
                    if visitor.may(Action.CONTROL_OTHERS)
                    else "Start a run of your own, or wait until its control is free."
                ),
            )
            error.code = "not-controller"
            raise error
        self.holder = visitor.ident
        self._used_s = now_s

    def take(self, visitor: Visitor, now_s: float) -> None:
        """A visitor asks for control; an instructor gets it from anybody.

        Raises:
            InputError: somebody else has it, and this visitor may not take it from him.
        """
        if self.may_take(visitor):
            self.holder = visitor.ident
        self.use(visitor, now_s)

    def release(self, ident: str) -> bool:
        """A visitor gives control back or has gone; returns whether he had it."""
        had = self.holder == ident
        if had:
            self.holder = None
        return had

    def expires_in_s(self, now_s: float) -> float | None:
        """Until control expires; None: nobody has it."""
        return None if self.holder is None else max(0.0, self._used_s + self._idle_s - now_s)

    def expire(self, now_s: float) -> bool:
        """Free control that was idle for too long; returns whether it was."""
        if self.expires_in_s(now_s) != 0.0:
            return False
        self.holder = None
        return True
