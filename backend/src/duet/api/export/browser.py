# SPDX-License-Identifier: GPL-2.0-or-later
"""Chromium without a window, driven over its DevTools socket: opens one page and takes pictures.

Protocol: https://chromedevtools.github.io/devtools-protocol (Page, Runtime, Emulation).
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import itertools
import json
import os
import shutil
import signal
import tempfile
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

from pydantic import JsonValue
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import WebSocketException

from duet.errors import InfraError

START_S = 60.0
"""Until Chromium has told its port."""
ANSWER_S = 120.0
"""Until it has answered one command."""
IDLE_S = 90.0
"""Until the page says that nothing moves and nothing is awaited."""
NAMES = ("chromium", "chromium-browser", "google-chrome")
FLAGS = (
    *("--headless=new", "--remote-debugging-port=0", "--no-first-run", "--disable-gpu"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
    *("--disable-quic", "--hide-scrollbars", "--mute-audio", "--force-color-profile=srgb"),
)
RESTS = f"""new Promise((done) => {{
  const until = performance.now() + {IDLE_S * 1000:.0f};
  const look = () => {{
    if (document.documentElement?.dataset.idle === 'true')
      requestAnimationFrame(() => requestAnimationFrame(() => done(true)));
    else if (performance.now() > until) done(false);
    else setTimeout(look, 20);
  }};
  look();
}})"""
"""True once nothing moves and the newest state is drawn; the page says so itself (use-scene.ts)."""


@dataclass(frozen=True, slots=True)
class Screen:
    """Size in CSS pixels, and the theme."""

    width: int = 1280
    height: int = 720
    dark: bool = False
    scale: float = 1.0


def find_chromium() -> str:
    """The program.

    Raises:
        InfraError: there is none.
    """
    for name in NAMES:
        if found := shutil.which(name):
            return found
    raise InfraError(
        "pictures are taken with Chromium, which is not installed.",
        remedy="Run: sudo apt-get install --no-install-recommends chromium.",
    )


class Browser:
    """One page. Use as `async with`; its process ends with it."""

    def __init__(self, screen: Screen) -> None:
        self._screen = screen
        self._numbers = itertools.count(1)
        self._session: str | None = None

    async def __aenter__(self) -> Browser:
        program = find_chromium()
        self._profile = tempfile.TemporaryDirectory(
            prefix="duet-chromium-", ignore_cleanup_errors=True
        )
        # As root Chromium refuses to start with its sandbox; the page is our own.
        sandbox = () if os.geteuid() else ("--no-sandbox",)
        self._process = await asyncio.create_subprocess_exec(
            program,
            *FLAGS,
            *sandbox,
            f"--user-data-dir={self._profile.name}",
            "about:blank",
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.DEVNULL,
            start_new_session=True,
        )
        try:
            self._socket: ClientConnection = await connect(
                await self._address(), max_size=None, compression=None, open_timeout=START_S
            )
            await self._attach()
        except (OSError, TimeoutError, WebSocketException) as error:
            await self._end()
            raise InfraError(
                f"Chromium did not start ({type(error).__name__}).",
                remedy=f"Look whether {program} --headless=new --dump-dom about:blank works.",
            ) from error
        except BaseException:
            await self._end()
            raise
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._socket.close()
        await self._end()

    async def open(self, url: str) -> None:
        """Go to an address."""
        await self._ask("Page.navigate", url=url)

    async def rest(self) -> None:
        """Wait until nothing moves and the newest state is drawn.

        Raises:
            InfraError: it does not come to rest.
        """
        if not await self.evaluate(RESTS):
            said = await self.evaluate("document.body?.innerText")
            raise InfraError(
                f"the page did not come to rest within {IDLE_S:.0f} s.",
                remedy="Open the site in a browser and look what it says.",
                detail=str(said)[:2000],
            )

    async def evaluate(self, expression: str) -> JsonValue:
        """What an expression of the page's own language gives.

        Raises:
            InfraError: it throws, or Chromium does not answer.
        """
        told = await self._ask(
            "Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True
        )
        if "exceptionDetails" in told:
            raise InfraError(
                "the page failed while a picture was taken.",
                remedy="Open the site in a browser and look what it says.",
                detail=json.dumps(told["exceptionDetails"])[:2000],
            )
        result = told.get("result")
        return result.get("value") if isinstance(result, dict) else None

    async def png(self) -> bytes:
        """What is to be seen."""
        told = await self._ask("Page.captureScreenshot", format="png")
        return base64.b64decode(str(told["data"]))

    async def _address(self) -> str:
        """The socket's address; Chromium writes it down once it listens."""
        file = Path(self._profile.name) / "DevToolsActivePort"
        async with asyncio.timeout(START_S):
            while True:
                if self._process.returncode is not None:
                    raise ConnectionError(f"it ended with {self._process.returncode}")
                with contextlib.suppress(OSError, ValueError):
                    port, path = file.read_text().split("\n")[:2]
                    return f"ws://127.0.0.1:{int(port)}{path}"
                await asyncio.sleep(0.05)

    async def _attach(self) -> None:
        targets = (await self._ask("Target.getTargets"))["targetInfos"]
        assert isinstance(targets, list)
        pages = [t for t in targets if isinstance(t, dict) and t.get("type") == "page"]
        told = await self._ask("Target.attachToTarget", targetId=pages[0]["targetId"], flatten=True)
        self._session = str(told["sessionId"])
        screen = self._screen
        await self._ask("Page.enable")
        await self._ask(
            "Emulation.setDeviceMetricsOverride",
            width=screen.width,
            height=screen.height,
            deviceScaleFactor=screen.scale,
            mobile=False,
        )
        theme: JsonValue = [
            {"name": "prefers-color-scheme", "value": "dark" if screen.dark else "light"}
        ]
        await self._ask("Emulation.setEmulatedMedia", features=theme)

    async def _ask(self, method: str, **params: JsonValue) -> dict[str, JsonValue]:
        """One command and its answer; what Chromium tells unasked is passed over.

        Raises:
            InfraError: it refuses, does not answer, or is gone.
        """
        number = next(self._numbers)
        command: dict[str, JsonValue] = {"id": number, "method": method, "params": params}
        if self._session is not None:
            command["sessionId"] = self._session
        try:
            async with asyncio.timeout(ANSWER_S):
                await self._socket.send(json.dumps(command))
                while (told := json.loads(await self._socket.recv())).get("id") != number:
                    pass
        except (TimeoutError, WebSocketException, OSError) as error:
            raise InfraError(
                f"Chromium did not answer {method} ({type(error).__name__}).",
                remedy="Try again when the machine is less busy.",
            ) from error
        if "error" in told:
            raise InfraError(
                f"Chromium refused {method}: {told['error'].get('message', '')}.",
                remedy="Use Debian's chromium.",
            )
        result: dict[str, JsonValue] = told["result"]
        return result

    async def _end(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        await self._process.wait()
        self._profile.cleanup()
