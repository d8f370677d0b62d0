# SPDX-License-Identifier: GPL-2.0-or-later
"""`bench readers`: the readers of a conference open an exported site, which a real nginx serves.

Chromium opens the site once. The log of nginx then shows which files the page requests before and
after its first picture, and each simulated reader requests these files. Chromium also opens the
site through slow networks, again from its cache, and offline. Everything is HTTP/1.1 without TLS.
"""

from __future__ import annotations

import asyncio
import contextlib
import gzip
import itertools
import json
import os
import random
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Final

import numpy as np
import psutil

from duet.base.errors import InfraError, InputError
from duet.cli.output import emit, note
from duet.cli.server_process import allow_files
from duet.export.browser import FLAGS, find_chromium
from tools.bench.link_measured import cost_s
from tools.bench.proxy import END_S, free_port, running
from tools.bench.results import PageVisit, ReadersResult

CONNECTIONS: Final = 6
"""Number of connections that browsers open to one host by HTTP/1.1."""
READ_S: Final = 2.0
"""Mean pause of a reader before each turn of a knob."""
ANSWER_S: Final = 60.0
"""Time limit for an answer of nginx or Chromium. Usual: 1 s for nginx, 0.1 s for Chromium."""
PICTURE_S: Final = 120.0
"""Time limit for a visit of Chromium. Usual: 5-30 s."""
QUIET_S = 3.0
"""Pause without requests that ends a visit. A page waits at most 2 s for an idle moment before it
loads files that the first picture does not need (frontend/src/base/first-picture.ts).
"""
LOOK_S: Final = 0.1
READ_BYTES: Final = 1 << 20
MESSAGE_BYTES: Final = 1 << 24
PACKED: Final = frozenset({".html", ".js", ".css", ".svg", ".md"})
"""Endings of files that become smaller by gzip. Fonts and pictures are compressed already."""


def bench(
    folder: Path, readers: int, turns: int, seconds: float, static: bool, workers: bool, js: bool
) -> int:
    """Measure and print the result; return the exit code."""
    result = asyncio.run(measure(folder, readers, turns, seconds, static, workers))
    if js:
        emit(result)
    else:
        print(text_of(result))
    return 0


async def measure(
    folder: Path, readers: int, turns: int, seconds: float, static: bool, workers: bool
) -> ReadersResult:
    """Start nginx, open the site in Chromium, then let the simulated readers arrive.

    Args:
        turns: how often each reader turns a knob.
        seconds: the time in which all readers arrive.
        static: whether nginx sends files that were compressed in advance (gzip_static).
        workers: whether the readers' browsers allow service workers.

    Raises:
        InputError: the folder is not an exported site.
        InfraError: nginx or Chromium is not installed, or failed.
    """
    if not (folder / "index.html").is_file():
        raise InputError(
            f"{folder} is not an exported site, because it has no file index.html.",
            remedy="Write one: ./duet export LESSON --to site DIR.",
        )
    allow_files()
    with tempfile.TemporaryDirectory(
        prefix="duet-readers-", ignore_cleanup_errors=True
    ) as temporary:
        home, port = Path(temporary), free_port()
        served = copy_site(folder, home / "site", static)
        connections = CONNECTIONS * readers + 64
        with site_nginx(home, served, port, static, connections) as process:
            log = Log(home / LOG)
            plan, visits = await open_in_chromium(home, f"http://127.0.0.1:{port}/", log, workers)
            note(f"{readers} readers")
            proxy = psutil.Process(process.pid)
            before_s, began = cost_s(proxy), time.monotonic()
            crowd = await read_all(port, plan, readers, turns, seconds)
            took_s, nginx_s = time.monotonic() - began, cost_s(proxy) - before_s
        requests = log.take()
    sent = sum(one.bytes for one in requests)
    first = [float(one) for one in np.percentile(crowd.first_s or [0.0], [50, 99])]
    return ReadersResult(
        folder=str(folder),
        readers=readers,
        turns=turns,
        arrived_s=seconds,
        took_s=round(took_s, 1),
        gzip_static=static,
        workers=workers,
        first_requests=visits[0].first_requests,
        first_bytes=visits[0].first_bytes,
        requests=round(len(requests) / readers, 1),
        bytes=round(sent / readers),
        turns_fetched=round(crowd.fetched / readers, 2),
        first_p50_ms=round(first[0] * 1e3, 1),
        first_p99_ms=round(first[1] * 1e3, 1),
        errors=len(crowd.errors),
        reasons=sorted(set(crowd.errors)),
        nginx_cpu_s=round(nginx_s, 3),
        mb_per_s=round(sent / took_s / 1e6, 2),
        visits=visits,
        load=round(os.getloadavg()[0], 1),
    )


