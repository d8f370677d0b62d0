# SPDX-License-Identifier: GPL-2.0-or-later
"""A microscope without QEMU (toy.c), and the host's end of any microscope's socket."""

from __future__ import annotations

import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np

from duet.base.settings import repo_root
from duet.lenses.scope import SNAPSHOT, Cells, Log, Message, Reply, ScopeReader

TIMEOUT_S = 240


class Toy:
    """A running toy and one connection to it."""

    def __init__(self, program: Path, path: Path, vcpus: int) -> None:
        self.path = path
        self.process = subprocess.Popen(
            [program, path, str(vcpus)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert self.answer() == "ready"

    def answer(self) -> str:
        assert self.process.stdout is not None
        return self.process.stdout.readline().strip()

    def order(self, line: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        assert self.answer() == "done"

    def end(self) -> None:
        """In order; sanitizers speak on standard error."""
        _, errors = self.process.communicate(timeout=TIMEOUT_S)
        assert (self.process.returncode, errors) == (0, "")
        assert not self.path.exists()


class ScopeEnd:
    """The host's end. Use as `with`."""

    def __init__(self, path: Path) -> None:
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(TIMEOUT_S)
        self.socket.connect(str(path))
        self.reader = ScopeReader()
        self.received: list[Message] = []

    def __enter__(self) -> ScopeEnd:
        return self

    def __exit__(self, *exc: object) -> None:
        self.socket.close()

    def until(self, fits: Callable[[Message], bool]) -> Message:
        while True:
            if self.received:
                message = self.received.pop(0)
                if fits(message):
                    return message
            else:
                chunk = self.socket.recv(1 << 16)
                assert chunk, "the collector hung up"
                self.received += self.reader.feed(chunk)

    def ask(self, line: bytes) -> Reply:
        self.socket.sendall(line)
        reply = self.until(lambda message: isinstance(message, Reply))
        assert isinstance(reply, Reply)
        return reply

    def snapshot(self) -> tuple[Cells, np.ndarray]:
        """The answer, and all of the log that came before it."""
        pages: list[np.ndarray] = []

        def fits(message: Message) -> bool:
            if isinstance(message, Log):
                pages.append(message.records)
            return isinstance(message, Cells) and message.answer

        self.socket.sendall(SNAPSHOT)
        cells = self.until(fits)
        assert isinstance(cells, Cells)
        return cells, np.concatenate(pages) if pages else np.empty(0)


class Victim:
    """A process that watches and reads a few bytes at a time, to be killed in the middle."""

    def __init__(self, path: Path, watch: bytes) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.support.scope_end", path, watch.decode()],
            cwd=repo_root(),
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self.process.stdout is not None
        assert self.process.stdout.readline() == "watching\n"

    def kill(self) -> None:
        """By SIGKILL."""
        self.process.kill()
        self.process.communicate(timeout=TIMEOUT_S)


if __name__ == "__main__":
    with ScopeEnd(Path(sys.argv[1])) as one:
        assert one.ask(sys.argv[2].encode()).ok
        print("watching", flush=True)
        while one.socket.recv(7):
            pass
