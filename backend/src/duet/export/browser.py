# SPDX-License-Identifier: GPL-2.0-or-later
"""Headless Chromium with one page, for screenshots and PDFs.

Protocol: https://chromedevtools.github.io/devtools-protocol (Page, Runtime, Emulation), over pipes.
"""

from __future__ import annotations

import asyncio
import base64
import itertools
import json
import shutil
import subprocess
from collections import deque
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import TracebackType

from pydantic import JsonValue

from duet.base.budgets import (
    CHROMIUM_ANSWER_BYTES,
    CHROMIUM_CPU_S,
    CHROMIUM_FILE_BYTES,
    CHROMIUM_FILES,
    CHROMIUM_THREADS,
)
from duet.base.errors import InfraError
from duet.confine.sandbox import Identity, Limits, can_change_user, prefix
from duet.export.helper import Helper
from duet.processes.owned import find_program

START_S = 60.0
"""Timeout for Chromium to start and create its page."""
NAMESPACE_S = 10.0
"""Timeout for unshare(1) to create a user namespace. Usual: 10 ms."""
ANSWER_S = 120.0
"""Timeout for one command."""
IDLE_S = 90.0
"""Timeout for the page to become idle: no animation and no pending request."""
NAMES = ("chromium", "chromium-browser", "google-chrome")
FLAGS = (
    *("--headless=new", "--remote-debugging-pipe", "--no-first-run", "--disable-gpu"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
    *("--disable-breakpad", "--disable-crash-reporter", "--disable-quic"),
    *("--hide-scrollbars", "--mute-audio", "--force-color-profile=srgb"),
)
LIMITS = Limits(
    # The address space is not limited, because V8 reserves a terabyte that it never uses.
    cpu_s=CHROMIUM_CPU_S,
    files=CHROMIUM_FILES,
    file_bytes=CHROMIUM_FILE_BYTES,
    # RLIMIT_NPROC counts all processes of the user. If the server is not root, Chromium runs as the
    # server's user.
    processes=CHROMIUM_THREADS if can_change_user() else None,
)
_PIPES = 'exec "$@" 3<&0 4>&1 </dev/null >/dev/null'
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
"""JavaScript that returns true once the page is idle and drawn (data-idle in use-navigation.ts)."""


@dataclass(frozen=True, slots=True)
class Screen:
    """Viewport of the page.

    Args:
        width: width in CSS pixels.
        height: height in CSS pixels.
        dark: use the dark theme.
        scale: number of device pixels per CSS pixel.
    """

    width: int = 1280
    height: int = 720
    dark: bool = False
    scale: float = 1.0


def find_chromium() -> str:
    """Return the path of Chromium.

    Raises:
        InfraError: Chromium is not installed.
    """
    for name in NAMES:
        if found := shutil.which(name):
            return found
    raise InfraError(
        "taking pictures requires Chromium, which is not installed.",
        remedy="Run: sudo apt-get install --no-install-recommends chromium.",
    )


@cache
def can_make_user_namespace() -> bool:
    """Return whether Chromium can create a user namespace, as its sandbox requires."""
    with Identity() as identity:
        return _makes_namespace(prefix(LIMITS, uid=identity.uid))


def _makes_namespace(before: list[str]) -> bool:
    words = [*before, find_program("unshare", "util-linux"), "--user", "--", "true"]
    try:
        quiet = subprocess.DEVNULL
        done = subprocess.run(words, stdin=quiet, stdout=quiet, stderr=quiet, timeout=NAMESPACE_S)
    except (OSError, subprocess.SubprocessError):
        return False
    return done.returncode == 0


class Browser:
    """A Chromium with one page. Use as an asynchronous context manager, which ends all processes.

    Commands and answers use two pipes (--remote-debugging-pipe), so Chromium listens on no port.
    They are JSON messages that end with a NUL byte. Chromium reads from descriptor 3 and writes to
    descriptor 4.
    """

    def __init__(self, screen: Screen) -> None:
        self._screen = screen
        self._numbers = itertools.count(1)
        self._session: str | None = None
        self._answers = _Answers()
        self._helper = Helper("Chromium", LIMITS)

    async def __aenter__(self) -> Browser:
        program = find_chromium()
        await self._helper.__aenter__()
        try:
            namespaces = await asyncio.to_thread(can_make_user_namespace)
            sandbox = () if namespaces else ("--no-sandbox",)
            profile = self._helper.folder / "profile"
            words = [program, *FLAGS, *sandbox, f"--user-data-dir={profile}", "about:blank"]
            shell = find_program("sh", "dash")
            self._process = await self._helper.start(
                [shell, "-c", _PIPES, shell, *words], self._answers, self._answers.end
            )
            await self._attach()
        except BaseException as error:
            said = self._helper.errors.tail()
            await self._helper.__aexit__(None, None, None)
            if isinstance(error, InfraError):
                error.detail = error.detail or said
            raise
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._helper.__aexit__(kind, error, trace)

    @property
    def pid(self) -> int:
        """Pid of the process from which all Chromium processes descend."""
        return self._process.pid

    async def uri(self, path: Path) -> str:
        """Return a URL at which Chromium can open a file. This may copy the folder of the file."""
        folder = await asyncio.to_thread(self._helper.copy_readable, path.parent.resolve())
        return (folder / path.name).as_uri()

    async def open(self, url: str) -> None:
        await self._call("Page.navigate", url=url)

    async def wait_until_idle(self) -> None:
        """Wait until the page is idle and drawn.

        Raises:
            InfraError: the page is not idle within IDLE_S.
        """
        if not await self.evaluate(RESTS):
            said = await self.evaluate("document.body?.innerText")
            raise InfraError(
                f"the page did not become idle within {IDLE_S:.0f} s.",
                remedy="Open the site in a browser and check what it shows.",
                detail=str(said)[:2000],
            )

    async def evaluate(self, expression: str) -> JsonValue:
        """Return the value of a JavaScript expression in the page.

        Raises:
            InfraError: the expression throws, or Chromium does not answer.
        """
        answer = await self._call(
            "Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True
        )
        if "exceptionDetails" in answer:
            raise InfraError(
                "a script of the page failed while a picture was taken.",
                remedy="Open the site in a browser and check what it shows.",
                detail=json.dumps(answer["exceptionDetails"])[:2000],
            )
        result = answer.get("result")
        return result.get("value") if isinstance(result, dict) else None

    async def screenshot(self, form: str = "png") -> bytes:
        """Take a screenshot as png or webp. A webp has slightly less quality and half the size."""
        answer = await self._call("Page.captureScreenshot", format=form, quality=60)
        return base64.b64decode(str(answer["data"]))

    async def pdf(self) -> bytes:
        """Print the page to PDF with its print CSS."""
        answer = await self._call("Page.printToPDF", preferCSSPageSize=True, printBackground=True)
        return base64.b64decode(str(answer["data"]))

    async def _attach(self) -> None:
        made = await self._call("Target.createTarget", START_S, url="about:blank")
        answer = await self._call("Target.attachToTarget", targetId=made["targetId"], flatten=True)
        self._session = str(answer["sessionId"])
        screen = self._screen
        await self._call("Page.enable")
        await self._call(
            "Emulation.setDeviceMetricsOverride",
            width=screen.width,
            height=screen.height,
            deviceScaleFactor=screen.scale,
            mobile=False,
        )
        theme: JsonValue = [
            {"name": "prefers-color-scheme", "value": "dark" if screen.dark else "light"}
        ]
        await self._call("Emulation.setEmulatedMedia", features=theme)

    async def _call(
        self, method: str, limit_s: float = ANSWER_S, **params: JsonValue
    ) -> dict[str, JsonValue]:
        """Send a command and return its answer; ignore events from Chromium.

        Raises:
            InfraError: Chromium refuses, does not answer, or has ended.
        """
        number = next(self._numbers)
        command: dict[str, JsonValue] = {"id": number, "method": method, "params": params}
        if self._session is not None:
            command["sessionId"] = self._session
        try:
            async with asyncio.timeout(limit_s):
                await self._process.send(json.dumps(command).encode() + b"\0")
                while (answer := json.loads(await self._answers.next())).get("id") != number:
                    pass
        except (TimeoutError, ValueError, ConnectionError) as error:
            raise InfraError(
                f"Chromium did not answer {method} ({error or type(error).__name__}).",
                remedy="Try again when the machine is less busy. The detail may name the reason.",
                detail=self._helper.errors.tail(),
            ) from error
        if "error" in answer:
            raise InfraError(
                f"Chromium refused {method}: {answer['error'].get('message', '')}.",
                remedy="Use Debian's chromium.",
            )
        result: dict[str, JsonValue] = answer["result"]
        return result


class _Answers:
    """Output of Chromium, split at NUL bytes."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._whole: deque[bytes] = deque()
        self._bytes = 0
        self._change = asyncio.Event()
        self._ended = ""

    def feed(self, text: bytes) -> None:
        """Add output; fail if the unread output exceeds CHROMIUM_ANSWER_BYTES."""
        self._bytes += len(text)
        if self._bytes > CHROMIUM_ANSWER_BYTES:
            self._ended = "its output is too long"
        else:
            *whole, rest = text.split(b"\0")
            for part in whole:
                self._whole.append(b"".join((*self._parts, part)))
                self._parts.clear()
            self._parts.append(rest)
        self._change.set()

    def end(self) -> None:
        self._ended = self._ended or "it ended"
        self._change.set()

    async def next(self) -> bytes:
        """Wait for the next message; the caller sets the timeout.

        Raises:
            ConnectionError: Chromium has ended, or its output is too long.
        """
        while not self._whole:
            if self._ended:
                raise ConnectionError(self._ended)
            self._change.clear()
            await self._change.wait()
        text = self._whole.popleft()
        self._bytes -= len(text) + 1
        return text
