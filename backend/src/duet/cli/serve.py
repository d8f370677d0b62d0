# SPDX-License-Identifier: GPL-2.0-or-later
"""`duet serve`: binds first, tells the address at once, and ends within END_S of a signal."""

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
from duet.base.logs import begin_log
from duet.base.settings import log_form, public_url, repo_root, trusted_proxies
from duet.cli.keys import key, keys_text
from duet.cli.options import Json, Source
from duet.processes.cpus import session_first
from duet.processes.run_dir import sweep_all

if TYPE_CHECKING:
    from duet.api.front import Front, PublicUrl
    from duet.server.doors import Door, Foreign


@dataclass(frozen=True, slots=True)
class ServeResult:
    """Of `duet serve`, once it listens."""

    url: str
    host: str
    port: int
    pid: int
    tokens: bool = key("bool: one is needed")
    links: Mapping[Any, str] = key("those made now", "{role: url}")


KEYS = keys_text(ServeResult, when="one line, once it listens")


def serve(
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="0: any free port.")] = 8642,
    no_build: Annotated[bool, typer.Option("--no-build", help="Build no kernels.")] = False,
    no_guests: Annotated[
        bool, typer.Option("--no-guests", help="Show recordings only; boot and build nothing.")
    ] = False,
    open: Annotated[bool, typer.Option("--open", help="Open a browser.")] = False,
    allow_host: Annotated[
        list[str] | None,
        typer.Option("--allow-host", help="A host name to answer to; repeatable."),
    ] = None,
    token_required: Annotated[
        bool,
        typer.Option("--token-required", help="Let in by links only; made where there are none."),
    ] = False,
    new_tokens: Annotated[
        bool, typer.Option("--new-tokens", help="The same, with new links; the old ones end.")
    ] = False,
    public_url: Annotated[
        str | None,
        typer.Option("--public-url", help="What browsers open behind a proxy: https://HOST/PATH/"),
    ] = None,
    trusted_proxy: Annotated[
        list[str] | None,
        typer.Option("--trusted-proxy", help="Address or network of a proxy; repeatable."),
    ] = None,
    hub: Annotated[
        bool,
        typer.Option("--hub", help="Let in the users of JupyterHub, of which this is a service."),
    ] = False,
    source: Source = None,
    as_json: Json = False,
) -> int:
    """Serve the page; missing kernels are built in the background.

    On this machine alone everybody may do everything. Beyond it (--host) a link with a token is
    needed: one each for operator, instructors, students and viewers; see ./duet token.
    """
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
    begin_log(ConsoleLog(console), as_lines)
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


# Who a server lets in: everybody on this machine, whoever has a link, or the users of a hub.


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


def admission(host: str, tokens: TokenOptions, front: Front) -> Admission:
    """Who checks visitors.

    Raises:
        InputError: the address can be reached from elsewhere and there are no tokens, their file
            is not usable, or the hub's variables are missing; or a plug-in begins sessions without
            tokens, and none are asked for.
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
                f"{host or 'every address'} can be reached from other machines, and there are no "
                "tokens yet that say who may do what.",
                remedy="Add --token-required, which makes them and prints a link for each role.",
            )
        made = file.make(Role, again=False)
    return Admission(TokensOnly(Sessions(file, vouching=vouching)), "tokens", made)


def hub_admission(tokens: TokenOptions, front: Front) -> Admission:
    """The users of a hub, of which this server is a service.

    Raises:
        InputError: options exclude each other, or something about the hub is not known.
    """
    if tokens.required or tokens.new:
        raise InputError(
            "--hub lets in the users of JupyterHub, and --token-required whoever has a link.",
            remedy="Leave one of them out.",
        )
    hub = next(iter(plugins.offered("hub")), None)
    if hub is None:
        raise InputError(
            "this Kernel Duet has no plug-in for JupyterHub.",
            remedy="Use --token-required, or an installation that has it.",
        )
    door, foreign = hub.admission(front)
    return Admission(door, "hub", foreign=foreign)


# What a server prints when it listens, and the addresses in it.

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
    from duet.api.front import Front, Proxies, PublicUrl

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


GRACE_S = 2
"""Open connections get this to finish after the signal."""


def hosts_url(host: str, listener: socket.socket) -> str:
    """What host processes of a pool dial, where the operator has not named it."""
    from duet.api.guard import is_loopback
    from duet.server.hosts.door import DOOR_PATH

    name = host if is_loopback(host) else socket.getfqdn()
    bracketed = f"[{name}]" if ":" in name else name
    return f"ws://{bracketed}:{listener.getsockname()[1]}{DOOR_PATH}"


def hosts_names(usual_url: str) -> tuple[str, ...]:
    """Names by which host processes of a pool and other servers call this one."""
    from duet.store.database import servers_url

    urls = [servers_url(), *(one.dialled(usual_url) for one in plugins.offered("stage"))]
    return tuple(name for url in urls if (name := urlsplit(url).hostname))


def refuse_shared_files(host: str, live: bool) -> None:
    """No guest that shares the host's files is offered to other machines.

    Raises:
        InputError: it would be.
    """
    from duet.api.guard import is_loopback
    from duet.guests.registry import default_kind

    if live and default_kind() == "vng" and not is_loopback(host):
        raise InputError(
            f"DUET_GUEST=vng shows this machine's files in each guest, and '{host:.80}' lets other "
            "machines start guests.",
            remedy="Unset DUET_GUEST for sealed guests, or use --host 127.0.0.1.",
        )