# nginx, with the configuration for exported sites.

LOG: Final = "access.log"
HASHED: Final = r"-[0-9a-f]{10}\.(js|css|woff2)$"
"""Names that end with a hash of the content."""
SITE: Final = """log_format readers escape=none
	'$status $bytes_sent $request_time $msec $sent_http_etag $request_uri';
server {{
	listen 127.0.0.1:{port};
	root {site};
	access_log {log} readers;
	types {{
		text/html html; text/javascript js; text/css css; image/svg+xml svg;
		image/webp webp; font/woff2 woff2; text/markdown md;
	}}
	gzip on;
	gzip_static {static};
	gzip_vary on;
	gzip_types text/javascript text/css image/svg+xml text/markdown;
	location / {{ add_header Cache-Control no-cache; }}
	location ~ "{hashed}" {{ add_header Cache-Control "public, max-age=31536000, immutable"; }}
}}
"""


def copy_site(folder: Path, to: Path, static: bool) -> Path:
    """Copy a site for nginx, with compressed texts for gzip_static if `static` is set."""
    shutil.copytree(folder, to)
    for path in sorted(to.rglob("*")) if static else ():
        if path.suffix in PACKED:
            path.with_name(f"{path.name}.gz").write_bytes(gzip.compress(path.read_bytes(), 9))
    return to


@contextlib.contextmanager
def site_nginx(
    home: Path, site: Path, port: int, static: bool, connections: int
) -> Iterator[subprocess.Popen[bytes]]:
    """Start nginx, which serves the site at / and logs requests to the file LOG in `home`.

    Raises:
        InfraError: nginx is not installed, or does not start.
    """
    words = {"port": port, "site": site, "log": home / LOG, "hashed": HASHED}
    text = SITE.format(static="on" if static else "off", **words)
    with running(home, text, port, connections) as process:
        yield process


@dataclass(frozen=True, slots=True)
class Request:
    """A line in the log of nginx.

    Args:
        bytes: bytes sent, including the head.
        began: when the request arrived, in s since the epoch, in steps of 1 ms.
        etag: the file's ETag; "" if nginx sent none.
    """

    path: str
    status: int
    bytes: int
    began: float
    etag: str


class Log:
    """The log of nginx."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._read = 0

    def take(self) -> list[Request]:
        """Return the requests since the last call, in the order in which they arrived."""
        with self._path.open() as file:
            file.seek(self._read)
            lines = [line.split(" ", 5) for line in file.read().splitlines()]
            self._read = file.tell()
        found = [
            Request(path, int(status), int(sent), float(ended) - float(took), etag)
            for status, sent, took, ended, etag, path in lines
        ]
        return sorted(found, key=lambda one: one.began)


# Chromium, which loads the real page.


@dataclass(frozen=True, slots=True)
class Network:
    """Limits of a network that Chromium emulates. 0 bits per second means no limit."""

    down_bits_per_s: float = 0
    up_bits_per_s: float = 0
    latency_ms: float = 0

    @property
    def name(self) -> str:
        if not self.down_bits_per_s:
            return "no limit"
        return f"{self.down_bits_per_s / 1e6:g} Mbit/s, {self.latency_ms:g} ms"

    def conditions(self, offline: bool) -> dict[str, object]:
        """Return the parameters of Network.emulateNetworkConditions."""
        return {
            "offline": offline,
            "latency": self.latency_ms,
            "downloadThroughput": self.down_bits_per_s / 8 or -1,
            "uploadThroughput": self.up_bits_per_s / 8 or -1,
        }


NETWORKS: Final = (Network(1.6e6, 768e3, 150), Network(1.44e6, 675e3, 562.5))
"""3G as WebPageTest's "3G Fast", and as "Fast 3G" in the DevTools of Chromium."""
STAGE_SCRIPT: Final = """(() => {
  const look = () => {
    if (document.querySelector('[data-testid=stage] canvas')) performance.mark('bench:stage');
    else requestAnimationFrame(look);
  };
  look();
})();"""
"""Marks when the stage has a canvas. Sites that were exported before the page had a mark of its own
are measured by this mark.
"""
NO_WORKERS_SCRIPT: Final = """if (navigator.serviceWorker)
  navigator.serviceWorker.register = () => Promise.reject(new Error('blocked'));"""
