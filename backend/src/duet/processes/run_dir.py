# SPDX-License-Identifier: GPL-2.0-or-later
"""Private directories of processes. Those that a killed owner left are swept at the next start."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import stat
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Protocol

import psutil

from duet.base.errors import InfraError
from duet.processes.limits import DRAFT_S

_PREFIX = "g-"
_DRAFT = "new-"
OWNER = "owner"


def runtime_base() -> Path:
    """Where guests' directories lie; short, since socket paths are limited to 107 bytes."""
    base = os.environ.get("XDG_RUNTIME_DIR")
    if base and len(base) < 50 and os.access(base, os.W_OK):
        return Path(base) / "kernel-duet"
    return Path("/tmp") / f"kernel-duet-{os.getuid()}"


def passable_base() -> Path:
    """As runtime_base(), but another user can pass the folders above it."""
    base = runtime_base()
    if all(folder.stat().st_mode & stat.S_IXOTH for folder in base.parents if folder.exists()):
        return base
    return Path("/tmp") / f"kernel-duet-{os.getuid()}"


def _owner_line() -> str:
    return f"{os.getpid()} {psutil.Process().create_time()}"


def _owner_lives(folder: Path) -> bool:
    """Whether the process that made `folder` is still there (pid and start time agree)."""
    try:
        pid, created = (folder / OWNER).read_text().split()
        return bool(abs(psutil.Process(int(pid)).create_time() - float(created)) < 0.5)
    except (OSError, ValueError, psutil.Error):
        return False


def sweep(base: Path) -> list[Path]:
    """Remove directories whose owner is gone.

    Returns:
        What was removed. A directory in the making has no owner file for a moment; it is
        renamed into place with one, so it is never seen without.
    """
    removed = []
    for folder in base.glob(f"{_PREFIX}*"):
        if not _owner_lives(folder):
            shutil.rmtree(folder, ignore_errors=True)
            removed.append(folder)
    for folder in base.glob(f"{_DRAFT}*"):
        with contextlib.suppress(OSError):
            if time.time() - folder.stat().st_mtime > DRAFT_S:
                shutil.rmtree(folder, ignore_errors=True)
                removed.append(folder)
    return removed


def sweep_all() -> list[Path]:
    """Remove what killed owners of this user left anywhere; for the start of a server."""
    return [path for base in {runtime_base(), passable_base()} for path in sweep(base)]


def live_folders(base: Path) -> list[Path]:
    """Directories of guests whose owner is there."""
    return [folder for folder in base.glob(f"{_PREFIX}*") if _owner_lives(folder)]


class RunDir:
    """A private directory for the sockets of one guest. Use as `with`.

    Args:
        uid: the user of the guest's process, which makes its sockets there; None: our own.
    """

    def __init__(self, base: Path | None = None, uid: int | None = None) -> None:
        self._base = base or runtime_base()
        self._uid = uid
        self.path = Path()

    def __enter__(self) -> Path:
        made: Path | None = None
        try:
            self._base.mkdir(mode=0o700, parents=True, exist_ok=True)
            if self._base.is_symlink() or self._base.stat().st_uid != os.getuid():
                raise PermissionError(f"{self._base} belongs to somebody else")
            sweep(self._base)
            made = Path(tempfile.mkdtemp(prefix=_DRAFT, dir=self._base))
            (made / OWNER).write_text(_owner_line())
            if self._uid is not None:
                self._base.chmod(0o711)  # to be passed, not to be listed
                os.chown(made, -1, self._uid)
                made.chmod(0o1770)  # sticky: it adds its files, and removes none of ours
            self.path = made.rename(made.with_name(_PREFIX + made.name.removeprefix(_DRAFT)))
        except OSError as failed:
            if made is not None:
                shutil.rmtree(made, ignore_errors=True)
            raise InfraError(
                f"no private directory for a guest can be made below {self._base}: {failed}.",
                remedy="Free some disk space, or set XDG_RUNTIME_DIR to a writable directory.",
            ) from failed
        return self.path

    def __exit__(self, *exc: object) -> None:
        shutil.rmtree(self.path, ignore_errors=True)

    def hand(self, path: Path) -> None:
        """Give a file or socket of ours to the guest's process."""
        if self._uid is not None:
            os.chown(path, self._uid, self._uid)

    def seal(self) -> None:
        """From now on the guest's process changes no name here, so we may write and connect here.

        To be called before the guest runs anything that is not ours.

        Raises:
            InfraError: a name there leads elsewhere.
        """
        if self._uid is None:
            return
        self.path.chmod(0o710)
        if any(entry.is_symlink() for entry in self.path.iterdir()):
            raise InfraError(
                f"QEMU has put a symbolic link into {self.path}, which it never does.",
                remedy="Start the run again; if it happens again, look at the guest's images.",
            )


# What a process writes and is sent, and the news that it has ended.


class Outlet(Protocol):
    """Takes what a process writes."""

    def feed(self, text: bytes) -> None: ...


class Pipes(asyncio.SubprocessProtocol):
    """The three pipes of one process.

    Args:
        outputs: file descriptor -> who takes what the process writes there.
        on_exit: called once when the process has ended.
    """

    def __init__(self, outputs: Mapping[int, Outlet], on_exit: Callable[[], None]) -> None:
        self._outputs = outputs
        self._on_exit = on_exit
        self._ended = asyncio.Event()
        self._closed = asyncio.Event()
        self._writable = asyncio.Event()
        self._writable.set()
        self._transport: asyncio.SubprocessTransport | None = None

    @property
    def returncode(self) -> int | None:
        """Exit code, minus a signal, or None while it runs."""
        return self._transport.get_returncode() if self._transport else None

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        self._outputs[fd].feed(data)

    def pause_writing(self) -> None:
        """Standard input is full."""
        self._writable.clear()

    def resume_writing(self) -> None:
        self._writable.set()

    def process_exited(self) -> None:
        self._ended.set()
        self._writable.set()
        self._on_exit()

    def connection_lost(self, exc: Exception | None) -> None:
        self._closed.set()

    def write(self, text: bytes) -> None:
        """A command, if the process still takes any; few and short, so nothing waits."""
        pipe = self._transport.get_pipe_transport(0) if self._transport else None
        if isinstance(pipe, asyncio.WriteTransport) and not pipe.is_closing():
            pipe.write(text)

    async def send(self, text: bytes) -> None:
        """Bytes for standard input; waits until there is room for more, or the process has ended.

        The caller has the named timeout.
        """
        self.write(text)
        await self._writable.wait()

    def end_input(self) -> None:
        """No more comes on standard input."""
        pipe = self._transport.get_pipe_transport(0) if self._transport else None
        if pipe is not None:
            pipe.close()

    async def wait(self) -> None:
        """Until the process has ended."""
        await self._ended.wait()

    async def wait_for_output(self) -> None:
        """Until the process has ended and the last byte that it wrote was fed.

        The caller has the named timeout.
        """
        await self._closed.wait()
