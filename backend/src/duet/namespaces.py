# SPDX-License-Identifier: GPL-2.0-or-later
"""Mount, PID, network, IPC and UTS namespaces of its own for a program that is not ours.

bubblewrap makes them. The program sees the host's /usr read-only, the files that it is given, one
folder that it may write to, and a /proc of its own processes. Whoever ends bubblewrap ends all of
them. `duet.sandbox.prefix` follows inside, for user, capabilities and limits.

A program whose user is another one needs `own_pids_words` before them. bubblewrap gives up all
capabilities, so the kernel refuses the signal that its death would send to that user's process.
As the first process of a PID namespace its death ends all in it.

Where bubblewrap is missing or the host refuses, `missing_namespaces` says why, and programs start
with `prefix` alone.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Final

SYSTEM_FOLDERS: Final = ("/lib", "/lib32", "/lib64", "/libx32", "/bin", "/sbin")
"""Beside /usr, into which they lead on Debian 12."""
SYSTEM_FILES: Final = ("/etc/alternatives", "/etc/ld.so.cache")
SCRATCH_BYTES: Final = 4 << 20
"""Of the /tmp that a program gets. QEMU writes nothing there."""
PROBE_S: Final = 5.0
"""Until bubblewrap has started a program. Usual: 10 ms."""


def system_words() -> list[str]:
    """Words for bubblewrap that show the host's programs and libraries, read-only."""
    words = ["--ro-bind", "/usr", "/usr"]
    for folder in SYSTEM_FOLDERS:
        if Path(folder).is_symlink():
            words += ["--symlink", str(Path(folder).readlink()), folder]
        elif Path(folder).is_dir():
            words += ["--ro-bind", folder, folder]
    words += _passable([Path(file) for file in SYSTEM_FILES])
    for file in SYSTEM_FILES:
        words += ["--ro-bind-try", file, file]
    return words


def _passable(paths: Sequence[Path]) -> list[str]:
    """The folders above these paths: bubblewrap would make them for root alone."""
    above = {folder for path in paths for folder in path.parents if folder != Path("/")}
    there = [Path(name) for name in ("/usr", "/dev", "/proc", *SYSTEM_FOLDERS)]
    words = []
    for folder in sorted(above - {Path("/tmp")}):
        if not any(folder.is_relative_to(one) for one in there):
            words += ["--perms", "0755", "--dir", str(folder)]
    return words


def namespace_words(
    folder: Path,
    *,
    readable: Sequence[Path] = (),
    devices: Sequence[Path] = (),
    environment: Mapping[str, str] | None = None,
    scratch_bytes: int = SCRATCH_BYTES,
    first: bool = True,
) -> list[str]:
    """Words before those of `duet.sandbox.prefix`.

    Args:
        folder: where the program starts; the only folder of the host that it may write to.
        readable: further files and folders, shown under their own paths.
        devices: those of the host that it may open, beside /dev/null and its like.
        environment: all that the program gets, beside PATH.
        scratch_bytes: at most so much in /tmp, and in /dev/shm.
        first: the program is the first process of its PID namespace. One with children is not,
            since the first has to take the exit status of orphans.
    """
    words = ["bwrap", "--die-with-parent", *(("--as-pid-1",) if first else ())]
    words += ["--clearenv", "--setenv", "PATH", os.defpath + ":/usr/sbin:/sbin"]
    for name, value in (environment or {}).items():
        words += ["--setenv", name, value]
    words += ["--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts"]
    words += system_words()
    words += ["--proc", "/proc", "--dev", "/dev"]
    for scratch in ("/tmp", "/dev/shm"):
        words += ["--perms", "1777", "--size", str(scratch_bytes), "--tmpfs", scratch]
    words += _passable([*readable, folder])
    for path in readable:
        words += ["--ro-bind", str(path), str(path)]
    for path in devices:
        words += ["--dev-bind-try", str(path), str(path)]
    words += ["--bind", str(folder), str(folder), "--chdir", str(folder)]
    words += ["--remount-ro", "/", "--remount-ro", "/dev"]
    return [*words, "--"]


def own_pids_words(*, proc: bool = False) -> list[str]:
    """Words before a program of ours: a PID namespace of its own, as root; else none.

    It ends with the first of these words' process.

    Args:
        proc: with a /proc of that namespace, where bubblewrap (0.12) looks for its own child.
    """
    return [] if missing_namespaces() else _pids(proc)


def _pids(proc: bool) -> list[str]:
    if os.geteuid():
        return []
    return ["unshare", "--pid", "--fork", "--kill-child", *(["--mount-proc"] if proc else []), "--"]


def outside_system(program: str) -> list[Path]:
    """What must be shown so that a program can be started that lies elsewhere than in /usr."""
    found = shutil.which(program)
    path = Path(found).resolve() if found else None
    return [] if path is None or path.is_relative_to("/usr") else [path.parent.parent]


def program_pid(launched: int) -> int:
    """Process id, as the host sees it, of the program that bubblewrap started; 0: not yet known.

    Args:
        launched: the process that began as `own_pids_words`, then `namespace_words`.
    """
    pid = launched
    for _ in ("unshare", "bwrap") if own_pids_words() else ("bwrap",):
        try:
            children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        except OSError:
            return 0
        if not children:
            return 0
        pid = int(children[0])
    return pid


def exit_code(returncode: int) -> int:
    """A program's exit code, minus a signal: bubblewrap answers 128 and the signal's number."""
    return 128 - returncode if returncode > 128 else returncode


@cache
def missing_namespaces() -> str:
    """Why programs get no namespaces of their own, as a sentence without its stop, or nothing."""
    if shutil.which("bwrap") is None:
        return "the package bubblewrap is not installed"
    words = [*_pids(True), *namespace_words(Path("/tmp")), "true"]
    try:
        done = subprocess.run(
            words, stdin=subprocess.DEVNULL, capture_output=True, timeout=PROBE_S, check=False
        )
    except (OSError, subprocess.SubprocessError) as error:
        return f"bubblewrap cannot be started: {error}".rstrip(".")
    lines = done.stderr.decode(errors="replace").strip().splitlines()
    return "" if done.returncode == 0 else f"bubblewrap is refused: {(lines or ['no reason'])[-1]}"