STATE: Final = """(async () => {
  const workers = navigator.serviceWorker;
  const registration = await workers?.getRegistration().catch(() => undefined);
  const [mark] = [...performance.getEntriesByName('duet:first-picture'),
    ...performance.getEntriesByName('bench:stage')];
  return {
    failed: location.protocol === 'chrome-error:',
    origin: performance.timeOrigin,
    picture: mark?.startTime ?? null,
    storing: Boolean(registration?.installing),
  };
})()"""
RUNS: Final = """Object.entries(globalThis.duetSite?.parts ?? {})
  .filter(([part]) => part.startsWith('recorded:'))
  .map(([, name]) => new URL(name, document.baseURI).pathname)"""
"""Paths of all runs, by the site's own list (frontend/src/base/site.ts)."""
_PIPES: Final = 'exec "$@" 3<&0 4>&1 </dev/null >/dev/null'
Message = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Picture:
    """The first picture of a visit.

    Args:
        ms: time since the visit began.
        at: time since the epoch in s.
    """

    ms: float
    at: float


class Tab:
    """Chromium with an empty profile and one page. Use as an asynchronous context manager.

    The network's limits also apply to the page's workers and service workers, because the tab
    attaches to all of them before they run.

    Protocol: https://chromedevtools.github.io/devtools-protocol (Network, Page, Target).

    Args:
        home: folder for the profile. Chromium's processes may write there for a moment after the
            tab was closed, so the tab leaves the profile to the owner of the folder.
    """

    def __init__(self, home: Path, network: Network, workers: bool) -> None:
        self._home, self._network, self._workers = home, network, workers
        self._offline = False
        self._numbers = itertools.count(1)
        self._asked: dict[int, asyncio.Future[Message]] = {}
        self._sessions: dict[str, str] = {}
        self._page = ""
        self._active = 0.0
        self._origin = 0.0

    async def __aenter__(self) -> Tab:
        profile = tempfile.mkdtemp(prefix="chromium-", dir=self._home)
        sandbox = ("--no-sandbox",) if os.geteuid() == 0 else ()
        size = "--window-size=1280,720"
        words = [find_chromium(), *FLAGS, *sandbox, size, f"--user-data-dir={profile}", BLANK]
        self._process = await asyncio.create_subprocess_exec(
            *("sh", "-c", _PIPES, "sh", *words),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            limit=MESSAGE_BYTES,
        )
        self._reading = asyncio.create_task(self._read(), name="chromium")
        try:
            await self._call("Target.setAutoAttach", **AUTO_ATTACH)
            made = await self._call("Target.createTarget", url=BLANK)
            # Chromium attaches to the page before it answers.
            (self._page,) = (
                session for session, target in self._sessions.items() if target == made["targetId"]
            )
            await self._call("Page.enable", self._page)
            for script in (STAGE_SCRIPT, *(() if self._workers else (NO_WORKERS_SCRIPT,))):
                name = "Page.addScriptToEvaluateOnNewDocument"
                await self._call(name, self._page, source=script)
        except BaseException:
            await self.__aexit__(None, None, None)
            raise
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        with contextlib.suppress(ProcessLookupError):
            self._process.terminate()
        try:
            async with asyncio.timeout(END_S):
                await self._process.wait()
        except TimeoutError:
            self._process.kill()
        self._reading.cancel()

    async def open(self, url: str) -> Picture | None:
        """Open a URL as if a person had typed it, and wait until the page has finished loading.

        Returns:
            None: the page is not available, or drew no picture within PICTURE_S.
        """
        await self._call("Page.navigate", self._page, url=BLANK)
        return await self._visit("Page.navigate", url=url)

    async def reload_offline(self) -> Picture | None:
        """Reload the page without a network.

        Chromium may still ask for a new service worker, because no emulation applies to this check.
        """
        self._offline = True
        for session in self._sessions:
            self._limit(session)
        return await self._visit("Page.reload")

    async def evaluate(self, expression: str) -> Any:
        """Return the value of a JavaScript expression in the page."""
        answer = await self._call(
            *("Runtime.evaluate", self._page),
            expression=expression,
            returnByValue=True,
            awaitPromise=True,
        )
        return answer["result"].get("value")

    async def _visit(self, method: str, **params: object) -> Picture | None:
        self._active = time.monotonic()
        await self._call(method, self._page, **params)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(PICTURE_S):
                return await self._picture()
        return None

    async def _picture(self) -> Picture | None:
        """Wait until loading has ended, and the page has a picture or has failed to load."""
        while True:
            await asyncio.sleep(LOOK_S)
            if time.monotonic() - self._active < QUIET_S:
                continue
            state = await self.evaluate(STATE)
            # Until the new document exists, the old document answers.
            if state is None or state["origin"] == self._origin or state["storing"]:
                continue
            if state["failed"] or state["picture"] is not None:
                self._origin = state["origin"]
                ms = state["picture"]
                return None if ms is None else Picture(ms, (state["origin"] + ms) / 1e3)

    def _limit(self, session: str) -> None:
        conditions = self._network.conditions(self._offline)
        self._send("Network.emulateNetworkConditions", session, **conditions)

    def _prepare(self, session: str, kind: str) -> None:
        """Limit the network of a page or worker, before it runs."""
        self._send("Network.enable", session)
        self._limit(session)
        if kind == "page":
            self._send("Target.setAutoAttach", session, **AUTO_ATTACH)
        self._send("Runtime.runIfWaitingForDebugger", session)

    async def _read(self) -> None:
        """Read answers and events until Chromium ends."""
        assert self._process.stdout is not None
        with contextlib.suppress(asyncio.IncompleteReadError):
            while True:
                message = json.loads((await self._process.stdout.readuntil(b"\0"))[:-1])
                if answer := self._asked.pop(message.get("id"), None):
                    answer.set_result(message)
                elif method := message.get("method"):
                    self._event(method, message["params"])
        for answer in self._asked.values():
            answer.set_exception(ConnectionError("it ended"))

    def _event(self, method: str, params: Message) -> None:
        if method == "Target.attachedToTarget":
            target = params["targetInfo"]
            self._sessions[params["sessionId"]] = target["targetId"]
            self._prepare(params["sessionId"], target["type"])
        elif method == "Target.detachedFromTarget":
            self._sessions.pop(params["sessionId"], None)
        elif method.startswith("Network."):
            self._active = time.monotonic()

    def _send(self, method: str, session: str = "", **params: object) -> int:
        """Send a command; return its number."""
        number = next(self._numbers)
        command = {"id": number, "method": method, "params": params}
        if session:
            command["sessionId"] = session
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(command).encode() + b"\0")
        return number

    async def _call(self, method: str, session: str = "", **params: object) -> Message:
        """Send a command and return its answer.

        Raises:
            InfraError: Chromium refuses, does not answer, or has ended.
        """
        answer = asyncio.get_running_loop().create_future()
        self._asked[self._send(method, session, **params)] = answer
        try:
            async with asyncio.timeout(ANSWER_S):
                message = await answer
            result: Message = message["result"]
        except (TimeoutError, ConnectionError, KeyError) as error:
            raise InfraError(
                f"Chromium did not carry out {method}.",
                remedy="Try again when the machine is less busy.",
                detail=str(error) if not isinstance(error, KeyError) else str(message),
            ) from error
        return result


