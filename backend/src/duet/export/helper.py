# SPDX-License-Identifier: GPL-2.0-or-later
"""The programs that pictures and films are made with: a user, a folder and an end of their own.

Chromium and ffmpeg get a private folder that whoever starts next sweeps if its owner was killed.
A process between (duet.processes.reaper) ends all their children, also when the server is
killed. Each has namespaces of its own (duet.confine.namespaces); as root also a user id of its own
and no rights: they never run as root.
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
from duet.confine.namespaces import missing_namespaces, namespace_words
from duet.confine.sandbox import Identity, Limits, missing_user, prefix
from duet.guests.machine import Console
from duet.processes.limits import TERM_S
from duet.processes.owned import OwnedProcess, reaper_words
from duet.processes.run_dir import Outlet, RunDir, passable_base

SHOWN: Final = tuple(
    Path(path)
    for path in ("/etc/fonts", "/etc/chromium", "/etc/chromium.d", "/sys/devices/system/cpu")
)
"""What Chromium reads beside /usr: fonts, the distribution's settings, how many CPUs there are."""
SCRATCH_BYTES: Final = 1 << 30
"""Of /dev/shm, in which Chromium's processes share pixels. Usual: 50 MB."""


class Helper:
    """One such program. Use as `async with`, then `start` it.

    Args:
        limits: of the program.
        name: for sentences.
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
        """Make its folder.

        Raises:
            InfraError: it would run as root, or no folder can be made.
        """
        if os.geteuid() == 0 and (why := missing_user()):
            raise InfraError(
                f"{self._name} does not run as root, and no other user can be chosen: {why}",
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
        """The reaper's process, whose end is the program's."""
        assert self._process is not None, "the program was not started"
        return self._process

    async def start(
        self, words: Sequence[str], output: Outlet, on_exit: Callable[[], None]
    ) -> OwnedProcess:
        """Start it in its folder; it takes commands on standard input.

        Raises:
            InfraError: it cannot be started.
        """
        # What Chromium and its libraries keep for a user belongs in the folder, too.
        home = {
            name: str(self.folder)
            for name in ("HOME", "TMPDIR", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_RUNTIME_DIR")
        }
        process = OwnedProcess(
            [*reaper_words(), *self._around(home), *words],
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
        """Words before the program: namespaces where they can be had, then user and limits."""
        around = prefix(self._limits, uid=self.uid, network=self._apart)
        if not self._apart:
            return around
        outer = namespace_words(
            self.folder,
            readable=[path for path in SHOWN if path.exists()],
            environment=environment,
            scratch_bytes=SCRATCH_BYTES,
            first=False,
        )
        return [*outer, *around]

    def lend(self, folder: Path) -> Path:
        """A copy of a folder that the program may read; the folder itself, if it may already."""
        if self.uid is None and not self._apart:
            return folder
        copy = Path(tempfile.mkdtemp(prefix="lent-", dir=self.folder))
        shutil.copytree(folder, copy, dirs_exist_ok=True, copy_function=shutil.copyfile)
        for path in (copy, *copy.rglob("*")):
            path.chmod(0o755 if path.is_dir() else 0o644)
        return copy

    def read(self, name: str) -> bytes | None:
        """A file that the program has made in its folder; a link or a device is none."""
        try:
            number = os.open(self.folder / name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        except OSError:
            return None
        with os.fdopen(number, "rb") as file:
            return file.read() if stat.S_ISREG(os.fstat(number).st_mode) else None
