# SPDX-License-Identifier: GPL-2.0-or-later
"""A guest's process and its private directory: whoever starts them ends them.

A QEMU must not outlive its owner, also after kill -9 of the owner. setpriv(1) asks the
kernel for SIGKILL at the death of the parent (PR_SET_PDEATHSIG), and the agent powers off
when its control port has been dead for 5 s. An owner that died before setpriv had asked
would never be told of: so a shell asks next whether the parent is still the owner. Directories
that a killed owner left are swept at the next start.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import signal
import stat
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Protocol

import psutil

from duet.errors import InfraError
from duet.guests.limits import DRAFT_S, END_S, NICE, TERM_S

_PREFIX = "g-"
_DRAFT = "new-"
OWNER = "owner"
# $0 is the owner's pid. Comes after setpriv: from there on the kernel tells of a death.
_IF_OWNED = '[ "$PPID" = "$0" ] && exec "$@"; exit 137'


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
                f"No private directory for a guest can be made below {self._base}: {failed}.",
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


def find_program(name: str, package: str) -> str:
    """Path of a program.

    Raises:
        InfraError: it is not installed; the remedy names the Debian package.
    """
    found = shutil.which(name)
    if found is None:
        raise InfraError(
            f"The program {name} is not installed.",
            remedy=f"Install it: apt-get install {package}",
        )
    return found


def mortal_words() -> tuple[str, ...]:
    """Words before a program without children that ends with the thread that starts it."""
    return (find_program("setpriv", "util-linux"), "--pdeathsig", "KILL", "--")


def reaper_words() -> tuple[str, ...]:
    """Words before a program whose children must end with it (see duet.guests.reaper)."""
    # It may start in a folder that its program writes to: nothing is imported from there.
    return (sys.executable, "-P", "-s", "-m", "duet.guests.reaper")


class Outlet(Protocol):
    """Takes what a process writes."""

    def feed(self, text: bytes) -> None:
        """More bytes."""


class OwnedProcess(asyncio.SubprocessProtocol):
    """A process that ends with its owner. Use as `async with`.

    Args:
        argv: the program and its words.
        console: gets standard output.
        errors: gets standard error.
        on_exit: called once when the process has ended.
        death_signal: what the kernel sends the process when its owner dies.
        grace_s: time between SIGTERM and SIGKILL; 0 is SIGKILL at once.
        commands: it takes commands on standard input (see `write`).
        before: words that confine it (duet.sandbox.prefix); they replace `death_signal`.
        folder: where it starts; it may be one that its user could not reach by a path.
        descriptors: those of ours that it inherits, under the same numbers.
        environment: added to ours.
    """

    def __init__(
        self,
        argv: Sequence[str],
        *,
        console: Outlet,
        errors: Outlet,
        on_exit: Callable[[], None],
        death_signal: str = "KILL",
        grace_s: float = 0,
        commands: bool = False,
        before: Sequence[str] = (),
        folder: Path | None = None,
        descriptors: Sequence[int] = (),
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self._argv = argv
        self._outputs = {1: console, 2: errors}
        self._on_exit = on_exit
        self._death_signal = death_signal
        self._grace_s = grace_s
        self._commands = commands
        self._before = before
        self._folder = folder
        self._descriptors = descriptors
        self._environment = dict(environment or {})
        self._ended = asyncio.Event()
        self._writable = asyncio.Event()
        self._writable.set()
        self._transport: asyncio.SubprocessTransport | None = None
        self.pid = 0

    @property
    def returncode(self) -> int | None:
        """Exit code, minus a signal, or None while it runs."""
        return self._transport.get_returncode() if self._transport else None

    async def __aenter__(self) -> OwnedProcess:
        setpriv = find_program("setpriv", "util-linux")
        nice = find_program("nice", "coreutils")
        dies = self._before or (setpriv, "--pdeathsig", self._death_signal)
        owned = (find_program("sh", "dash"), "-c", _IF_OWNED, str(os.getpid()))
        words = (*dies, *owned, nice, "-n", str(NICE), *self._argv)
        try:
            # A session of its own: Ctrl-C on the terminal reaches the owner alone, which
            # then ends the guest in order.
            self._transport, _ = await asyncio.get_running_loop().subprocess_exec(
                lambda: self,
                *words,
                stdin=asyncio.subprocess.PIPE if self._commands else asyncio.subprocess.DEVNULL,
                start_new_session=True,
                cwd=self._folder,
                pass_fds=self._descriptors,
                env={**os.environ, **self._environment},
            )
        except OSError as failed:
            raise InfraError(
                f"{self._argv[0]} cannot be started: {failed}.",
                remedy="Check memory and the number of processes, then try again.",
            ) from failed
        self.pid = self._transport.get_pid()
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self.end()
        if self._transport:
            self._transport.close()

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        self._outputs[fd].feed(data)

    def pause_writing(self) -> None:
        """Standard input is full."""
        self._writable.clear()

    def resume_writing(self) -> None:
        """It has room again."""
        self._writable.set()

    def process_exited(self) -> None:
        self._ended.set()
        self._writable.set()
        self._on_exit()

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

    def _signal(self, number: signal.Signals) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, number)

    def kill(self) -> None:
        """SIGKILL now; `end` waits for it."""
        if self.returncode is None:
            self._signal(signal.SIGKILL)

    async def end(self) -> None:
        """Signal the whole process group and wait.

        Raises:
            InfraError: it does not end, not even by SIGKILL.
        """
        if self.returncode is None and self._grace_s:
            self._signal(signal.SIGTERM)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(self._grace_s or TERM_S):
                    await self.wait()
        if self.returncode is None or self._grace_s:
            self._signal(signal.SIGKILL)  # a launcher may leave its children behind
        try:
            async with asyncio.timeout(END_S):
                await self.wait()
        except TimeoutError:
            raise InfraError(
                f"Process {self.pid} ({Path(self._argv[0]).name}) does not end.",
                remedy="It hangs in the host's kernel; look at dmesg and free the host's disk.",
            ) from None
