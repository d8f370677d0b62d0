# SPDX-License-Identifier: GPL-2.0-or-later
"""Kernels that this host lacks, fetched from its server by key and checked before use.

A folder that server and hosts share has them already. What the server does not have either is left
to whoever looks for it, who says that it is not built.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import logging
import threading
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection
from pathlib import Path
from typing import Annotated
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from duet.base.errors import DuetError, InfraError
from duet.kernels import KernelKey, KernelSettings, Manifest, lookup, plan
from duet.kernels.arms import arm_spec
from duet.kernels.image import FILES
from duet.lessons.load import LessonFolder
from duet.processes.run_dir import RunDir
from duet.rpc import limits
from duet.rpc.limits import KERNEL_FILE_BYTES

# What a server says of a stored kernel, and what a host checks of it.


class FileFacts(BaseModel):
    model_config = ConfigDict(extra="forbid")

    size_bytes: Annotated[int, Field(gt=0, le=KERNEL_FILE_BYTES)]
    sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


class KernelList(BaseModel):
    """A kernel: its manifest, and its files by name."""

    model_config = ConfigDict(extra="forbid")

    manifest: Manifest
    files: dict[str, FileFacts]

    @model_validator(mode="after")
    def _whole(self) -> KernelList:
        if set(self.files) != set(FILES):
            raise ValueError("its files are others than those of a kernel")
        return self


LOG = logging.getLogger("duet.hosts")
Bring = Callable[[LessonFolder, Iterable[str], KernelSettings], Awaitable[None]]
"""Sees to it that kernels of arms are here, if they can be had."""


async def nothing(folder: LessonFolder, arms: Iterable[str], settings: KernelSettings) -> None:
    """For a host process of the server's own machine."""


class Odd(Exception):
    """The server's answer cannot be used."""


class KernelFetcher:
    """Fetches from one server.

    Args:
        url: of its /hosts/join; kernels lie beside that.
    """

    def __init__(self, url: str) -> None:
        self._url = url
        self.secret = ""
        """Of this host's connection; "": it has not joined yet."""
        self._turn = asyncio.Lock()

    async def bring(
        self, folder: LessonFolder, arms: Iterable[str], settings: KernelSettings
    ) -> None:
        """See Bring. Whoever cancels it ends the transfer.

        Raises:
            InfraError: the server has one, and it cannot be fetched.
        """
        for arm in arms:
            key = await asyncio.to_thread(lacking, folder, arm, settings)
            if key is not None:
                async with self._turn:  # for one kernel: another run may want the next one
                    await self._fetch(arm, key, settings)

    async def _fetch(self, arm: str, key: KernelKey, settings: KernelSettings) -> None:
        one = Fetch(self._url, self.secret, key, settings)
        try:
            await asyncio.to_thread(one.run)
        except (OSError, HTTPException, ValidationError, ValueError, Odd, DuetError) as error:
            raise InfraError(
                f"the kernel of {arm} could not be fetched from the server ({error!s:.200}).",
                remedy="Try again; or give server and hosts one cache of kernels (DUET_CACHE).",
            ) from error
        finally:
            one.stop.set()


def lacking(folder: LessonFolder, arm: str, settings: KernelSettings) -> KernelKey | None:
    """The key of an arm's kernel that is not here; None: it is. Blocking."""
    key = plan(arm_spec(folder, arm), settings)
    return key if lookup(key, settings) is None else None


class Fetch:
    """One kernel, in a thread of its own.

    Args:
        url, secret: of the server, see KernelFetcher.
    """

    def __init__(self, url: str, secret: str, key: KernelKey, settings: KernelSettings) -> None:
        self._url, self._secret, self._key, self._settings = url, secret, key, settings
        self._until_s = time.monotonic() + limits.FETCH_S
        self.stop = threading.Event()
        """Set: nobody wants it any more."""

    def run(self) -> None:
        """Fetch it, unless the server has none.

        Raises:
            Odd, OSError, HTTPException, ValueError, DuetError: it is not to be had.
        """
        if lookup(self._key, self._settings) is not None:  # somebody has fetched it meanwhile
            return
        with self._answer(str(self._key)) as answer:
            if answer.status == 404:
                return
            text = answer.read(limits.KERNEL_LIST_BYTES + 1)
        if len(text) > limits.KERNEL_LIST_BYTES:
            raise Odd("its list of files is too long")
        found = KernelList.model_validate_json(text)
        if found.manifest.key != self._key:
            raise Odd("it is another kernel")
        # The next start removes what a process that was killed has left here.
        with RunDir(self._settings.cache / "fetching") as scratch:
            files = {name: scratch / name for name in found.files}
            for name, facts in found.files.items():
                self._file(f"{self._key}/{name}", files[name], facts)
            if lookup(self._key, self._settings) is None:
                self._settings.store.publish(files, found.manifest)
        LOG.info("fetched the kernel %s from the server", self._key)

    def _file(self, path: str, to: Path, facts: FileFacts) -> None:
        digest, size = hashlib.sha256(), 0
        with self._answer(path) as answer, to.open("wb") as file:
            while piece := answer.read(limits.FETCH_PIECE_BYTES):
                self._go_on()
                size += len(piece)
                if size > facts.size_bytes:
                    raise Odd("a file is longer than was said")
                digest.update(piece)
                file.write(piece)
        if size != facts.size_bytes or digest.hexdigest() != facts.sha256:
            raise Odd(f"{to.name} does not have the SHA-256 that was said")

    def _go_on(self) -> None:
        if self.stop.is_set():
            raise Odd("nobody waits for it any more")
        if time.monotonic() > self._until_s:
            raise Odd(f"it took longer than {limits.FETCH_S:g} s")

    @contextlib.contextmanager
    def _answer(self, path: str) -> Iterator[HTTPResponse]:
        """An answer to GET, of 200 or 404. No redirect is followed: the secret is the server's."""
        parts = urlsplit(self._url)
        make = HTTPSConnection if parts.scheme == "wss" else HTTPConnection
        where = f"{parts.path.rpartition('/')[0]}/kernels/{path}"
        while True:
            self._go_on()
            connection = make(str(parts.hostname), parts.port, timeout=limits.FETCH_SILENT_S)
            with contextlib.closing(connection):
                given = {"Authorization": f"Bearer {self._secret}"}
                connection.request("GET", where, headers=given)
                answer = connection.getresponse()
                if answer.status in (200, 404):
                    yield answer
                    return
            if answer.status != 503:
                raise Odd(f"it answers {answer.status}")
            self.stop.wait(limits.FETCH_AGAIN_S)  # other hosts have their turn
