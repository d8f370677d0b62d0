# SPDX-License-Identifier: GPL-2.0-or-later
"""Who a server lets in, and what it prints about it when it listens."""

from __future__ import annotations

import json
import os
import socket
import sys
import webbrowser
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from urllib.parse import urlencode

from duet.access import Role
from duet.api.front import Front, Proxies, PublicUrl
from duet.api.guard import is_loopback
from duet.api.sessions import Sessions
from duet.api.tokens import AccessFile
from duet.cli.results.host import ServeResult
from duet.errors import InputError
from duet.settings import public_url, trusted_proxies

ANY = ("", "0.0.0.0", "::", "0")
TEST_NET = ("192.0.2.1", 9)
"""An address of documentation (RFC 5737): a datagram socket to it has our own address in the
network, and nothing is sent."""
FOR_WHOM = {
    Role.OPERATOR: "for you (operator)",
    Role.INSTRUCTOR: "for instructors",
    Role.STUDENT: "for students",
    Role.VIEWER: "only to watch",
}


OPEN_PROXY = (
    "Whoever passes the proxy may do everything here, unless you add --token-required, or the\n"
    "proxy itself asks who comes."
)


@dataclass(frozen=True, slots=True)
class TokenOptions:
    """Options of `duet serve`.

    Args:
        required: tokens even on loopback; made where there are none.
        new: replace those that there are.
    """

    required: bool = False
    new: bool = False


def admission(host: str, tokens: TokenOptions) -> tuple[Sessions | None, dict[Role, str]]:
    """Who checks visitors (None: nobody needs to), and the tokens that were made just now.

    Raises:
        InputError: the address can be reached from elsewhere and there are no tokens, or their
            file is not usable.
        InfraError: tokens cannot be stored.
    """
    if is_loopback(host) and not (tokens.required or tokens.new):
        return None, {}
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
    return Sessions(file), made


def front_of(public: str | None, proxies: list[str] | None) -> Front:
    """What stands before the server, by options or else the environment.

    Raises:
        InputError: no such address.
    """
    address = public or public_url()
    return Front(
        PublicUrl.parse(address) if address else None,
        Proxies.parse(tuple(proxies or trusted_proxies())),
    )


def link(url: str, token: str) -> str:
    """The address that lets a browser in."""
    return f"{url}?{urlencode({'token': token})}"


def shown_name(host: str, names: tuple[str, ...]) -> str:
    """The name of this server in links; beyond loopback the first of --allow-host, if any."""
    if is_loopback(host):
        return host
    if names:
        return names[0]
    if host not in ANY:
        return host
    try:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
            probe.connect(TEST_NET)
            return str(probe.getsockname()[0])
    except OSError:  # no network
        return "localhost"


@dataclass(frozen=True, slots=True)
class Greeting:
    """What the terminal says once the server listens.

    Args:
        name: see shown_name.
        links: tokens that were made just now.
        public: what browsers open instead, where a proxy stands before the server.
    """

    browser: bool
    as_json: bool
    name: str
    sessions: Sessions | None
    links: Mapping[Role, str]
    public: PublicUrl | None = None

    def say(self, host: str, port: int) -> None:
        """Print it, and open a browser if that was asked for."""
        shown = f"[{self.name}]" if ":" in self.name else self.name
        own = f"http://{shown}:{port}/"
        url = own if self.public is None else str(self.public)
        links = {role: link(url, self.links[role]) for role in FOR_WHOM if role in self.links}
        if self.as_json:
            by_word = {role.word: address for role, address in links.items()}
            print(
                json.dumps(
                    asdict(
                        ServeResult(
                            url, host, port, os.getpid(), self.sessions is not None, by_word
                        )
                    )
                )
            )
        else:
            print(f"Kernel Duet is at {url} (Ctrl-C ends it)")
            if self.public is not None:
                print(f"It listens on {own} for the proxy.")
                if self.sessions is None:
                    print(OPEN_PROXY)
            if links:
                print("Links, each opened once per browser; they are not shown again:")
                print(link_lines(links))
            elif self.sessions is not None:
                print("It opens with the links that ./duet token or an earlier start printed;")
                print("./duet token rotate makes new ones and ends the old.")
        sys.stdout.flush()
        if self.browser:
            webbrowser.open(links.get(Role.OPERATOR, url))


def link_lines(links: Mapping[Role, str]) -> str:
    """A line per link, the operator's first."""
    return "\n".join(f"  {FOR_WHOM[role]:<19} {links[role]}" for role in FOR_WHOM if role in links)
