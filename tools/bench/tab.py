# SPDX-License-Identifier: GPL-2.0-or-later
"""Chromium for benchmarks of the page: it observes as little as possible.

While Chromium reports network events, it sends each message of a socket to the observer as text,
which costs more than the page needs for the message. So this tab does not observe the network.
"""

from __future__ import annotations

import asyncio
import base64
import time
from pathlib import Path
from typing import Any, Final

from duet.base.errors import InfraError
from tools.bench.readers import AUTO_ATTACH, BLANK, Message, Network, Tab

LOOK_S: Final = 0.02
"""Time between two questions to the page."""
WIDTH, HEIGHT = 1600, 1000


class PageTab(Tab):
    """A tab of Chromium with a page of WIDTH x HEIGHT CSS pixels and software rendering."""

    def __init__(self, home: Path) -> None:
        super().__init__(home, Network(), workers=True)

    async def __aenter__(self) -> PageTab:
        await super().__aenter__()
        await self.resize(WIDTH, HEIGHT)
        return self

    async def resize(self, width: int, height: int) -> None:
        """Set the size of the page in CSS pixels."""
        await self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=False,
        )

    async def call(self, method: str, **params: object) -> Message:
        """Send a command to the page's session, and return the answer."""
        return await self._call(method, self._page, **params)

    async def visit(self, url: str) -> None:
        """Leave the current page, and begin to load another page."""
        await self.call("Page.navigate", url=BLANK)
        await self.call("Page.navigate", url=url)

    async def until(self, expression: str, limit_s: float) -> Any:
        """Evaluate an expression until its value is true, and return the value.

        Raises:
            InfraError: the expression was not true within `limit_s`.
        """
        until = time.monotonic() + limit_s
        while time.monotonic() < until:
            if value := await self.evaluate(expression):
                return value
            await asyncio.sleep(LOOK_S)
        raise InfraError(
            f"the page did not become ready within {limit_s:.0f} s.",
            remedy="Open the page in a browser and check what it shows.",
            detail=expression,
        )

    async def screenshot(self) -> bytes:
        """Return a picture of the page, as PNG."""
        answer = await self.call("Page.captureScreenshot", format="png")
        return base64.b64decode(answer["data"])

    def _prepare(self, session: str, kind: str) -> None:
        """Let a page or worker run, without a report of its network."""
        if kind == "page":
            self._send("Target.setAutoAttach", session, **AUTO_ATTACH)
        self._send("Runtime.runIfWaitingForDebugger", session)
