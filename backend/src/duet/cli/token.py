# SPDX-License-Identifier: GPL-2.0-or-later
"""`duet token`: which tokens there are; new ones; none. Plain tokens are printed once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from duet.base.access import Role
from duet.base.errors import InputError
from duet.cli.keys import key, keys_text
from duet.cli.options import Json
from duet.cli.output import emit

if TYPE_CHECKING:
    pass


@dataclass(frozen=True, slots=True)
class TokenEntry:
    """A token as `duet token` lists it; never its text."""

    role: str
    id: str
    created: str


@dataclass(frozen=True, slots=True)
class TokenResult:
    """Of `duet token`."""

    file: str
    tokens: Sequence[TokenEntry]
    links: Mapping[Any, str] = key("those made now", "{role: url}")
    revoked: Sequence[str] = key(shape="[role]")


KEYS = keys_text(TokenResult)


def token(
    action: Annotated[
        str, typer.Argument(help="show, create (where none is), rotate (new ones), or revoke.")
    ] = "show",
    role: Annotated[
        list[str] | None,
        typer.Option("--role", help="viewer, student, instructor or operator; default: all."),
    ] = None,
    url: Annotated[
        str,
        typer.Option(
            "--url", envvar="DUET_PUBLIC_URL", help="Address of the server, for the links."
        ),
    ] = "http://localhost:8642/",
    as_json: Json = False,
) -> int:
    """Show, make, replace or take away the links that let people in.

    Tokens are stored as hashes, so a link is printed once. A running server follows at once;
    sessions of a token that is rotated or revoked end within a second.
    """
    from duet.api.tokens import AccessFile
    from duet.cli.serve import link, link_lines

    roles = role or []
    if action not in ACTIONS:
        raise InputError(
            f"'{action:.40}' is no action of ./duet token.",
            remedy=f"Choose from: {', '.join(ACTIONS)}.",
        )
    chosen = read_roles(roles)
    base = read_url(url)
    file = AccessFile.default()
    made: dict[Role, str] = {}
    revoked: set[Role] = set()
    if action in ("create", "rotate"):
        made = file.make(chosen, again=action == "rotate")
    elif action == "revoke":
        revoked = file.revoke(chosen)
    links = {role: link(base, plain) for role, plain in made.items()}
    known = file.load().tokens
    if as_json:
        tokens = [TokenEntry(t.role.word, t.ident, t.created) for t in known]
        by_word = {role.word: address for role, address in links.items()}
        gone = sorted(role.word for role in revoked)
        emit(TokenResult(str(file.path), tokens, by_word, gone))
        return 0
    if links:
        print("Links, each opened once per browser; they are not shown again:")
        print(link_lines(links))
        return 0
    if action == "create":
        print("These roles have tokens already; ./duet token rotate makes new ones.")
    elif action == "revoke":
        gone_words = ", ".join(sorted(role.word for role in revoked)) or "nothing, there was none"
        print(f"Revoked: {gone_words}.")
    for one in known:
        print(f"{one.role.word:<11} {one.ident}  made {one.created}")
    if not known:
        print("No tokens. ./duet token create makes a link for each role.")
    return 0


ACTIONS = ("show", "create", "rotate", "revoke")


def read_roles(names: list[str]) -> tuple[Role, ...]:
    """Roles by name; all where none is given.

    Raises:
        InputError: no such role.
    """
    known: dict[str, Role] = {role.word: role for role in Role}
    for name in names:
        if name not in known:
            raise InputError(
                f"'{name:.40}' is no role.", remedy=f"Choose from: {', '.join(known)}."
            )
    return tuple(known[name] for name in names) or tuple(Role)


def read_url(url: str) -> str:
    """An address that a token may be added to.

    Raises:
        InputError: it is none.
    """
    from duet.api.front import PublicUrl

    return str(PublicUrl.parse(url))
