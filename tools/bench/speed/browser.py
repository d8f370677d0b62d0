# SPDX-License-Identifier: GPL-2.0-or-later
"""A real server and a Chromium that shows its page, for the stages that measure the page."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

from duet.base.errors import InfraError
from duet.base.settings import repo_root
from tools.bench.classroom import server
from tools.bench.tab import PageTab

WHOLE_S = 120.0
"""Time limit until a page has all events. Usual: 3 s."""
IS_WHOLE = "duet.store.reading.get() === null && duet.store.shown().coming === false"
SHOWN_S = 60.0
"""Time limit until a page shows lanes. Usual: 1 s."""
PICTURE = 'performance.getEntriesByName("duet:first-picture")[0]?.startTime'
"""When the page drew events first, ms since it began to load. Undefined before."""


@dataclass(frozen=True, slots=True)
class Opened:
    """A page with the server that it came from.

    Args:
        address: host and port of the server.
        pid: process of the server.
    """

    tab: PageTab
    address: str
    pid: int

    def url(self, query: str) -> str:
        return f"http://{self.address}/?{query}"

    async def show(self, query: str) -> float:
        """Open a page, and wait until it has drawn events. Return the time that it took, in ms."""
        await self.tab.visit(self.url(query))
        return float(await self.tab.until(PICTURE, SHOWN_S))

    async def whole(self) -> float:
        """Wait until the page has all events. Return the time since it began to load, in ms."""
        return float(await self.tab.until(f"{IS_WHOLE} && performance.now()", WHOLE_S))


@contextlib.asynccontextmanager
async def opened(folder: Path, *words: str, **variables: str) -> AsyncIterator[Opened]:
    """Start `duet serve` and Chromium, both of which have nothing stored.

    Raises:
        InfraError: Chromium is not installed, or the page is not built.

    Args:
        folder: scratch folder of the browser.
        words: further options of `duet serve`.
        variables: environment variables of the server.
    """
    if not (repo_root() / "frontend/dist/index.html").is_file():
        raise InfraError("the page is not built.", remedy="Run: ./setup.sh page.")
    with server(*words, **variables) as (process, address):
        async with PageTab(folder) as tab:
            yield Opened(tab, address, process.pid)


def checkout(folder: Path) -> Path:
    """Make a checkout with copies of the lessons, and with links to all other files."""
    folder.mkdir()
    for one in repo_root().iterdir():
        if one.name == "lessons":
            shutil.copytree(one, folder / one.name)
        elif one.name != ".git":
            (folder / one.name).symlink_to(one)
    return folder
