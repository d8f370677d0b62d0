# SPDX-License-Identifier: GPL-2.0-or-later
"""A world of its own for the soak: folders on small file systems, and the server that lives there.

As root: runs lie on an ext4 in a file (whose copy is what a power cut would leave), temporary files
and sockets on a small tmpfs, the cache is an overlay over the real one, which nothing can harm.
Without root all are plain folders; faults that need more are skipped, with the reason.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil

from duet.base.settings import cache_dir, repo_root

HERE = Path(__file__).parent
MARK = "DUET_SOAK"
START_S = 60.0
ASK_S = 30.0
RUNS_MB, TMP_MB, SOCKETS_MB, CACHE_MB = 48, 64, 16, 192
"""A root has 30 MB, and guests hold the file that they were started with."""
KEEP_RUNS = 6


def in_namespace() -> bool:
    """Whether the first process of our PID namespace is one that the soak has started.

    The variable alone proves nothing: whoever sets it by hand would take the machine's processes
    for ours.
    """
    if os.environ.get(f"{MARK}_NAMESPACE") != "1":
        return False
    try:
        first = Path("/proc/1/environ").read_bytes().split(b"\0")
    except OSError:
        return False
    return f"{MARK}_NAMESPACE=1".encode() in first


class World:
    """Use as `with`."""

    def __init__(self) -> None:
        self.base = Path(tempfile.mkdtemp(prefix="duet-soak-", dir="/tmp"))
        self.base.chmod(0o755)
        self.runs, self.tmp, self.sockets = (self.base / name for name in ("runs", "tmp", "x"))
        self.cache = self.base / "cache"
        self.log = self.base / "server.log"
        self.clock = self.base / "clock"
        self._cuts = 0
        self.image = self.base / "runs.img"
        self.mounted: list[Path] = []
        self.server: Server | None = None
        self.ended: list[int] = []
        """Process ids of servers that were here before."""
        self.own_disks = False
        """Whether folders lie on file systems of their own."""
        self.alone = in_namespace()
        """Whether this is a PID namespace of its own, so that all its processes are ours."""

    def __enter__(self) -> World:
        for folder in (self.runs, self.tmp, self.sockets, self.cache):
            folder.mkdir()
        self.clock.write_text("0")
        if self.alone and os.geteuid() == 0:
            with contextlib.suppress(OSError, subprocess.SubprocessError):
                self._mounts()
                self.own_disks = True
        if not self.own_disks:
            for folder in reversed(self.mounted):
                _call("umount", str(folder))
            self.mounted.clear()
            self.cache = cache_dir()
        return self

    def __exit__(self, *exc: object) -> None:
        # Only what was started here is ended here: what is left in a namespace ends with it.
        if self.server is not None and self.server.alive:
            self.server.end(signal.SIGKILL)
        for folder in reversed(self.mounted):
            subprocess.run(["umount", "-l", str(folder)], check=False, timeout=20)
        shutil.rmtree(self.base, ignore_errors=True)

    def _mounts(self) -> None:
        with self.image.open("wb") as file:
            file.truncate(RUNS_MB << 20)
        _call("mkfs.ext4", "-q", "-F", str(self.image))
        # Nothing reaches the image by itself for five minutes: what is there was synced.
        self._mount(self.runs, "-o", "loop,commit=300", str(self.image))
        shutil.rmtree(self.runs / "lost+found", ignore_errors=True)
        for folder, size in ((self.tmp, TMP_MB), (self.sockets, SOCKETS_MB)):
            self._mount(folder, "-t", "tmpfs", "-o", f"size={size}m", "tmpfs")
        above = self.base / "above"
        above.mkdir()
        self._mount(above, "-t", "tmpfs", "-o", f"size={CACHE_MB}m", "tmpfs")
        for name in ("upper", "work"):
            (above / name).mkdir()
        layers = f"lowerdir={cache_dir()},upperdir={above}/upper,workdir={above}/work"
        self._mount(self.cache, "-t", "overlay", "-o", layers, "overlay")

    def _mount(self, target: Path, *words: str) -> None:
        _call("mount", *words, str(target))
        self.mounted.append(target)

    def environment(self, **own: str) -> dict[str, str]:
        """Of a server."""
        known = {
            "DUET_ROOT": str(repo_root()), "DUET_CACHE": str(self.cache), "DUET_SETUP": "skip",
            "DUET_RUNS": str(self.runs), "DUET_SAVED_RUNS": str(KEEP_RUNS), MARK: str(self.base),
            "TMPDIR": str(self.tmp), "XDG_RUNTIME_DIR": str(self.sockets),
            f"{MARK}_CLOCK": self.clock, "PYTHONDONTWRITEBYTECODE": "1",
            "PYTHONPATH": str(repo_root() / "backend/src"),
        }  # fmt: skip
        return {**os.environ, **known, **own}

    def start(self) -> Server:
        """The server; the former one must have ended."""
        assert self.server is None or not self.server.alive
        if self.server is not None:
            self.ended.append(self.server.pid)
        self.server = Server(self)
        return self.server

    def processes(self) -> list[psutil.Process]:
        """All processes that a server of this world has started and that are left."""
        own = {os.getpid(), os.getppid(), 1} if self.alone else {os.getpid()}
        own |= self._drivers()
        found = []
        for process in psutil.process_iter():
            with contextlib.suppress(psutil.Error):
                if process.pid in own or process.status() == psutil.STATUS_ZOMBIE:
                    continue
                if self.alone or process.environ().get(MARK) == str(self.base):
                    found.append(process)
        return found

    def _drivers(self) -> set[int]:
        """Helpers of this very process, which opens recordings as well."""
        found: set[int] = set()
        for child in psutil.Process().children():
            with contextlib.suppress(psutil.Error):
                if "duet.confine.zygote" in child.cmdline():
                    found |= {child.pid, *(below.pid for below in child.children(recursive=True))}
        return found

    @contextlib.contextmanager
    def full(self, folder: Path) -> Iterator[None]:
        """Without a free byte in the file system of a folder."""
        filler = folder / "filler"
        with contextlib.suppress(OSError), filler.open("wb", buffering=0) as file:
            block = bytes(1 << 20)
            while block:
                try:
                    file.write(block)
                except OSError:
                    block = block[: len(block) // 2]
        try:
            yield
        finally:
            filler.unlink()

    @contextlib.contextmanager
    def after_power_cut(self) -> Iterator[Path]:
        """The folder of runs as the next boot would find it: what was synced, and no more."""
        self._cuts += 1
        copy, folder = (self.base / f"cut-{self._cuts}{end}" for end in (".img", ""))
        server = self.server
        if server is not None and server.alive:
            os.kill(server.pid, signal.SIGSTOP)  # the copy takes a moment, the cut none
        try:
            shutil.copyfile(self.image, copy)
        finally:
            if server is not None and server.alive:
                os.kill(server.pid, signal.SIGCONT)
        folder.mkdir(exist_ok=True)
        _call("mount", "-o", "loop", str(copy), str(folder))
        try:
            yield folder
        finally:
            # A child of ours may still have a file open; the rest goes when it is closed.
            _call("umount", "-l", str(folder))
            copy.unlink()


class Server:
    """One `duet serve` process, from its start on."""

    def __init__(self, world: World) -> None:
        self._log = world.log.open("ab")
        self.log_begins = self._log.tell()
        self._world = world
        self.process = subprocess.Popen(
            [sys.executable, str(HERE / "stepped_server.py"), "serve", "--port", "0",
             "--no-build", "--json"],
            stdout=subprocess.PIPE, stderr=self._log, text=True, env=world.environment(),
            start_new_session=True,
        )  # fmt: skip
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"the server did not start: {self.log()[-2000:]}")
        reported: dict[str, Any] = json.loads(line)
        self.address = f"127.0.0.1:{reported['port']}"
        self.pid = self.process.pid

    @property
    def alive(self) -> bool:
        """Whether it has not ended."""
        return self.process.poll() is None

    def log(self) -> str:
        """What it wrote to its log."""
        with self._world.log.open("rb") as file:
            file.seek(self.log_begins)
            return file.read().decode(errors="replace")

    def ask(self, path: str) -> Any:
        """GET a JSON document.

        Raises:
            OSError: no answer in time, or an error status.
        """
        return json.loads(self.text(path))

    def text(self, path: str) -> str:
        """GET a text. Raises as ask()."""
        with urllib.request.urlopen(f"http://{self.address}{path}", timeout=ASK_S) as answer:
            body: bytes = answer.read()
            return body.decode()

    def end(self, number: int = signal.SIGTERM) -> float:
        """Signal it and wait; how many seconds that took."""
        began = time.monotonic()
        with contextlib.suppress(ProcessLookupError):
            self.process.send_signal(number)
        self.process.wait(60)
        self._log.close()
        return time.monotonic() - began


def _call(*words: str) -> None:
    subprocess.run(words, check=True, timeout=30, capture_output=True)
