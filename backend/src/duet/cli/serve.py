# SPDX-License-Identifier: GPL-2.0-or-later
"""`duet serve`: listens, prints its address without delay, and ends within END_S after a signal."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import sys
import webbrowser
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Annotated, Any, Literal
from urllib.parse import urlencode, urlsplit

import typer

from duet.base import plugins
from duet.base.access import Role
from duet.base.errors import InputError
from duet.base.logs import set_up_logging
from duet.base.settings import log_form, public_url, repo_root, trusted_proxies
from duet.cli.keys import key, keys_text
from duet.cli.options import Json, Source
from duet.processes.cpus import session_first
from duet.processes.run_dir import sweep_all

if TYPE_CHECKING:
    from duet.api.proxy import Front, PublicUrl
    from duet.server.doors import Door, Foreign


@dataclass(frozen=True, slots=True)
class ServeResult:
    """JSON document that is printed when the server listens."""

    url: str
    host: str
    port: int
    pid: int
    tokens: bool = key("bool: a token is required")
    links: Mapping[Any, str] = key("of the tokens made now", "{role: url}")


KEYS = keys_text(ServeResult, when="one line, once it listens")


def serve(
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="Port; 0 takes any free port.")
    ] = 8642,
    no_build: Annotated[bool, typer.Option("--no-build", help="Build no kernels.")] = False,
    no_guests: Annotated[
        bool, typer.Option("--no-guests", help="Show recordings only; boot and build nothing.")
    ] = False,
    open: Annotated[bool, typer.Option("--open", help="Open a browser.")] = False,
    allow_host: Annotated[
        list[str] | None,
        typer.Option("--allow-host", help="Accept requests for this host name; repeatable."),
    ] = None,
    token_required: Annotated[
        bool,
        typer.Option(
            "--token-required", help="Require a link with a token; create missing tokens."
        ),
    ] = False,
    new_tokens: Annotated[
        bool,
        typer.Option(
            "--new-tokens",
            help="Like --token-required, and replace all tokens; old links stop working.",
        ),
    ] = False,
    public_url: Annotated[
        str | None,
        typer.Option("--public-url", help="The address behind a proxy: https://HOST/PATH/"),
    ] = None,
    trusted_proxy: Annotated[
        list[str] | None,
        typer.Option("--trusted-proxy", help="Address or network of a trusted proxy; repeatable."),
    ] = None,
    hub: Annotated[
        bool,
        typer.Option("--hub", help="Run as a service of JupyterHub, and let its users in."),
    ] = False,
    source: Source = None,
    as_json: Json = False,
) -> int:
    """Serve the page; build missing kernels in the background.

    On this machine everybody may do everything. With --host, visitors need a link with a token.
    There is one link each for the operator, instructors, students and viewers (./duet token).
    """
    from duet import confine

    # A copy of this process forks children. It has only the modules imported by now, and no token.
    confine.fork()
    from duet.api.app import create_app
    from duet.cli.build_progress import ConsoleLog, build_progress, stderr_console
    from duet.cli.server_process import DuetServer, allow_files, bind
    from duet.confine.control_groups import remove_own_groups
    from duet.kernels import KernelSettings
    from duet.server.wiring import default_director
    from duet.stream.http import server_config
    from duet.stream.hub import Hub

    names = tuple(allow_host or [])
    tokens = TokenOptions(token_required, new_tokens, hub)
    front = front_of(public_url, trusted_proxy)
    builds = not no_build
    live = not no_guests
    console = stderr_console()
    as_lines = log_form() == "json"
    set_up_logging(ConsoleLog(console), as_lines)
    refuse_shared_files(host, live)
    sweep_all()
    allow_files()
    with bind(host, port) as listener, build_progress(console, as_lines) as progress:
        admitted = admission(host, tokens, front)
        settings = KernelSettings.default(source)
        app = create_app(
            lambda hub: default_director(
                *(hub, settings, builds, live, progress),
                early=True,
                hosts_url=hosts_url(host, listener),
            ),
            page=repo_root() / "frontend/dist",
            host=host,
            names=(*names, *hosts_names(hosts_url(host, listener))),
            hub=Hub(),
            door=admitted.door,
            foreign=admitted.foreign,
            front=front,
        )
        config = server_config(app, timeout_graceful_shutdown=GRACE_S)
        name = shown_name(host, names)
        greeting = Greeting(open, as_json, name, admitted, front.public)
        server = DuetServer(config, listener, greeting, progress)
        try:
            with session_first():
                asyncio.run(server.serve(sockets=[listener]))
        finally:
            remove_own_groups()
    return 0


# Decide who may enter: everybody on this machine, people with a link, or users of JupyterHub.


@dataclass(frozen=True, slots=True)
class TokenOptions:
    """The options of `duet serve` that control access.

    Args:
        required: require tokens even on loopback, and create missing ones.
        new: replace all tokens.
        hub: let in the users of JupyterHub, without tokens.
    """

    required: bool = False
    new: bool = False
    hub: bool = False


@dataclass(frozen=True, slots=True)
class Admission:
    """How the server authenticates visitors.

    Args:
        links: tokens that were just created, by role.
        who: what authenticates visitors, for the greeting.
        foreign: what pages on other sites may do.
    """

    door: Door
    who: Literal["nobody", "tokens", "hub"]
    links: Mapping[Role, str] = field(default_factory=dict)
    foreign: Foreign | None = None


def admission(host: str, tokens: TokenOptions, front: Front) -> Admission:
    """Choose how visitors are authenticated.

    Raises:
        InputError: the address can be reached from other machines and there are no tokens; the
            token file is unusable; the hub's variables are missing; or a plug-in starts sessions of
            its own although visitors need no token.
        InfraError: tokens cannot be stored.
    """
    from duet.api.guard import is_loopback
    from duet.api.identity import AnyoneIn, TokensOnly
    from duet.api.sessions import Sessions
    from duet.api.tokens import AccessFile

    asks = not is_loopback(host) or tokens.required or tokens.new
    vouching: set[str] = set()
    for plugin in plugins.offered("grants"):
        grants = plugin.grants()
        if grants and (tokens.hub or not asks):
            sentence, remedy = plugin.UNGUARDED
            raise InputError(sentence, remedy=remedy)
        vouching |= grants
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
                f"{host or 'every address'} can be reached from other machines, and "
                "there are no tokens "
                "yet.",
                remedy="Add --token-required, which creates tokens and prints a link "
                "for each role.",
            )
        made = file.make(Role, again=False)
    return Admission(TokensOnly(Sessions(file, vouching=vouching)), "tokens", made)


def hub_admission(tokens: TokenOptions, front: Front) -> Admission:
    """Let in the users of the hub that runs this server as a service.

    Raises:
        InputError: options exclude each other, or a setting of the hub is missing.
    """
    if tokens.required or tokens.new:
        raise InputError(
            "--hub lets in the users of JupyterHub, but --token-required lets in people with a "
            "link.",
            remedy="Leave out --hub or --token-required.",
        )
    hub = next(iter(plugins.offered("hub")), None)
    if hub is None:
        raise InputError(
            "the plug-in for JupyterHub is not installed.",
            remedy="Use --token-required, or install the plug-in.",
        )
    door, foreign = hub.admission(front)
    return Admission(door, "hub", foreign=foreign)


# The greeting on the terminal, and the addresses in it.

ANY = ("", "0.0.0.0", "::", "0")
TEST_NET = ("192.0.2.1", 9)
"""A documentation address (RFC 5737). A UDP socket that is connected to it gets our own network
address as its local address. Nothing is sent.
"""
FOR_WHOM = {
    Role.OPERATOR: "for you (operator)",
    Role.INSTRUCTOR: "for instructors",
    Role.STUDENT: "for students",
    Role.VIEWER: "only to watch",
}


OPEN_PROXY = (
    "Everybody who passes the proxy may do everything here, unless you add "
    "--token-required or the\n"
    "proxy itself authenticates visitors."
)


def front_of(public: str | None, proxies: list[str] | None) -> Front:
    """Return the public address and the trusted proxies, from options or the environment.

    Raises:
        InputError: an address is invalid.
    """
    from duet.api.proxy import Front, Proxies, PublicUrl

    address = public or public_url()
    return Front(
        PublicUrl.parse(address) if address else None,
        Proxies.parse(tuple(proxies or trusted_proxies())),
    )


def link(url: str, token: str) -> str:
    """Return a link that contains a token. A browser that opens the link is authenticated."""
    return f"{url}?{urlencode({'token': token})}"


def shown_name(host: str, names: tuple[str, ...]) -> str:
    """Return the server's name for links.

    This is the loopback address that the server listens on, or else the first --allow-host name.
    Without either, it is the server's network address.
    """
    from duet.api.guard import is_loopback

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
    """What the terminal shows once the server listens.

    Args:
        name: the name from shown_name().
        public: the address for browsers, if the server is behind a proxy.
    """

    browser: bool
    as_json: bool
    name: str
    admission: Admission
    public: PublicUrl | None = None

    def say(self, host: str, port: int) -> None:
        """Print the greeting, and open a browser if requested."""
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
                print("JupyterHub authenticates visitors.")
            if links:
                print("Links, to be opened once in each browser; they are not shown again:")
                print(link_lines(links))
            elif who == "tokens":
                print("Open it with the links that ./duet token or an earlier start printed;")
                print("./duet token rotate replaces them.")
        sys.stdout.flush()
        if self.browser:
            webbrowser.open(links.get(Role.OPERATOR, url))


def link_lines(links: Mapping[Role, str]) -> str:
    """Return one line per link. The operator's link comes first."""
    return "\n".join(f"  {FOR_WHOM[role]:<19} {links[role]}" for role in FOR_WHOM if role in links)