BLANK: Final = "about:blank"
AUTO_ATTACH: Final[Message] = {"autoAttach": True, "waitForDebuggerOnStart": True, "flatten": True}


async def open_in_chromium(
    home: Path, url: str, log: Log, workers: bool
) -> tuple[Plan, list[PageVisit]]:
    """Open the site through all networks. The first visit has no limit, and becomes the plan.

    Args:
        home: where Chromium stores its profiles.
        workers: whether the plan's visit allows service workers.

    Raises:
        InputError: the page draws no picture.
    """
    note("Chromium: no limit")
    async with Tab(home, Network(), workers) as tab:
        picture = await tab.open(url)
        if picture is None:
            raise InputError(
                f"the site's page drew no picture within {PICTURE_S:.0f} s.",
                remedy="Open its index.html in a browser and check what it shows.",
            )
        requests = log.take()
        plan = plan_of(requests, picture, await tab.evaluate(RUNS))
    visits = [visit_of("first", Network(), workers, picture, requests)]
    for network, allowed in itertools.product(NETWORKS, (True, False)):
        note(f"Chromium: {network.name}, service workers {words_of(allowed)}")
        async with Tab(home, network, allowed) as tab:
            for name in ("first", "second"):
                picture = await tab.open(url)
                visits.append(visit_of(name, network, allowed, picture, log.take()))
            picture = await tab.reload_offline()
            visits.append(visit_of("offline", network, allowed, picture, log.take()))
    return plan, visits


