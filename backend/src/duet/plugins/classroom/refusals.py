# SPDX-License-Identifier: GPL-2.0-or-later
"""Why a command of a class is not carried out; the page knows them by their codes."""

from __future__ import annotations

from duet.base.access import FORBIDDEN
from duet.base.errors import InfraError, InputError

NO_CLASS = "no-class"
"""The page is in no class, or there is none of that code, id or secret."""
NICKNAME = "nickname"
CLOSED = "closed"
"""The question takes no such answer (any more)."""
FULL = "full"
UNKNOWN = "member"
UNWATCHED = "unwatched"
"""A place came from a member who is not watched (any more); its page need not say so."""


def refusal(code: str, sentence: str, remedy: str) -> InputError:
    """An error with its code."""
    error = InputError(sentence, remedy=remedy)
    error.code = code
    return error


def unknown_class() -> InputError:
    """One sentence for what is unknown, ended or another's."""
    return refusal(
        NO_CLASS,
        "there is no such open class of yours.",
        "Compare the code with the one on the screen; a class that has ended has its report alone.",
    )


def not_here() -> InputError:
    """The page is in no class."""
    return refusal(NO_CLASS, "this page is in no class.", "Join with the code of the class.")


def not_yours(what: str) -> InputError:
    """Others may do that."""
    return refusal(FORBIDDEN, f"only {what}.", "Ask the instructor of the class.")


def no_room(there: int) -> InputError:
    """The memory holds as many classes as it may, and each has pages."""
    return refusal(
        FULL,
        f"{there} classes go on here already, which is the most.",
        "Wait until one of them has ended.",
    )


def not_owned() -> InfraError:
    """The class may be another server's by now."""
    return InfraError(
        "this server does not hold the class any more; another one may.",
        remedy="Try again in some seconds.",
    )


class Elsewhere(InfraError):
    """Another server owns the class.

    Args:
        server: where it is reached; empty: it is not known any more.
    """

    code = "elsewhere"

    def __init__(self, server: str) -> None:
        self.server = server
        super().__init__(
            f"another server holds this class ({server or 'it has just ended'}).",
            remedy="Try again in some seconds.",
        )
