# SPDX-License-Identifier: GPL-2.0-or-later
"""The sealed root image, made by the recipe vm-images/root/build when it is not there."""

from __future__ import annotations

import asyncio
import json
import sys
from dataclasses import dataclass
from pathlib import Path

from duet.errors import InfraError
from duet.guests.console import Console
from duet.guests.limits import RECIPE_S
from duet.processes.limits import TERM_S
from duet.processes.owned import OwnedProcess, reaper_words
from duet.settings import cache_dir, repo_root

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


async def ensure_root(repo: Path | None = None, cache: Path | None = None) -> GuestRoot:
    """Make agent, workloads and root image unless they are there (then about 0.2 s).

    Args:
        repo: the checkout; default is the one this package was started from.
        cache: default is the user's.

    Raises:
        InfraError: a tool is missing or a program does not compile.
    """
    recipe = (repo or repo_root()) / "vm-images" / "root" / "build"
    words = [sys.executable, str(recipe), "--json", "--cache", str(cache or cache_dir())]
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
        where = cache or cache_dir()
        if NO_ROOM in log:  # the compiler's or the linker's word, or our own
            raise InfraError(
                f"the guest's root image cannot be made: {where} has no space left.",
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
