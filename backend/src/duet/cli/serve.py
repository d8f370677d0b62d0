# SPDX-License-Identifier: GPL-2.0-or-later
"""`duet serve`: binds first, tells the address at once, and ends within END_S of a signal."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import json
import logging
import os
import resource
import socket
import sys
import webbrowser
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Literal
from urllib.parse import urlencode, urlsplit

import uvicorn

from duet.api.app import create_app
from duet.api.front import Front, Proxies, PublicUrl
from duet.api.guard import is_loopback
from duet.api.identity import AnyoneIn, TokensOnly
from duet.api.sessions import Sessions
from duet.api.tokens import AccessFile
from duet.base import plugins
from duet.base.access import Role
from duet.base.errors import InfraError, InputError
from duet.base.logs import begin_log
from duet.base.settings import log_form, public_url, repo_root, trusted_proxies
from duet.cli.build_progress import BuildProgress, ConsoleLog, build_progress, stderr_console
from duet.cli.results.host import ServeResult
from duet.confine.control_groups import remove_own_groups
from duet.guests.registry import default_kind
from duet.host.worker import join, run
from duet.kernels import KernelSettings
from duet.plugins.cluster.types import PoolSettings
from duet.processes.cpus import be_prompt, loop_first, session_first
from duet.processes.run_dir import sweep_all
from duet.processes.service import ServiceManager, ending
from duet.server.doors import Door, Foreign
from duet.server.hosts.door import DOOR_PATH
from duet.server.wiring import default_director
from duet.store.database import servers_url
from duet.stream.http import OutOfFiles, server_config
from duet.stream.hub import Hub

# `duet host`: runs guests for a server of another machine.

TOKEN_CHARS = 400


def host(url: str, token_file: Path | None) -> int:
    """See `duet host --help`."""
    token = read_token(token_file)
    begin_log(logging.StreamHandler(), log_form() == "json")
    sweep_all()
    run(lambda end: join(url, token, end))
    return 0


def read_token(file: Path | None) -> str:
    """The first line of a file, or of standard input.

    Raises:
        InputError: there is none.
    """
    name = "standard input" if file is None else f"the file {file}"
    try:
        if file is None:
            line = sys.stdin.readline(TOKEN_CHARS)
        else:
            with file.open(encoding="utf-8") as lines:
                line = lines.readline(TOKEN_CHARS)
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(
            f"{name} cannot be read ({error}).", remedy="Give the token of a server, in one line."
        ) from error
    token = line.strip()
    if not token or not token.isprintable() or " " in token:
        raise InputError(
            f"{name} has no token in its first line.",
            remedy="Give the token that the server has made for this host.",
        )
    return token


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


GRACE_S = 2
"""Open connections get this to finish after the signal."""
KERNEL_QUEUE = 1024
"""Connections that wait in the kernel while the server is busy."""
OPEN_FILES = 8192
"""Files that the server asks to be allowed; a session's usual 1,024 are 768 connections."""


def serve(
    host: str,
    port: int,
    builds: bool,
    live: bool,
    browser: bool,
    names: tuple[str, ...],
    source: Path | None,
    as_json: bool,
    tokens: TokenOptions,
    front: Front,
) -> int:
    """See `duet serve --help`."""
    console = stderr_console()
    as_lines = log_form() == "json"
    begin_log(ConsoleLog(console), as_lines)
    refuse_open_house(host, live)
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
        greeting = Greeting(browser, as_json, name, admitted, front.public)
        server = DuetServer(config, listener, greeting, progress)
        try:
            with session_first():
                asyncio.run(server.serve(sockets=[listener]))
        finally:
            remove_own_groups()
    return 0


def hosts_url(host: str, listener: socket.socket) -> str:
    """What host processes of a pool dial, where the operator has not named it."""
    name = host if is_loopback(host) else socket.getfqdn()
    bracketed = f"[{name}]" if ":" in name else name
    return f"ws://{bracketed}:{listener.getsockname()[1]}{DOOR_PATH}"


def hosts_names(usual_url: str) -> tuple[str, ...]:
    """Names by which host processes of a pool and other servers call this one."""
    urls = [servers_url()]
    if PoolSettings.from_environment().pool != "local":
        urls.append(os.environ.get("DUET_POOL_SERVER") or usual_url)
    return tuple(name for url in urls if (name := urlsplit(url).hostname))


def refuse_open_house(host: str, live: bool) -> None:
    """No guest that shares the host's files is offered to other machines.

    Raises:
        InputError: it would be.
    """
    if live and default_kind() == "vng" and not is_loopback(host):
        raise InputError(
            f"DUET_GUEST=vng shows this machine's files in each guest, and '{host:.80}' lets other "
            "machines start guests.",
            remedy="Unset DUET_GUEST for sealed guests, or use --host 127.0.0.1.",
        )


def allow_files() -> None:
    """Raise the soft limit of open files as far as it may be."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = OPEN_FILES if hard == resource.RLIM_INFINITY else min(OPEN_FILES, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def bind(host: str, port: int) -> socket.socket:
    """A listening socket.

    Raises:
        InfraError: the port is taken or not allowed.
        InputError: no such address.
    """
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except socket.gaierror as error:
        raise InputError(
            f"'{host:.80}' is not an address that can be listened on ({error.strerror}).",
            remedy="Use --host 127.0.0.1, or 0.0.0.0 for the whole network.",
        ) from None
    family, _, _, _, address = found[0]
    try:
        return socket.create_server(address[:2], family=family, backlog=128)
    except PermissionError:
        raise InfraError(
            f"port {port} may not be used by this user.",
            remedy="Choose one above 1023 with --port, e.g. --port 8643.",
        ) from None
    except OSError as error:
        if error.errno != errno.EADDRINUSE:
            raise InfraError(
                f"the server could not listen on {host} port {port} ({error.strerror}).",
                remedy="Choose another address with --host, or another port with --port.",
            ) from None
        raise InfraError(
            f"port {port} is taken by another program.",
            remedy=f"Choose another one with --port, e.g. --port {port + 1}.",
        ) from None


class DuetServer(uvicorn.Server):
    """uvicorn with our own signals and our own greeting."""

    def __init__(
        self,
        config: uvicorn.Config,
        listener: socket.socket,
        greeting: Greeting,
        progress: BuildProgress,
    ) -> None:
        super().__init__(config)
        self._listener = listener
        self._address = listener.getsockname()[:2]
        self._greeting = greeting
        self._progress = progress
        self._manager = ServiceManager()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Listen, then tell where."""
        asyncio.get_running_loop().set_exception_handler(OutOfFiles())
        loop_first()
        await super().startup(sockets)
        self._listener.listen(KERNEL_QUEUE)
        be_prompt()
        self._greeting.say(*self._address)
        self._progress.show()
        self._manager.listening()

    async def main_loop(self) -> None:
        """Serve, until the server is to end."""
        async with self._manager.going_on():
            await super().main_loop()

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """SIGINT, SIGTERM and SIGHUP end the server; a second one, or END_S, ends the process."""
        with ending(self._end):
            yield

    def _end(self) -> None:
        self.should_exit = True
        self._manager.ending()
