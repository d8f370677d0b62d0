# SPDX-License-Identifier: GPL-2.0-or-later
"""Two real servers of the same classes, with PostgreSQL behind and nginx before them."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar
from urllib.parse import urlencode

from sqlalchemy import Connection, create_engine

from duet.api.tokens import AccessFile
from duet.base.access import Role
from duet.store import database as claims
from tests.support.postgres import postgres
from tests.support.proxy import free_port, nginx
from tools.bench.classroom import own_places

HOSTS = ("127.0.0.1", "127.0.0.2")
"""Cookies have the port in their name, so both listen on the same one."""
WAIT_S = 60.0
Result = TypeVar("Result")


class Server:
    """A process, which can be killed and started again."""

    def __init__(self, host: str, port: int, folder: Path, database: str, public: str) -> None:
        self.address = f"{host}:{port}"
        self.url = f"http://{self.address}"
        self._log = folder / f"{host}.log"
        self._words = ["--host", host, "--port", str(port), "--public-url", public]
        own = {"DUET_CLASSES_DB": database, "DUET_SERVERS_URL": self.url}
        own |= {"DUET_ACCESS": str(folder / "access.json")}
        self._environment = os.environ | own_places(str(folder)) | own
        self.process: subprocess.Popen[str] | None = None

    def start(self) -> None:
        """Start it; `ready` waits for it."""
        command = [sys.executable, "-m", "duet", "serve", "--no-build", "--no-guests", "--json"]
        with self._log.open("a") as log:
            self.process = subprocess.Popen(
                [*command, "--token-required", *self._words],
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                env=self._environment,
                start_new_session=True,  # a killed server leaves its session's priority
            )

    def ready(self) -> None:
        """Until it listens."""
        assert self.process is not None and self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line, self.log()[-2000:]
        assert json.loads(line)["url"]

    def end(self, how: signal.Signals = signal.SIGKILL) -> None:
        """End it, and wait for its end."""
        process, self.process = self.process, None
        if process is not None:
            process.send_signal(how)
            process.wait(WAIT_S)
            assert process.stdout is not None
            process.stdout.close()

    @contextlib.contextmanager
    def hanging(self) -> Iterator[None]:
        """It does nothing within the block, and its connections stay open."""
        assert self.process is not None
        self.process.send_signal(signal.SIGSTOP)
        try:
            yield
        finally:
            self.process.send_signal(signal.SIGCONT)

    def log(self) -> str:
        """What it wrote."""
        return self._log.read_text()


@dataclass
class Site:
    """All of it.

    Args:
        front: host:port of nginx, which has the page under /duet/.
        port: of both servers.
        tokens: of each role.
    """

    servers: list[Server]
    front: str
    port: int
    database: str
    tokens: dict[Role, str]

    def ask(self, work: Callable[[Connection], Result]) -> Result:
        """Ask the database, past all servers."""
        engine = create_engine(self.database)
        try:
            with engine.begin() as connection:
                return work(connection)
        finally:
            engine.dispose()

    def owner(self, class_id: str) -> Server | None:
        """The server that owns a class."""
        url = self.ask(lambda c: claims.owner(c, class_id))
        return next((server for server in self.servers if server.url == url), None)

    def other(self, server: Server | None) -> Server:
        """The one of both that is not this one."""
        return next(one for one in self.servers if one is not server)

    def behind(self, path: str) -> int:
        """The status of an answer through nginx."""
        connection = http.client.HTTPConnection(self.front, timeout=WAIT_S)
        connection.request("GET", f"/duet{path}")
        status = connection.getresponse().status
        connection.close()
        return status

    def cookie(self, **query: str) -> str:
        """Of a browser that opens the page with a token or the code of a class; empty: refused."""
        connection = http.client.HTTPConnection(self.front, timeout=WAIT_S)
        connection.request("GET", f"/duet/?{urlencode(query)}")
        answer = connection.getresponse()
        found = answer.headers.get("set-cookie", "").partition(";")[0]
        connection.close()
        return found if answer.status == 303 else ""


@contextlib.contextmanager
def site(folder: Path) -> Iterator[Site]:
    """Runs within the block."""
    front, port = f"127.0.0.1:{free_port()}", free_port()
    tokens = AccessFile(folder / "access.json").make(Role, again=False)
    with postgres() as database:
        servers = [
            Server(host, port, folder, database.url, f"http://{front}/duet/") for host in HOSTS
        ]
        try:
            for server in servers:
                server.start()
            for server in servers:
                server.ready()
            with nginx(folder, int(front[10:]), *(server.address for server in servers)):
                yield Site(servers, front, port, database.url, tokens)
        finally:
            for server in servers:
                server.end()


def get(server: Server, path: str, cookie: str = "", method: str = "GET") -> tuple[int, bytes]:
    """What one server answers."""
    connection = http.client.HTTPConnection(server.address, timeout=WAIT_S)
    connection.request(method, path, headers={"Cookie": cookie} if cookie else {})
    answer = connection.getresponse()
    body = answer.read()
    connection.close()
    return answer.status, body


def viewers(server: Server, cookie: str) -> int:
    """Pages that are connected to a server."""
    return int(json.loads(get(server, "/api/health", cookie)[1])["viewers"])
