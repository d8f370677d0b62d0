# SPDX-License-Identifier: GPL-2.0-or-later
"""Child processes that end with their owner.

QEMU and Chromium must not outlive their owner, even if the owner is killed with kill -9. setpriv(1)
asks the kernel to send SIGKILL to a process when its parent dies (PR_SET_PDEATHSIG). The kernel
sends no signal if the parent died before this request. So a shell then checks that the parent is
still the owner.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import signal
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from duet.base.errors import InfraError
from duet.processes.limits import END_S, NICE, TERM_S
from duet.processes.run_dir import Outlet, ProcessPipes

# In _IF_OWNED, $0 is the owner's pid. The script must run after setpriv, because the kernel sends a
# signal only if the owner dies after setpriv.
_JOIN = 'while [ "$1" != -- ]; do echo $$ >"$1"; shift; done; shift; exec "$@"'
_IF_OWNED = '[ "$PPID" = "$0" ] && exec "$@"; exit 137'

Started = asyncio.Task[tuple[asyncio.SubprocessTransport, Any]]


def find_program(name: str, package: str) -> str:
    """Return the path of a program.

    Raises:
        InfraError: the program is not installed; the remedy names the Debian package.
    """
    found = shutil.which(name)
    if found is None:
        raise InfraError(
            f"the program {name} is not installed.",
            remedy=f"Install it: apt-get install {package}",
        )
    return found


def parent_death_prefix() -> tuple[str, ...]:
    """Return a command prefix that makes a program die with the thread that starts it.

    The program must not have children, because they would survive.
    """
    return (find_program("setpriv", "util-linux"), "--pdeathsig", "KILL", "--")


def reaper_prefix() -> tuple[str, ...]:
    """Return a command prefix that makes all descendants of a program end with it.

    The prefix starts duet.processes.reaper.
    """
    # -P keeps Python from importing modules from the working directory, to which the program may be
    # able to write.
    return (sys.executable, "-P", "-s", "-m", "duet.processes.reaper")


class OwnedProcess(ProcessPipes):
    """A process that ends with its owner. Use as an asynchronous context manager.

    Args:
        argv: the program and its arguments.
        console: receives standard output.
        errors: receives standard error.
        on_exit: called once when the process has ended.
        death_signal: signal that the kernel sends the process when its owner dies.
        grace_s: time between SIGTERM and SIGKILL; 0 sends SIGKILL immediately.
        commands: whether standard input is open for commands (`write`).
        before: command prefix that confines the process (duet.confine.sandbox.prefix); it replaces
            `death_signal`.
        folder: working directory. The user of the process need not have access to the parent
            folders.
        descriptors: our file descriptors that the process inherits under the same numbers.
        environment: variables that are added to our environment.
        without: names of our environment variables that the process does not get.
        joins: `cgroup.procs` files to which the process first writes its pid.
        nice: niceness.
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
        without: Sequence[str] = (),
        joins: Sequence[str] = (),
        nice: int = NICE,
    ) -> None:
        super().__init__({1: console, 2: errors}, on_exit)
        self._argv = argv
        self._death_signal = death_signal
        self._grace_s = grace_s
        self._commands = commands
        self._before = before
        self._folder = folder
        self._descriptors = descriptors
        ours = {name: value for name, value in os.environ.items() if name not in without}
        self._environment = ours | dict(environment or {})
        self._joins = joins
        self._nice = nice
        self.pid = 0

    async def __aenter__(self) -> OwnedProcess:
        setpriv = find_program("setpriv", "util-linux")
        nice = find_program("nice", "coreutils")
        dies = self._before or (setpriv, "--pdeathsig", self._death_signal)
        shell = find_program("sh", "dash")
        joined = (shell, "-c", _JOIN, "join", *self._joins, "--") if self._joins else ()
        owned = (shell, "-c", _IF_OWNED, str(os.getpid()))
        words = (*joined, *dies, *owned, nice, "-n", str(self._nice), *self._argv)
        # The process gets a new session, so Ctrl-C on the terminal reaches only the owner. The
        # owner then shuts the guest down.
        starting = asyncio.create_task(
            asyncio.get_running_loop().subprocess_exec(
                lambda: self,
                *words,
                stdin=asyncio.subprocess.PIPE if self._commands else asyncio.subprocess.DEVNULL,
                start_new_session=True,
                cwd=self._folder,
                pass_fds=self._descriptors,
                env=self._environment,
            ),
            name=f"start {Path(self._argv[0]).name}",
        )
        try:
            self._begin(await asyncio.shield(starting))
        except OSError as failed:
            raise InfraError(
                f"{self._argv[0]} cannot be started: {failed}.",
                remedy="Check memory and the number of processes, then try again.",
            ) from failed
        except asyncio.CancelledError:
            await self._unwanted(starting)
            raise
        return self

    def _begin(self, started: tuple[asyncio.SubprocessTransport, Any]) -> None:
        self._transport, _ = started
        self.pid = self._transport.get_pid()

    async def _unwanted(self, starting: Started) -> None:
        """End a process whose owning task was cancelled while it started the process.

        asyncio itself would only kill the launcher, whose children would survive. Then asyncio
        would wait forever for pipes that are not connected yet (CPython 3.11, base_subprocess.py).
        """

        def end(done: Started) -> None:
            if not done.cancelled() and done.exception() is None:
                self._begin(done.result())
                self.kill()

        starting.add_done_callback(end)
        await asyncio.wait([starting], timeout=END_S)
        if self._transport:
            await self.__aexit__()

    async def __aexit__(self, *exc: object) -> None:
        await self.end()
        if self._transport:
            self._transport.close()

    def _signal(self, number: signal.Signals) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, number)

    def kill(self) -> None:
        """Send SIGKILL to the process group without waiting; `end` waits."""
        if self.returncode is None:
            self._signal(signal.SIGKILL)

    async def end(self) -> None:
        """End the whole process group and wait for the process.

        Raises:
            InfraError: the process survives SIGKILL.
        """
        if self.returncode is None and self._grace_s:
            self._signal(signal.SIGTERM)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(self._grace_s or TERM_S):
                    await self.wait()
        if self.returncode is None or self._grace_s:
            self._signal(signal.SIGKILL)  # children of a launcher may still run
        try:
            async with asyncio.timeout(END_S):
                await self.wait()
        except TimeoutError:
            raise InfraError(
                f"process {self.pid} ({Path(self._argv[0]).name}) did not end after SIGKILL.",
                remedy="It hangs in the host's kernel; check dmesg and free some space on the "
                "host's disk.",
            ) from None
