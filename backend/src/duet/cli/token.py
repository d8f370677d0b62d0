# SPDX-License-Identifier: GPL-2.0-or-later
"""`duet token`: lists, creates, rotates and revokes tokens. A token's text is printed only once."""

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
    """A token as `duet token` lists it, without its text."""

    role: str
    id: str
    created: str


@dataclass(frozen=True, slots=True)
class TokenResult:
    file: str
    tokens: Sequence[TokenEntry]
    links: Mapping[Any, str] = key("of the tokens made now", "{role: url}")
    revoked: Sequence[str] = key(shape="[role]")


KEYS = keys_text(TokenResult)


def token(
    action: Annotated[
        str, typer.Argument(help="show, create (if missing), rotate (replace) or revoke.")
    ] = "show",
    role: Annotated[
        list[str] | None,
        typer.Option("--role", help="viewer, student, instructor or operator; default: all."),
    ] = None,
    url: Annotated[
        str,
        typer.Option("--url", envvar="DUET_PUBLIC_URL", help="Address of the server in the links."),
    ] = "http://localhost:8642/",
    as_json: Json = False,
) -> int:
    """Show, create, rotate or revoke the links that let people in.

    Tokens are stored as hashes, so a link is printed only once. A running server applies changes at
    once. If a token is rotated or revoked, its sessions end within a second.
    """
    from duet.api.tokens import AccessFile
    from duet.cli.serve import link, link_lines

    roles = role or []
    if action not in ACTIONS:
        raise InputError(
            f"./duet token has no action '{action:.40}'.",
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
        print("Links, to be opened once in each browser; they are not shown again:")
        print(link_lines(links))
        return 0
    if action == "create":
        print("These roles already have tokens; ./duet token rotate replaces them.")
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
    """Return the roles with these names, or all roles if there are no names.

    Raises:
        InputError: there is no such role.
    """
    known: dict[str, Role] = {role.word: role for role in Role}
    for name in names:
        if name not in known:
            raise InputError(
                f"'{name:.40}' is not a role.", remedy=f"Choose from: {', '.join(known)}."
            )
    return tuple(known[name] for name in names) or tuple(Role)


def read_url(url: str) -> str:
    """Check the address to which a token will be added.

    Raises:
        InputError: the address is not usable.
    """
    from duet.api.proxy import PublicUrl

    return str(PublicUrl.parse(url))
