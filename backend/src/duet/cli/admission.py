# SPDX-License-Identifier: GPL-2.0-or-later
"""Who a server lets in: everybody on this machine, whoever has a link, or the users of a hub."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from duet.api.front import Front
from duet.api.guard import Foreign, is_loopback
from duet.api.identity import AnyoneIn, Door, TokensOnly
from duet.api.jupyterhub import HubDoor, HubService
from duet.api.jupyterhub.service import CALLBACK
from duet.api.sessions import Sessions
from duet.api.tokens import AccessFile
from duet.base.access import Role
from duet.base.errors import InputError
from duet.lti.service import Registered


@dataclass(frozen=True, slots=True)
class TokenOptions:
    """Options of `duet serve`.

    Args:
        required: tokens even on loopback; made where there are none.
        new: replace those that there are.
        hub: none; the users of JupyterHub are let in.
    """

    required: bool = False
    new: bool = False
    hub: bool = False


@dataclass(frozen=True, slots=True)
class Admission:
    """How visitors are let in.

    Args:
        links: tokens that were made just now.
        who: who says who comes, for the terminal.
        foreign: what pages of other sites may do.
    """

    door: Door
    who: Literal["nobody", "tokens", "hub"]
    links: Mapping[Role, str] = field(default_factory=dict)
    foreign: Foreign | None = None


def admission(
    host: str, tokens: TokenOptions, front: Front, registered: Registered | None = None
) -> Admission:
    """Who checks visitors.

    Args:
        registered: learning platforms, whose launches begin sessions, too.

    Raises:
        InputError: the address can be reached from elsewhere and there are no tokens, their file
            is not usable, or the hub's variables are missing; or a platform sends students, and
            no tokens are asked for.
        InfraError: tokens cannot be stored.
    """
    asks = not is_loopback(host) or tokens.required or tokens.new
    if registered is not None and (tokens.hub or not asks):
        raise InputError(
            "DUET_LTI registers learning platforms, but this server asks for no tokens, so "
            "everybody would be its operator or come by the hub.",
            remedy="Use --token-required and no --hub, or unset DUET_LTI.",
        )
    if tokens.hub:
        return hub_admission(tokens, front)
    if not asks:
        return Admission(AnyoneIn(), "nobody")
    file = AccessFile.default()
    made: dict[Role, str] = {}
    if tokens.new:
        made = file.make(Role, again=True)
    elif not file.load().tokens:
        if not tokens.required:
            raise InputError(
                f"{host or 'every address'} can be reached from other machines, and there are no "
                "tokens yet that say who may do what.",
                remedy="Add --token-required, which makes them and prints a link for each role.",
            )
        made = file.make(Role, again=False)
    vouching = frozenset() if registered is None else registered.grants
    return Admission(TokensOnly(Sessions(file, vouching=vouching)), "tokens", made)


def hub_admission(tokens: TokenOptions, front: Front) -> Admission:
    """The users of JupyterHub, of which this server is a service.

    Raises:
        InputError: options exclude each other, or something about the hub is not known.
    """
    if tokens.required or tokens.new:
        raise InputError(
            "--hub lets in the users of JupyterHub, and --token-required whoever has a link.",
            remedy="Leave one of them out.",
        )
    service = HubService.read(os.environ)
    if front.public is None or front.public.path != service.prefix.rstrip("/"):
        raise InputError(
            f"--hub wants the address of the service as browsers open it, with the path "
            f"{service.prefix}, but {front.public or 'none'} came.",
            remedy=f"Add --public-url https://hub.example.org{service.prefix}",
        )
    return Admission(HubDoor(service), "hub", foreign=Foreign(frozenset({("GET", CALLBACK)})))