GRACE_S = 2
"""Seconds that open connections get to finish after a signal."""


def hosts_url(host: str, listener: socket.socket) -> str:
    """Return the address to which a pool's hosts connect if the operator sets no other address."""
    from duet.api.guard import is_loopback
    from duet.server.hosts.door import DOOR_PATH

    name = host if is_loopback(host) else socket.getfqdn()
    bracketed = f"[{name}]" if ":" in name else name
    return f"ws://{bracketed}:{listener.getsockname()[1]}{DOOR_PATH}"


def hosts_names(usual_url: str) -> tuple[str, ...]:
    """Return the host names by which a pool's hosts and other servers address this server."""
    from duet.store.database import servers_url

    urls = [servers_url(), *(one.dialled(usual_url) for one in plugins.offered("stage"))]
    return tuple(name for url in urls if (name := urlsplit(url).hostname))


def refuse_shared_files(host: str, live: bool) -> None:
    """Raise if other machines could start a guest that shares this host's files.

    Raises:
        InputError: other machines could start such a guest.
    """
    from duet.api.guard import is_loopback
    from duet.guests.registry import default_kind

    if live and default_kind() == "vng" and not is_loopback(host):
        raise InputError(
            "with DUET_GUEST=vng each guest sees this machine's files, and --host "
            f"'{host:.80}' lets "
            "other machines start guests.",
            remedy="Unset DUET_GUEST for sealed guests, or use --host 127.0.0.1.",
        )
