# SPDX-License-Identifier: GPL-2.0-or-later
"""Why a command of a class is refused; pages recognize refusals by their codes."""

from __future__ import annotations

from duet.base.access import FORBIDDEN
from duet.base.errors import InfraError, InputError

NO_CLASS = "no-class"
"""The page is in no class, or no class has that code, id or secret."""
NICKNAME = "nickname"
CLOSED = "closed"
"""The question does not accept such an answer (any more)."""
FULL = "full"
UNKNOWN = "member"
UNWATCHED = "unwatched"
"""A position of a member who is not observed (any more); its page may ignore the error."""


def refusal(code: str, sentence: str, remedy: str) -> InputError:
    error = InputError(sentence, remedy=remedy)
    error.code = code
    return error


def unknown_class() -> InputError:
    """One error for a class that is unknown, ended or another visitor's."""
    return refusal(
        NO_CLASS,
        "there is no such open class of yours.",
        "Compare the code with the one on the screen. An ended class only has its report.",
    )


def not_here() -> InputError:
    return refusal(NO_CLASS, "this page is in no class.", "Join with the code of the class.")


def not_yours(what: str) -> InputError:
    """Another role may do that."""
    return refusal(FORBIDDEN, f"only {what}.", "Ask the instructor of the class.")


def no_room(there: int) -> InputError:
    """The memory holds as many classes as allowed, and each has pages."""
    return refusal(
        FULL,
        f"{there} classes are open here, which is the limit.",
        "Wait until one of them has ended.",
    )


def not_owned() -> InfraError:
    """Another server may own the class by now."""
    return InfraError(
        "this server no longer owns the class; another server may.",
        remedy="Try again in a few seconds.",
    )


class Elsewhere(InfraError):
    """Another server owns the class.

    Args:
        server: its address; empty: unknown.
    """

    code = "elsewhere"

    def __init__(self, server: str) -> None:
        self.server = server
        super().__init__(
            f"another server owns this class ({server or 'it has just ended'}).",
            remedy="Try again in a few seconds.",
        )