def visit_of(
    name: str, network: Network, workers: bool, picture: Picture | None, found: Sequence[Request]
) -> PageVisit:
    """Summarize a visit."""
    first = [one for one in found if picture is not None and one.began < picture.at]
    return PageVisit(
        network=network.name,
        workers=workers,
        visit=name,
        picture_ms=None if picture is None else round(picture.ms),
        first_requests=len(first),
        first_bytes=sum(one.bytes for one in first),
        requests=len(found),
        bytes=sum(one.bytes for one in found),
        refused=sorted({one.path for one in found if one.status not in (200, 304)}),
    )


# Simulated readers.


@dataclass(frozen=True, slots=True)
class Asked:
    """A request of each reader.

    Args:
        known: ETag with which the reader asks whether the file has changed; "" for no ETag.
    """

    path: str
    known: str = ""


@dataclass(frozen=True, slots=True)
class Plan:
    """What each reader requests.

    Args:
        first: requests before the first picture. The document is the first of them.
        rest: requests after the first picture.
        runs: paths of all runs. Each turn of a knob needs one of these runs.
    """

    first: Sequence[Asked]
    rest: Sequence[Asked]
    runs: Sequence[str]


def plan_of(requests: Sequence[Request], picture: Picture, runs: Sequence[str]) -> Plan:
    """Divide the requests of a visit at its first picture. Leave out requests that failed."""
    good = [one for one in requests if one.status in (200, 304)]
    parts: dict[bool, list[Asked]] = {True: [], False: []}
    for one in good:
        known = one.etag if one.status == 304 else ""
        parts[one.began < picture.at].append(Asked(one.path, known))
    return Plan(parts[True], parts[False], runs)


@dataclass(slots=True)
class Crowd:
    """What the readers found.

    Args:
        first_s: for each reader, the time until the files of its first picture had arrived.
        fetched: number of turns for which a reader fetched a run.
        errors: why readers gave up.
    """

    first_s: list[float] = field(default_factory=list)
    fetched: int = 0
    errors: list[str] = field(default_factory=list)


async def read_all(port: int, plan: Plan, readers: int, turns: int, seconds: float) -> Crowd:
    """Run all readers. They arrive at random moments within `seconds`."""
    crowd = Crowd()

    async def arrive(number: int) -> None:
        chance = random.Random(number)
        await asyncio.sleep(chance.uniform(0, seconds))
        try:
            await read(port, plan, turns, chance, crowd)
        except* (OSError, EOFError, ValueError) as group:
            crowd.errors.append(repr(group.exceptions[0]))

    async with asyncio.TaskGroup() as group:
        for number in range(readers):
            group.create_task(arrive(number))
    return crowd


async def read(port: int, plan: Plan, turns: int, chance: random.Random, crowd: Crowd) -> None:
    """Run one reader: open the page, then turn a knob. Each turn needs a random run.

    A reader that has all runs, for example because a service worker stored the site, fetches none.

    Raises:
        ExceptionGroup: of OSError, EOFError or ValueError: an answer is wrong or missing.
    """
    began = time.monotonic()
    async with Reader(port) as reader:
        await reader.fetch(plan.first[:1])
        await reader.fetch(plan.first[1:])
        crowd.first_s.append(time.monotonic() - began)
        await reader.fetch(plan.rest)
        new = [run for run in plan.runs if run not in reader.files]
        for run in chance.sample(new, min(turns, len(new))):
            await asyncio.sleep(chance.uniform(0, 2 * READ_S))
            await reader.fetch([Asked(run)])
            crowd.fetched += 1


