# SPDX-License-Identifier: GPL-2.0-or-later
"""Sealed root image, which the script vm-images/root/build (the recipe) builds."""

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
from duet.processes.owned import OwnedProcess, reaper_prefix

# File stamps of the recipe's inputs. If no stamp has changed, the root is also unchanged.

TOOLS = ("busybox", "stress-ng", "fio", "mkfs.xfs", "mkfs.ext4")
"""Programs that vm-images/root/build copies. Their libraries change when their packages change."""
SBIN = "/usr/sbin:/sbin"
"""Folders with the mkfs programs, which are not in an ordinary user's PATH."""
Stamp = tuple[str, int, int, int]
"""Path, inode, size in bytes and modification time in ns of a file; zeros if it is missing."""


def stamps(repo: Path) -> tuple[Stamp | str, ...]:
    """Return stamps of all inputs, and the paths of compiler and tools. This takes 2 ms.

    Args:
        repo: the checkout.
    """
    tops = [repo / "vm-images" / "root", repo / "vm-images" / "agent"]
    for folder in (repo, *extra_lessons()):
        tops += sorted(folder.glob("lessons/[0-9]*/workload"))
    path = f"{os.environ.get('PATH', '')}:{SBIN}"
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
"""Maximum age of a cached root. The age is limited because the stamps do not cover the libraries of
the guest's programs."""
NO_ROOM = "No space left on device"
OUTPUT_BYTES = 1 << 20
"""Number of bytes kept from the end of the recipe's output. Usual: 300; compiler errors are
longer."""


@dataclass(frozen=True, slots=True)
class GuestRoot:
    """Files of a guest other than its kernel.

    Args:
        key: hash of the content.
        image: initramfs of a sealed guest.
        programs: directory with the agent and all workloads, for a virtme-ng guest.
    """

    key: str
    image: Path
    programs: Path


@dataclass(frozen=True, slots=True)
class CachedRoot:
    """A root image, its inputs' file stamps, and the monotonic time when they were checked."""

    root: GuestRoot
    stamps: tuple[Stamp | str, ...]
    at_s: float


_made: dict[tuple[Path, Path], CachedRoot] = {}
_making: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Lock] = WeakKeyDictionary()


async def ensure_root(repo: Path | None = None, cache: Path | None = None) -> GuestRoot:
    """Build the agent, the workloads and the root image unless they exist.

    The recipe reads all its inputs, which takes 0.2 s of CPU time. This process therefore caches
    the result for TRUST_S, as long as no stamp changes. Concurrent callers share one check.

    Args:
        repo: the checkout; default: the checkout of this package.
        cache: folder for the root; default: the user's cache.

    Raises:
        InfraError: a tool is missing, a program does not compile, or RECIPE_S has passed.
    """
    where = (repo or repo_root(), cache or cache_dir())
    async with _making.setdefault(asyncio.get_running_loop(), asyncio.Lock()):
        # Take the stamps before the recipe reads the files.
        now = await asyncio.to_thread(stamps, where[0])
        made = _made.get(where)
        fresh = made is not None and time.monotonic() - made.at_s < TRUST_S
        if made is None or not fresh or made.stamps != now or not made.root.image.is_file():
            made = CachedRoot(await run_recipe(*where), now, time.monotonic())
            _made[where] = made
        return made.root


async def run_recipe(repo: Path, cache: Path) -> GuestRoot:
    recipe = repo / "vm-images" / "root" / "build"
    words = [sys.executable, str(recipe), "--json", "--cache", str(cache)]
    out, errors = Console(OUTPUT_BYTES), Console(OUTPUT_BYTES)
    process = OwnedProcess(
        [*reaper_prefix(), *words],  # the reaper also ends compilers that the recipe starts
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
            f"the guest's root image was not built within {RECIPE_S:g} s.",
            remedy=f"Run {recipe} yourself to see what takes so long.",
        ) from None
    if process.returncode:
        log = errors.tail().strip()
        if NO_ROOM in log:  # the compiler, linker or recipe has printed NO_ROOM
            raise InfraError(
                f"the guest's root image cannot be built: {cache} has no space left.",
                remedy="Free some space there, or name another folder with DUET_CACHE.",
                detail=log,
            )
        first = log.removeprefix("error: ").partition("\n")[0].removesuffix(":")
        raise InfraError(
            first or f"the guest's root image cannot be built (exit code {process.returncode}).",
            remedy="Run ./setup.sh, which installs gcc, make and the programs of the guest.",
            detail=log,
        )
    made = json.loads(out.tail())
    return GuestRoot(made["key"], Path(made["root"]), Path(made["programs"]))
