# SPDX-License-Identifier: GPL-2.0-or-later
"""What a server prints when it listens, and the addresses in it."""

from __future__ import annotations

import json
import os
import socket
import sys
import webbrowser
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from urllib.parse import urlencode

from duet.api.front import Front, Proxies, PublicUrl
from duet.api.guard import is_loopback
from duet.base.access import Role
from duet.base.settings import public_url, trusted_proxies
from duet.cli.admission import Admission
from duet.cli.results.host import ServeResult

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
    admission: Admission
    public: PublicUrl | None = None

    def say(self, host: str, port: int) -> None:
        """Print it, and open a browser if that was asked for."""
        shown = f"[{self.name}]" if ":" in self.name else self.name
        own = f"http://{shown}:{port}/"
        url = own if self.public is None else str(self.public)
        made, who = self.admission.links, self.admission.who
        links = {role: link(url, made[role]) for role in FOR_WHOM if role in made}
        if self.as_json:
            by_word = {role.word: address for role, address in links.items()}
            print(
                json.dumps(
                    asdict(ServeResult(url, host, port, os.getpid(), who == "tokens", by_word))
                )
            )
        else:
            print(f"Kernel Duet is at {url} (Ctrl-C ends it)")
            if self.public is not None:
                print(f"It listens on {own} for the proxy.")
                if who == "nobody":
                    print(OPEN_PROXY)
            if who == "hub":
                print("JupyterHub says who comes.")
            if links:
                print("Links, each opened once per browser; they are not shown again:")
                print(link_lines(links))
            elif who == "tokens":
                print("It opens with the links that ./duet token or an earlier start printed;")
                print("./duet token rotate makes new ones and ends the old.")
        sys.stdout.flush()
        if self.browser:
            webbrowser.open(links.get(Role.OPERATOR, url))


def link_lines(links: Mapping[Role, str]) -> str:
    """A line per link, the operator's first."""
    return "\n".join(f"  {FOR_WHOM[role]:<19} {links[role]}" for role in FOR_WHOM if role in links)
