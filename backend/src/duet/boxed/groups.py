# SPDX-License-Identifier: GPL-2.0-or-later
"""A control group for one box: memory and processes of all of it together, cgroup v1 or v2.

Where none can be made, the limits of each process hold, and `missing` says what does not.
cgroups(7); Documentation/admin-guide/cgroup-v1/memory.rst and cgroup-v2.rst.
"""

from __future__ import annotations

import contextlib
import os
import time
from pathlib import Path

from duet.boxed.limits import STOP_S, BoxLimits

_FILES = {
    "memory": {1: ("memory.limit_in_bytes",), 2: ("memory.max",)},
    "pids": {1: ("pids.max",), 2: ("pids.max",)},
}


class Group:
    """Folders of control groups, made for one box. Use as `with`."""

    def __init__(self, limits: BoxLimits) -> None:
        self._values = {"memory": limits.memory_bytes, "pids": limits.processes}
        self.folders: list[Path] = []
        self.missing: list[str] = []

    def __enter__(self) -> Group:
        name = f"duet-box-{os.getpid()}-{time.monotonic_ns():x}"
        for kind in _FILES:
            if not self._make(kind, name) and kind == "memory":  # a user has a limit of processes
                self.missing.append(
                    "Memory is limited for each process, and not for all of them together:"
                    " no control group can be made here."
                )
        return self

    def __exit__(self, *exc: object) -> None:
        """End what is left in it, and remove it."""
        until = time.monotonic() + STOP_S
        for folder in reversed(self.folders):
            while time.monotonic() < until:
                _kill(folder)
                try:
                    folder.rmdir()
                    break
                except OSError:
                    time.sleep(0.02)
        self.folders.clear()

    def joined_by(self) -> list[str]:
        """Files into which a process writes its id to belong to it."""
        return [str(folder / "cgroup.procs") for folder in self.folders]

    def killed_for_memory(self) -> bool:
        """Whether the kernel has ended one of its processes because memory was used up."""
        for folder in self.folders:
            for file in ("memory.events", "memory.oom_control"):
                with contextlib.suppress(OSError):
                    words = (folder / file).read_text().split()
                    if "oom_kill" in words and int(words[words.index("oom_kill") + 1]):
                        return True
        return False

    def _make(self, kind: str, name: str) -> bool:
        for parent, version in _parents(kind):
            folder = parent / name
            try:
                folder.mkdir(exist_ok=True)
                if folder not in self.folders:
                    self.folders.append(folder)
                for file in _FILES[kind][version]:
                    (folder / file).write_text(str(self._values[kind]))
            except OSError:
                continue
            return True
        return False


def _parents(kind: str) -> list[tuple[Path, int]]:
    """Groups that a child with the controller `kind` may be made in, best first."""
    found = []
    own = [line.split(":", 2) for line in Path("/proc/self/cgroup").read_text().splitlines()]
    mounts = [line.split() for line in Path("/proc/self/mountinfo").read_text().splitlines()]
    for words in mounts:
        kind_of, options = words[words.index("-") + 1], words[-1].split(",")
        top, inner = Path(words[4]), words[3]
        if kind_of == "cgroup" and kind in options:
            path = next((p for _, names, p in own if kind in names.split(",")), None)
            found += [(_within(top, inner, path), 1)] if path is not None else []
        elif kind_of == "cgroup2":
            path = next((p for number, _, p in own if number == "0"), "/")
            here = _within(top, inner, path)
            for folder in (here, here.parent):  # a group with processes of its own has no children
                with contextlib.suppress(OSError):
                    if kind in (folder / "cgroup.controllers").read_text().split():
                        with contextlib.suppress(OSError):
                            (folder / "cgroup.subtree_control").write_text(f"+{kind}")
                        found.append((folder, 2))
    return found


def _within(top: Path, inner: str, path: str) -> Path:
    """Where a group's path lies, below a mount that may show a part of the hierarchy."""
    under = path.removeprefix(inner) if inner != "/" else path
    folder = top / under.lstrip("/")
    return folder if folder.is_dir() else top


def _kill(folder: Path) -> None:
    with contextlib.suppress(OSError):
        (folder / "cgroup.kill").write_text("1")
        return
    with contextlib.suppress(OSError):
        for word in (folder / "cgroup.procs").read_text().split():
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(word), 9)
