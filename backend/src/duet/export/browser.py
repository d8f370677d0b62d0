# SPDX-License-Identifier: GPL-2.0-or-later
"""Chromium without a window, driven through two pipes: opens one page and takes pictures.

Protocol: https://chromedevtools.github.io/devtools-protocol (Page, Runtime, Emulation).
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
"""Until Chromium has made its page."""
NAMESPACE_S = 10.0
"""Until unshare(1) has made a user namespace. Usual: 10 ms."""
ANSWER_S = 120.0
"""Until it has answered one command."""
IDLE_S = 90.0
"""Until the page says that nothing moves and nothing is awaited."""
NAMES = ("chromium", "chromium-browser", "google-chrome")
FLAGS = (
    *("--headless=new", "--remote-debugging-pipe", "--no-first-run", "--disable-gpu"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
    *("--disable-breakpad", "--disable-crash-reporter", "--disable-quic"),
    *("--hide-scrollbars", "--mute-audio", "--force-color-profile=srgb"),
)
LIMITS = Limits(
    # No bound of address space: V8 reserves a terabyte that it never uses.
    cpu_s=CHROMIUM_CPU_S,
    files=CHROMIUM_FILES,
    file_bytes=CHROMIUM_FILE_BYTES,
    # By user, which without root is the server's own.
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
"""True once nothing moves and the newest state is drawn: use-navigation.ts says so."""


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


@cache
def can_make_user_namespace() -> bool:
    """Whether Chromium gets a user namespace, which its own sandbox is made of."""
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
    """One page. Use as `async with`; its processes end with it.

    Commands and answers go through two pipes, so that no port listens (Chromium's
    --remote-debugging-pipe: JSON, a NUL byte behind each, in on descriptor 3, out on 4).
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
        """The process whose descendants are Chromium's."""
        return self._process.pid

    async def uri(self, path: Path) -> str:
        """The address of a file, as it is now, with a copy of all that lies in its folder."""
        folder = await asyncio.to_thread(self._helper.lend, path.parent.resolve())
        return (folder / path.name).as_uri()

    async def open(self, url: str) -> None:
        await self._call("Page.navigate", url=url)

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
        answer = await self._call(
            "Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True
        )
        if "exceptionDetails" in answer:
            raise InfraError(
                "the page failed while a picture was taken.",
                remedy="Open the site in a browser and look what it says.",
                detail=json.dumps(answer["exceptionDetails"])[:2000],
            )
        result = answer.get("result")
        return result.get("value") if isinstance(result, dict) else None

    async def seen(self, form: str = "png") -> bytes:
        """What is to be seen, as png or webp; the latter, with little loss, in half the bytes."""
        answer = await self._call("Page.captureScreenshot", format=form, quality=60)
        return base64.b64decode(str(answer["data"]))

    async def pdf(self) -> bytes:
        """The page as its own print CSS has it."""
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
        """One command and its answer; what Chromium tells unasked is passed over.

        Raises:
            InfraError: it refuses, does not answer, or is gone.
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
                remedy="Try again when the machine is less busy; look at the detail.",
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
    """What Chromium writes, cut at NUL bytes."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._whole: deque[bytes] = deque()
        self._bytes = 0
        self._change = asyncio.Event()
        self._ended = ""

    def feed(self, text: bytes) -> None:
        """More bytes; beyond a bound, which no picture reaches, Chromium is not believed."""
        self._bytes += len(text)
        if self._bytes > CHROMIUM_ANSWER_BYTES:
            self._ended = "it says too much"
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
        """The next message; the caller has the timeout.

        Raises:
            ConnectionError: none will come.
        """
        while not self._whole:
            if self._ended:
                raise ConnectionError(self._ended)
            self._change.clear()
            await self._change.wait()
        text = self._whole.popleft()
        self._bytes -= len(text) + 1
        return text