class Reader:
    """Connections and cache of a reader. Use as an asynchronous context manager.

    The connections stay open, as those of a browser do.

    Args:
        port: where nginx listens on loopback.
    """

    def __init__(self, port: int) -> None:
        self._port = port
        self._open: dict[int, tuple[asyncio.StreamReader, asyncio.StreamWriter]] = {}
        self.files: set[str] = set()
        """Paths of the files that the reader has."""

    async def __aenter__(self) -> Reader:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for _, writer in self._open.values():
            writer.close()

    async def fetch(self, asked: Sequence[Asked]) -> None:
        """Fetch files, over up to CONNECTIONS connections.

        Raises:
            ExceptionGroup: an answer is wrong or missing.
        """
        left = iter(asked)

        async def some(number: int) -> None:
            if number not in self._open:
                opening = asyncio.open_connection("127.0.0.1", self._port, limit=READ_BYTES)
                self._open[number] = await opening
            for one in left:
                async with asyncio.timeout(ANSWER_S):
                    await self._get(one, *self._open[number])

        async with asyncio.TaskGroup() as group:
            for number in range(min(CONNECTIONS, len(asked))):
                group.create_task(some(number))

    async def _get(
        self, one: Asked, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        """Fetch a file, and discard its content.

        Raises:
            ValueError: the answer has an unexpected status.
        """
        known = f"If-None-Match: {one.known}\r\n" if one.known else ""
        host = f"Host: 127.0.0.1:{self._port}\r\n"
        head = f"GET {one.path} HTTP/1.1\r\n{host}Accept-Encoding: gzip\r\n{known}\r\n"
        writer.write(head.encode())
        status, *lines = (await reader.readuntil(b"\r\n\r\n")).decode().splitlines()[:-1]
        fields = {name.lower(): value for name, _, value in (x.partition(": ") for x in lines)}
        code = status.split()[1]
        if code != ("304" if one.known else "200"):
            raise ValueError(f"{one.path}: {status}")
        self.files.add(one.path)
        if code == "304":
            return
        if "content-length" in fields:
            await reader.readexactly(int(fields["content-length"]))
            return
        while size := int(await reader.readuntil(b"\r\n"), 16):
            await reader.readexactly(size + 2)
        await reader.readexactly(2)


# Format the result as lines.


def text_of(result: ReadersResult) -> str:
    """Format the readers' figures, then a table of what Chromium measured."""
    how = "gzip_static" if result.gzip_static else "gzip"
    lines = [
        f"{result.readers} readers of {result.folder} arrived in {result.arrived_s:g} s and turned "
        f"a knob {result.turns} times; nginx by {how}, service workers {words_of(result.workers)}",
        f"a reader: {result.first_requests} requests and {kilobytes(result.first_bytes)} before "
        f"the first picture, {result.requests:g} and {kilobytes(result.bytes)} in all; "
        f"{result.turns_fetched:g} turns fetched a run",
        f"files of the first picture: p50 {result.first_p50_ms:.1f} ms, "
        f"p99 {result.first_p99_ms:.1f} ms",
        f"nginx: {result.nginx_cpu_s:.2f} s of CPU time, "
        f"{result.nginx_cpu_s * 1e3 / result.readers:.1f} ms a reader; {result.mb_per_s:.2f} MB/s "
        f"in {result.took_s:.0f} s",
        f"errors: {result.errors}",
        *(f"  {reason}" for reason in result.reasons),
        "Chromium; requests and bytes before the first picture, and in all:",
        f"{'network':22} {'workers':8} {'visit':8} {'picture':>9} {'requests':>10} {'bytes':>18}",
    ]
    for one in result.visits:
        picture = "none" if one.picture_ms is None else f"{one.picture_ms / 1e3:.2f} s"
        requests = f"{one.first_requests} / {one.requests}"
        size = f"{kilobytes(one.first_bytes)} / {kilobytes(one.bytes)}"
        lines.append(
            f"{one.network:22} {words_of(one.workers):8} {one.visit:8} {picture:>9} "
            f"{requests:>10} {size:>18}"
        )
    refused = sorted({path for one in result.visits for path in one.refused})
    lines += [f"nginx refused {path}" for path in refused]
    return "\n".join([*lines, f"load of the host: {result.load}"])


def words_of(allowed: bool) -> str:
    return "allowed" if allowed else "blocked"


def kilobytes(count: float) -> str:
    return f"{count / 1e3:,.0f} KB"
