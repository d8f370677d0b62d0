# SPDX-License-Identifier: GPL-2.0-or-later
"""Sandboxed helper programs for pictures and films: Chromium and ffmpeg.

A helper gets a private folder. If the process that owns the folder is killed, a later process
removes the folder (see RunDir). A parent process (duet.processes.reaper) ends all of the helper's
processes, even if the server is killed. Each helper has separate namespaces
(duet.confine.namespaces). If the server is root, each helper also has a separate user and no
capabilities: helpers never run as root.
"""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from types import TracebackType
from typing import Final

from duet.base.errors import InfraError
from duet.confine.namespaces import missing_namespaces, namespace_prefix
from duet.confine.sandbox import Identity, Limits, missing_user, prefix
from duet.guests.machine import Console
from duet.processes.limits import TERM_S
from duet.processes.owned import OwnedProcess, reaper_prefix
from duet.processes.run_dir import Outlet, RunDir, passable_base

SHOWN: Final = tuple(
    Path(path)
    for path in ("/etc/fonts", "/etc/chromium", "/etc/chromium.d", "/sys/devices/system/cpu")
)
"""Paths outside /usr that Chromium reads: fonts, the distribution's settings, the number of
CPUs."""
SCRATCH_BYTES: Final = 1 << 30
"""Size of /dev/shm, in which Chromium's processes share pixels. Usual: 50 MB."""


class Helper:
    """A sandboxed program. Use as an asynchronous context manager, and call `start` inside.

    Args:
        name: the program's name in error texts.
        limits: the program's resource limits.
    """

    def __init__(self, name: str, limits: Limits) -> None:
        self._name = name
        self._limits = limits
        self._stack = AsyncExitStack()
        self._apart = not missing_namespaces()
        self.errors = Console()
        self.folder = Path()
        self.uid: int | None = None
        self._process: OwnedProcess | None = None

    async def __aenter__(self) -> Helper:
        """Create the private folder.

        Raises:
            InfraError: the program would run as root, or the folder cannot be created.
        """
        if os.geteuid() == 0 and (why := missing_user()):
            raise InfraError(
                f"{self._name} must not run as root, but it cannot run as another user: {why}",
                remedy="Run the server as an ordinary user, or give it these capabilities.",
            )
        self.uid = self._stack.enter_context(Identity()).uid
        self.folder = self._stack.enter_context(RunDir(passable_base(), self.uid))
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._stack.aclose()

    @property
    def process(self) -> OwnedProcess:
        """Process of the reaper, which ends when the program ends."""
        assert self._process is not None, "the program was not started"
        return self._process

    async def start(
        self, words: Sequence[str], output: Outlet, on_exit: Callable[[], None]
    ) -> OwnedProcess:
        """Start the program in its private folder, with standard input open for commands.

        Raises:
            InfraError: the program cannot be started.
        """
        # With these variables, Chromium and its libraries store user data in the private folder.
        home = {
            name: str(self.folder)
            for name in ("HOME", "TMPDIR", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_RUNTIME_DIR")
        }
        process = OwnedProcess(
            [*reaper_prefix(), *self._around(home), *words],
            console=output,
            errors=self.errors,
            on_exit=on_exit,
            death_signal="TERM",
            grace_s=TERM_S,
            commands=True,
            folder=self.folder,
            environment=home,
        )
        self._process = await self._stack.enter_async_context(process)
        return process

    def _around(self, environment: Mapping[str, str]) -> list[str]:
        """Return the command prefix, which sets namespaces (if available), user and limits."""
        around = prefix(self._limits, uid=self.uid, network=self._apart)
        if not self._apart:
            return around
        outer = namespace_prefix(
            self.folder,
            readable=[path for path in SHOWN if path.exists()],
            environment=environment,
            scratch_bytes=SCRATCH_BYTES,
            first=False,
        )
        return [*outer, *around]

    def copy_readable(self, folder: Path) -> Path:
        """Return the folder if the program can read it, otherwise a copy that it can read."""
        if self.uid is None and not self._apart:
            return folder
        copy = Path(tempfile.mkdtemp(prefix="lent-", dir=self.folder))
        shutil.copytree(folder, copy, dirs_exist_ok=True, copy_function=shutil.copyfile)
        for path in (copy, *copy.rglob("*")):
            path.chmod(0o755 if path.is_dir() else 0o644)
        return copy

    def read_file(self, name: str) -> bytes | None:
        """Read a file in the private folder; None if it is missing or not a regular file."""
        try:
            number = os.open(self.folder / name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        except OSError:
            return None
        with os.fdopen(number, "rb") as file:
            return file.read() if stat.S_ISREG(os.fstat(number).st_mode) else None
