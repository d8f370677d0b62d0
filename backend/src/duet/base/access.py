# SPDX-License-Identifier: GPL-2.0-or-later
"""Access control: four roles, and the lowest role that each action requires.

A visitor is one browser. On loopback without a token, every visitor is the operator. Any other
setup requires a token (duet.api.tokens). Each live or saved run stores the `ident` of its owner.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum, IntEnum
from typing import Literal

from duet.base.errors import InputError

RoleName = Literal["viewer", "student", "instructor", "operator"]
FORBIDDEN = "forbidden"
"""Error code for an action that the visitor's role does not allow."""


class Role(IntEnum):
    """A visitor's role. Each role includes the rights of all lower roles."""

    VIEWER = 0
    STUDENT = 1
    INSTRUCTOR = 2
    OPERATOR = 3

    @property
    def word(self) -> RoleName:
        """Name of the role on the command line, in files and on the page, such as `student`."""
        return NAMES[self]


NAMES: dict[Role, RoleName] = {
    Role.VIEWER: "viewer",
    Role.STUDENT: "student",
    Role.INSTRUCTOR: "instructor",
    Role.OPERATOR: "operator",
}


class Action(Enum):
    """Action of a visitor, with its name in error texts and the lowest role that may perform it."""

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
    """The token that admitted a visitor, and the time at which the session ends.

    Args:
        token: the token's public id.
        until_s: Unix time at which the session ends.
    """

    token: str
    until_s: float


@dataclass(frozen=True, slots=True)
class Person:
    """Identity of a visitor according to a learning platform or JupyterHub.

    Args:
        key: a hash of the platform and the user; it is the same in all visits and browsers.
        name: the name that the platform shows; may be empty.
    """

    key: str
    name: str


@dataclass(frozen=True, slots=True)
class Visitor:
    """One browser.

    Args:
        ident: a hash of a random cookie, which survives a reload and a reconnect. It identifies the
            visitor in owner files and to other visitors, and grants no rights.
        role: the role that the token of the visitor's first visit granted.
        grant: the token that admitted the visitor; None if this server requires no token.
        person: identity according to a learning platform or JupyterHub; None if unknown.
    """

    ident: str
    role: Role
    grant: Grant | None = field(default=None, compare=False)
    person: Person | None = field(default=None, compare=False)

    @property
    def key(self) -> str:
        """Key for storing answers: the key of `person` if known, otherwise the `ident`."""
        return self.ident if self.person is None else self.person.key

    def may(self, action: Action) -> bool:
        """Return whether the visitor's role allows an action."""
        return self.role >= action.least

    def may_delete(self, owner: str) -> bool:
        """Return whether the visitor may delete a saved run.

        Args:
            owner: `ident` of the run's owner; '' if the operator owns it.
        """
        return self.may(Action.DELETE_OTHERS) or (owner != "" and owner == self.ident)

    def require(self, action: Action) -> None:
        """Raise an error unless the visitor's role allows an action.

        Raises:
            InputError: the role does not allow the action; the error code is `forbidden`.
        """
        if not self.may(action):
            raise self.refusal(action)

    def refusal(self, action: Action) -> InputError:
        """Return the error for an action that the role does not allow; its code is `forbidden`."""
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
"""The visitor that the command line and tests act as."""


def with_article(role: Role) -> str:
    """Return the role's name with an English article: `a student`, `an instructor`."""
    return f"{'an' if role.word[0] in 'io' else 'a'} {role.word}"
