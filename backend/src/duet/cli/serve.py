# SPDX-License-Identifier: GPL-2.0-or-later
"""`duet serve`: binds first, tells the address at once, and ends within END_S of a signal."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import os
import resource
import socket
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import uvicorn

from duet.api.app import create_app
from duet.api.front import Front
from duet.api.guard import is_loopback
from duet.base.errors import InfraError, InputError
from duet.base.logs import begin_log
from duet.base.settings import log_form, repo_root
from duet.classes.database import servers_url
from duet.cli.admission import TokenOptions, admission
from duet.cli.build_bar import ConsoleLog, build_progress, stderr_console
from duet.cli.build_progress import BuildProgress
from duet.cli.serve_access import Greeting, shown_name
from duet.confine.control_groups import remove_own_groups
from duet.guests.registry import default_kind
from duet.kernels import KernelSettings
from duet.lti.service import Registered
from duet.pools.types import PoolSettings
from duet.processes.cpus import be_prompt, loop_first, session_first
from duet.processes.run_dir import sweep_all
from duet.processes.service import ServiceManager, ending
from duet.server.hosts.door import DOOR_PATH
from duet.server.wiring import default_director
from duet.stream.http import OutOfFiles, server_config
from duet.stream.hub import Hub

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
        registered = Registered.default()
        admitted = admission(host, tokens, front, registered)
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
            registered=registered,
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
