# SPDX-License-Identifier: GPL-2.0-or-later
"""The processes of a cluster: each has a log, and ends with whoever started it."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

START_S: Final = 120.0
"""Until one of them answers. Usual: 1-10 s."""
END_S: Final = 20.0
"""Until one has ended that was asked to."""


@dataclass
class Daemons:
    """Processes by name.

    Args:
        folder: of their logs.
    """

    folder: Path
    running: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)

    def start(self, name: str, *words: str | Path, path: str = "") -> None:
        """Start one."""
        env = os.environ | ({"PATH": path} if path else {})
        with (self.folder / f"{name}.log").open("ab") as log:
            self.running[name] = subprocess.Popen(
                ["setpriv", "--pdeathsig", "KILL", "--", *map(str, words)],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env=env,
                start_new_session=True,
            )

    def end(self, name: str, number: int = signal.SIGTERM) -> None:
        """End one, and wait for that."""
        process = self.running.pop(name)
        process.send_signal(number)
        try:
            process.wait(END_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait(END_S)

    def end_all(self) -> None:
        """The last that was started first."""
        for name in reversed(list(self.running)):
            with contextlib.suppress(OSError):
                self.end(name)

    def wait_for(self, name: str, holds: Callable[[], object], within_s: float = START_S) -> None:
        """Until something of one holds.

        Raises:
            AssertionError: it has ended, or the time is over; with the end of its log.
        """
        until_s = time.monotonic() + within_s
        while not holds():
            over = time.monotonic() > until_s or self.running[name].poll() is not None
            assert not over, f"{name} does not work: {self.log(name)}"
            time.sleep(0.1)

    def log(self, name: str) -> str:
        """The end of one's log."""
        return (self.folder / f"{name}.log").read_text(errors="replace")[-3000:]
