# SPDX-License-Identifier: GPL-2.0-or-later
"""Private directories of processes. If the owner is killed, a later process removes them."""

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
    """Return the parent directory of guests' directories.

    The path is short, because a socket path may have at most 107 bytes.
    """
    base = os.environ.get("XDG_RUNTIME_DIR")
    if base and len(base) < 50 and os.access(base, os.W_OK):
        return Path(base) / "kernel-duet"
    return Path("/tmp") / f"kernel-duet-{os.getuid()}"


def passable_base() -> Path:
    """Return `runtime_base()`, or a folder in /tmp if other users cannot access that directory."""
    base = runtime_base()
    if all(folder.stat().st_mode & stat.S_IXOTH for folder in base.parents if folder.exists()):
        return base
    return Path("/tmp") / f"kernel-duet-{os.getuid()}"


def _owner_line() -> str:
    return f"{os.getpid()} {psutil.Process().create_time()}"


def _owner_lives(folder: Path) -> bool:
    """Return whether the creator of `folder` still runs (pid and start time match)."""
    try:
        pid, created = (folder / OWNER).read_text().split()
        return bool(abs(psutil.Process(int(pid)).create_time() - float(created)) < 0.5)
    except (OSError, ValueError, psutil.Error):
        return False


def sweep(base: Path) -> list[Path]:
    """Remove directories whose owner has ended, and return their paths.

    A new directory has a draft name until its owner file is written, so new directories are never
    removed here.
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
    """Remove all directories that killed processes of this user have left behind.

    A server calls this function at its start.
    """
    return [path for base in {runtime_base(), passable_base()} for path in sweep(base)]


def live_folders(base: Path) -> list[Path]:
    """Return directories of guests whose owner still runs."""
    return [folder for folder in base.glob(f"{_PREFIX}*") if _owner_lives(folder)]


class RunDir:
    """A private directory for the sockets of one guest. Use as a context manager.

    Args:
        base: parent directory; by default `runtime_base()`.
        uid: user of the guest's process, which creates its sockets there. None means our user.
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
                raise PermissionError(f"{self._base} belongs to another user")
            sweep(self._base)
            made = Path(tempfile.mkdtemp(prefix=_DRAFT, dir=self._base))
            (made / OWNER).write_text(_owner_line())
            if self._uid is not None:
                self._base.chmod(0o711)  # others may traverse the directory, but not list it
                os.chown(made, -1, self._uid)
                made.chmod(0o1770)  # sticky, so the guest's process cannot remove our files
            self.path = made.rename(made.with_name(_PREFIX + made.name.removeprefix(_DRAFT)))
        except OSError as failed:
            if made is not None:
                shutil.rmtree(made, ignore_errors=True)
            raise InfraError(
                f"no private directory for a guest can be created below {self._base}: {failed}.",
                remedy="Free some disk space, or set XDG_RUNTIME_DIR to a writable directory.",
            ) from failed
        return self.path

    def __exit__(self, *exc: object) -> None:
        shutil.rmtree(self.path, ignore_errors=True)

    def give_to_guest(self, path: Path) -> None:
        """Make the guest's user the owner of one of our files or sockets."""
        if self._uid is not None:
            os.chown(path, self._uid, self._uid)

    def seal(self) -> None:
        """Make the directory read-only for the guest's process.

        Afterwards this process can safely write and connect here. Call this function before the
        guest runs any untrusted code.

        Raises:
            InfraError: the directory contains a symbolic link.
        """
        if self._uid is None:
            return
        self.path.chmod(0o710)
        if any(entry.is_symlink() for entry in self.path.iterdir()):
            raise InfraError(
                f"{self.path} contains a symbolic link, but QEMU never creates one.",
                remedy="Start the run again; if this happens again, check the guest's images.",
            )


# The pipes of a process, and its exit.


class Outlet(Protocol):
    """Receiver of a process's output."""

    def feed(self, text: bytes) -> None: ...


class ProcessPipes(asyncio.SubprocessProtocol):
    """Standard input, output and error of one process.

    Args:
        outputs: receiver of the output of each file descriptor.
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
        """Exit code, or the negative signal number; None while the process runs."""
        return self._transport.get_returncode() if self._transport else None

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        self._outputs[fd].feed(data)

    def pause_writing(self) -> None:
        """Called by asyncio when the buffer of standard input is full."""
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
        """Write a command to standard input, unless it is closed.

        Commands are few and short, so there is no backpressure.
        """
        pipe = self._transport.get_pipe_transport(0) if self._transport else None
        if isinstance(pipe, asyncio.WriteTransport) and not pipe.is_closing():
            pipe.write(text)

    async def send(self, text: bytes) -> None:
        """Write to standard input; wait until its buffer has room, or the process has ended.

        The caller sets the timeout.
        """
        self.write(text)
        await self._writable.wait()

    def end_input(self) -> None:
        """Close standard input."""
        pipe = self._transport.get_pipe_transport(0) if self._transport else None
        if pipe is not None:
            pipe.close()

    async def wait(self) -> None:
        """Wait until the process has ended."""
        await self._ended.wait()

    async def wait_for_output(self) -> None:
        """Wait until the process has ended and its receivers have got all output.

        The caller sets the timeout.
        """
        await self._closed.wait()
