# SPDX-License-Identifier: GPL-2.0-or-later
"""The sealed root image, made by the recipe vm-images/root/build when it is not there."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from weakref import WeakKeyDictionary

from duet.base.errors import InfraError
from duet.base.settings import cache_dir, extra_lessons, repo_root
from duet.guests.limits import RECIPE_S
from duet.guests.machine import Console
from duet.processes.limits import TERM_S
from duet.processes.owned import OwnedProcess, reaper_words

# What the recipe of the guests' root reads, as stamps: while they are the same, so is the root.

TOOLS = ("busybox", "stress-ng", "fio", "mkfs.xfs", "mkfs.ext4")
"""As in vm-images/root/build; their libraries change with their packages."""
WHERE = "/usr/sbin:/sbin"
"""Where mkfs lies, which is not in an ordinary user's PATH."""
Stamp = tuple[str, int, int, int]


def stamps(repo: Path) -> tuple[Stamp | str, ...]:
    """Name, inode, size and time of change of each file, and the environment. Takes 2 ms.

    Args:
        repo: the checkout.
    """
    tops = [repo / "vm-images" / "root", repo / "vm-images" / "agent"]
    for folder in (repo, *extra_lessons()):
        tops += sorted(folder.glob("lessons/[0-9]*/workload"))
    path = f"{os.environ.get('PATH', '')}:{WHERE}"
    compiler = os.environ.get("CC", "gcc")
    tools = [shutil.which(name, path=path) for name in (*TOOLS, compiler)]
    found: list[Stamp | str] = [compiler, *(tool or "" for tool in tools)]
    for name in (*(tool for tool in tools if tool), *map(str, tops)):
        found += _of(name)
    return tuple(found)


def _of(name: str) -> list[Stamp]:
    try:
        status = os.stat(name)  # noqa: PTH116
        inside = sorted(entry.path for entry in os.scandir(name)) if os.path.isdir(name) else []  # noqa: PTH112
    except OSError:
        return [(name, 0, 0, 0)]
    found = [(name, status.st_ino, status.st_size, status.st_mtime_ns)]
    for path in inside:
        found += _of(path)
    return found


TRUST_S = 60.0
"""So long stamps alone are looked at. Libraries of the guest's programs have none."""
NO_ROOM = "No space left on device"
OUTPUT_BYTES = 1 << 20
"""Newest bytes of the recipe's output that are held. Usual: 300; a compiler's errors are more."""


@dataclass(frozen=True, slots=True)
class GuestRoot:
    """What a guest needs besides its kernel.

    Args:
        key: name of the content.
        image: initramfs of a sealed guest.
        programs: directory with the agent and all workloads, for a virtme-ng guest.
    """

    key: str
    image: Path
    programs: Path


@dataclass(frozen=True, slots=True)
class Made:
    """A root that was made or found, and of what, at which monotonic time."""

    root: GuestRoot
    stamps: tuple[Stamp | str, ...]
    at_s: float


_made: dict[tuple[Path, Path], Made] = {}
_making: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Lock] = WeakKeyDictionary()


async def ensure_root(repo: Path | None = None, cache: Path | None = None) -> GuestRoot:
    """Make agent, workloads and root image unless they are there.

    The recipe looks at the content of all its inputs, which takes 0.2 s of CPU time. For TRUST_S
    the root of this process's last look is taken while no stamp has changed; of several callers
    one looks.

    Args:
        repo: the checkout; default is the one this package was started from.
        cache: default is the user's.

    Raises:
        InfraError: a tool is missing or a program does not compile.
    """
    where = (repo or repo_root(), cache or cache_dir())
    async with _making.setdefault(asyncio.get_running_loop(), asyncio.Lock()):
        now = await asyncio.to_thread(stamps, where[0])  # before the recipe reads the files
        made = _made.get(where)
        fresh = made is not None and time.monotonic() - made.at_s < TRUST_S
        if made is None or not fresh or made.stamps != now or not made.root.image.is_file():
            made = Made(await run_recipe(*where), now, time.monotonic())
            _made[where] = made
        return made.root


async def run_recipe(repo: Path, cache: Path) -> GuestRoot:
    recipe = repo / "vm-images" / "root" / "build"
    words = [sys.executable, str(recipe), "--json", "--cache", str(cache)]
    out, errors = Console(OUTPUT_BYTES), Console(OUTPUT_BYTES)
    process = OwnedProcess(
        [*reaper_words(), *words],  # the recipe starts compilers
        console=out,
        errors=errors,
        on_exit=lambda: None,
        death_signal="TERM",
        grace_s=TERM_S,
    )
    try:
        async with process, asyncio.timeout(RECIPE_S):
            await process.wait_for_output()
    except TimeoutError:
        raise InfraError(
            f"the root image is not made within {RECIPE_S:g} s.",
            remedy=f"Run {recipe} by hand to see what takes so long.",
        ) from None
    if process.returncode:
        log = errors.tail().strip()
        if NO_ROOM in log:  # the compiler's or the linker's word, or our own
            raise InfraError(
                f"the guest's root image cannot be made: {cache} has no space left.",
                remedy="Free some space there, or name another folder with DUET_CACHE.",
                detail=log,
            )
        first = log.removeprefix("error: ").partition("\n")[0].removesuffix(":")
        raise InfraError(
            first or f"The root image cannot be made (exit code {process.returncode}).",
            remedy="Run ./setup.sh, which installs gcc, make and the programs of the guest.",
            detail=log,
        )
    made = json.loads(out.tail())
    return GuestRoot(made["key"], Path(made["root"]), Path(made["programs"]))
