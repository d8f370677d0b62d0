# SPDX-License-Identifier: GPL-2.0-or-later
"""Reasons why a class's command is refused. Pages recognize refusals by their codes."""

from __future__ import annotations

from duet.base.access import FORBIDDEN
from duet.base.errors import InfraError, InputError

NO_CLASS = "no-class"
"""The page is in no class, or no class has that code, id or secret."""
NICKNAME = "nickname"
CLOSED = "closed"
"""The question does not accept such an answer, or accepts no more answers."""
FULL = "full"
UNKNOWN = "member"
UNWATCHED = "unwatched"
"""A member who is not observed (any more) sent a position. The member's page may ignore the
error.
"""


def refusal(code: str, sentence: str, remedy: str) -> InputError:
    error = InputError(sentence, remedy=remedy)
    error.code = code
    return error


def unknown_class() -> InputError:
    """Return the error for a class that does not exist, has ended, or belongs to another
    visitor."""
    return refusal(
        NO_CLASS,
        "there is no such open class of yours.",
        "Compare the code with the one on the screen. An ended class only has its report.",
    )


def not_here() -> InputError:
    return refusal(NO_CLASS, "this page is in no class.", "Join with the code of the class.")


def not_yours(what: str) -> InputError:
    """Return an error for a command that only another role may send."""
    return refusal(FORBIDDEN, f"only {what}.", "Ask the instructor of the class.")


def no_room(there: int) -> InputError:
    """Return an error for a new class when the limit is reached and every class is in use."""
    return refusal(
        FULL,
        f"{there} classes are open here, which is the limit.",
        "Wait until one of them has ended.",
    )


def not_owned() -> InfraError:
    """Return an error for a class that this server no longer owns."""
    return InfraError(
        "this server no longer owns the class; another server may.",
        remedy="Try again in a few seconds.",
    )


class Elsewhere(InfraError):
    """Another server owns the class.

    Args:
        server: address of that server. Empty if it is unknown.
    """

    code = "elsewhere"

    def __init__(self, server: str) -> None:
        self.server = server
        super().__init__(
            f"another server owns this class ({server or 'it has just ended'}).",
            remedy="Try again in a few seconds.",
        )
