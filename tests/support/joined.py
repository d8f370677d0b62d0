# SPDX-License-Identifier: GPL-2.0-or-later
"""A server with a host process `duet host --join`, behind a relay that can break the connection."""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any

from duet.api.app import create_app
from duet.kernels import KernelSettings
from duet.rpc.peer import Peer
from duet.server.hosts.door import DOOR_PATH, HostDoor, JoinedHost
from duet.server.hosts.processes import LocalHosts
from duet.server.hosts.stage import HostStage, begin_of
from duet.server.wiring import default_director


class Relay:
    """A TCP relay to a port; `cut` breaks all connections at once."""

    def __init__(self) -> None:
        self.to_port = 0
        self.open = True
        """False: the relay refuses new connections."""
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self._pairs: list[socket.socket] = []
        self.cuts = 0
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                try:
                    server = self._onward()
                except OSError:
                    client.close()
                    continue
                self._pairs += (client, server)
                for one, other in ((client, server), (server, client)):
                    threading.Thread(target=self._pass, args=(one, other), daemon=True).start()

    def _onward(self) -> socket.socket:
        if not self.open:
            raise ConnectionRefusedError
        return socket.create_connection(("127.0.0.1", self.to_port))

    def _pass(self, one: socket.socket, other: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := one.recv(1 << 16):
                other.sendall(data)
        for end in (one, other):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
        one.close()

    def cut(self) -> None:
        """Break all open connections."""
        self.cuts += bool(self._pairs)
        for end in self._pairs:
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)  # the thread that reads it closes it
        self._pairs.clear()

    def close(self) -> None:
        self._listener.close()
        self.cut()


class Program:
    """A `duet host` process on this machine."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process

    async def gone(self) -> str:
        return f"exit code {await asyncio.to_thread(self.process.wait)}"


class LoopStage(HostStage):
    """A stage that stores the server's event loop."""

    loop: asyncio.AbstractEventLoop

    async def __aenter__(self) -> HostStage:
        self.loop = asyncio.get_running_loop()
        return await super().__aenter__()


class Joining:
    """A server with a joined host, and the relay between them.

    Args:
        settings: location of the kernels.
        cache: cache folder of the host; None for that of the tests.
    """

    def __init__(self, settings: KernelSettings, cache: Path | None = None) -> None:
        self._env = {"DUET_CACHE": str(cache)} if cache else {}
        self.door = HostDoor(settings.store)
        self.relay = Relay()
        self.tokens: list[str] = []
        self.programs: list[Program] = []
        self.stage: LoopStage | None = None
        self._settings = settings

    def app(self, root: Path) -> Any:
        def director(hub: Any) -> Any:
            begin = begin_of(self._settings, 1)
            self.stage = LoopStage(lambda calls: LocalHosts(calls, begin, start=self._start))
            return default_director(hub, self._settings, False, stage=self.stage, hosts=self.door)

        return create_app(director, page=root / "none")

    def _start(self, peer: Peer) -> JoinedHost:
        return JoinedHost(peer, self.door, self.launch)

    @contextlib.asynccontextmanager
    async def launch(self, token: str) -> AsyncIterator[Program]:
        self.tokens.append(token)
        url = f"ws://127.0.0.1:{self.relay.port}{DOOR_PATH}"
        process = await asyncio.to_thread(start, url, token, self._env)
        self.programs.append(Program(process))
        try:
            yield self.programs[-1]
        finally:  # end it as a container engine does when a lease ends
            with contextlib.suppress(subprocess.TimeoutExpired):
                await asyncio.to_thread(process.wait, 2)
            process.terminate()
            await asyncio.to_thread(process.wait, 20)


def start(url: str, token: str, env: Mapping[str, str] | None = None) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [sys.executable, "-m", "duet", "host", "--join", url],
        stdin=subprocess.PIPE,
        text=True,
        env=os.environ | (env or {}),
    )
    assert process.stdin is not None
    process.stdin.write(f"{token}\n")
    process.stdin.close()
    return process
