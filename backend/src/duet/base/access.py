# SPDX-License-Identifier: GPL-2.0-or-later
"""Who may do what: four roles, and the least role that each action needs.

A visitor is one browser. On loopback without a token every visitor is the operator; anything
else needs a token (see duet.api.tokens). Runs and saved runs are owned by a visitor's `ident`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum, IntEnum
from typing import Literal

from duet.base.errors import InputError

RoleName = Literal["viewer", "student", "instructor", "operator"]
FORBIDDEN = "forbidden"
"""Code of the error that a missing right is."""


class Role(IntEnum):
    """Each role may do all that the ones below it may."""

    VIEWER = 0
    STUDENT = 1
    INSTRUCTOR = 2
    OPERATOR = 3

    @property
    def word(self) -> RoleName:
        """`student`: as on the command line, in files and on the page."""
        return NAMES[self]


NAMES: dict[Role, RoleName] = {
    Role.VIEWER: "viewer",
    Role.STUDENT: "student",
    Role.INSTRUCTOR: "instructor",
    Role.OPERATOR: "operator",
}


class Action(Enum):
    """What a visitor asks for, with the least role that may do it."""

    WATCH = ("watch runs and recordings", Role.VIEWER)
    RUN = ("start a live run", Role.STUDENT)
    CHANGE = ("change a patch", Role.STUDENT)
    ANSWER = ("answer a lab", Role.STUDENT)
    CONTROL_OTHERS = ("control a run that somebody else started", Role.INSTRUCTOR)
    TEACH = ("lead a class", Role.INSTRUCTOR)
    MEASURE = ("measure", Role.INSTRUCTOR)
    DELETE_OTHERS = ("delete a run that somebody else saved", Role.OPERATOR)
    OPERATE = ("look at how the server does", Role.OPERATOR)

    def __init__(self, words: str, least: Role) -> None:
        self.words = words
        self.least = least


@dataclass(frozen=True, slots=True)
class Grant:
    """Why a visitor was let in: the token of its first visit.

    Args:
        token: its public id.
        until_s: Unix time at which the session ends.
    """

    token: str
    until_s: float


@dataclass(frozen=True, slots=True)
class Person:
    """Who a learning platform or a hub says that a visitor is.

    Args:
        key: the same at each visit and on each browser; a hash of the platform and its user.
        name: as the platform shows it; may be empty.
    """

    key: str
    name: str


@dataclass(frozen=True, slots=True)
class Visitor:
    """One browser.

    Args:
        ident: a hash of a random cookie; the same after a reload or a reconnect. It names the
            visitor (in owner files, to others) and grants nothing.
        role: from the token of its first visit.
        grant: that token; None: this server asks for none.
        person: None: nobody vouches for who it is.
    """

    ident: str
    role: Role
    grant: Grant | None = field(default=None, compare=False)
    person: Person | None = field(default=None, compare=False)

    @property
    def key(self) -> str:
        """Names whoever answers: the person, else the browser."""
        return self.ident if self.person is None else self.person.key

    def may(self, action: Action) -> bool:
        """Whether the visitor's role allows an action."""
        return self.role >= action.least

    def may_delete(self, owner: str) -> bool:
        """Whether the visitor may delete a saved run of that owner; empty: the operator's."""
        return self.may(Action.DELETE_OTHERS) or (owner != "" and owner == self.ident)

    def require(self, action: Action) -> None:
        """Refuse an action that the role does not allow.

        Raises:
            InputError: with code `forbidden`.
        """
        if not self.may(action):
            raise self.refusal(action)

    def refusal(self, action: Action) -> InputError:
        """Why the visitor's role does not allow an action; its code is `forbidden`."""
        least = action.least
        higher = "" if least is max(Role) else " or higher"
        who = with_article(self.role).capitalize()
        error = InputError(
            f"{who} may not {action.words}; that takes the role {least.word}{higher}.",
            remedy=f"Open the {least.word} link that ./duet serve or ./duet token printed.",
        )
        error.code = FORBIDDEN
        return error


LOCAL = Visitor("local", Role.OPERATOR)
"""Whoever uses this process directly: the verbs of the command line, and tests."""


def with_article(role: Role) -> str:
    """`a student`, `an instructor`."""
    return f"{'an' if role.word[0] in 'io' else 'a'} {role.word}"
