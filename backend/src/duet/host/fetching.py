# SPDX-License-Identifier: GPL-2.0-or-later
"""Fetch kernels that this host lacks from the server, by key, and verify the files.

If server and hosts share a cache folder, nothing is fetched. If the server also lacks a kernel,
nothing is fetched either; the later lookup then reports that the kernel is not built.
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
from duet.bundle.manifest import Sha256
from duet.kernels import KernelKey, KernelSettings, Manifest, lookup, plan
from duet.kernels.arms import arm_spec
from duet.kernels.image import FILES
from duet.lessons.load import LessonFolder
from duet.processes.run_dir import RunDir
from duet.rpc import limits
from duet.rpc.limits import KERNEL_FILE_BYTES

# The server's description of a stored kernel.


class FileFacts(BaseModel):
    model_config = ConfigDict(extra="forbid")

    size_bytes: Annotated[int, Field(gt=0, le=KERNEL_FILE_BYTES)]
    sha256: Sha256


class KernelList(BaseModel):
    """A kernel's manifest, and facts about its files by file name."""

    model_config = ConfigDict(extra="forbid")

    manifest: Manifest
    files: dict[str, FileFacts]

    @model_validator(mode="after")
    def _whole(self) -> KernelList:
        if set(self.files) != set(FILES):
            raise ValueError("the list does not contain the files of a kernel")
        return self


LOG = logging.getLogger("duet.hosts")
FetchKernels = Callable[[LessonFolder, Iterable[str], KernelSettings], Awaitable[None]]
"""Function that fetches the kernels that this host lacks for some arms, if the server has them."""


async def fetch_nothing(
    folder: LessonFolder, arms: Iterable[str], settings: KernelSettings
) -> None:
    """Do nothing: a host process on the server's machine shares the server's cache."""


class BadAnswer(Exception):
    """The server's response is unusable."""


class KernelFetcher:
    """Fetch kernels from one server.

    Args:
        url: URL of the server's /hosts/join. Kernels are fetched from /hosts/kernels on the same
            server.
    """

    def __init__(self, url: str) -> None:
        self._url = url
        self.secret = ""
        """Secret of this host's connection; "" before it has joined."""
        self._turn = asyncio.Lock()

    async def fetch(
        self, folder: LessonFolder, arms: Iterable[str], settings: KernelSettings
    ) -> None:
        """Fetch the kernels that this host lacks for some arms.

        Cancelling this call ends the transfer.

        Raises:
            InfraError: a kernel that the server has cannot be fetched.
        """
        for arm in arms:
            key = await asyncio.to_thread(lacking, folder, arm, settings)
            if key is not None:
                # The lock is released after each kernel, so that other runs can fetch too.
                async with self._turn:
                    await self._fetch(arm, key, settings)

    async def _fetch(self, arm: str, key: KernelKey, settings: KernelSettings) -> None:
        one = Fetch(self._url, self.secret, key, settings)
        try:
            await asyncio.to_thread(one.run)
        except (OSError, HTTPException, ValidationError, ValueError, BadAnswer, DuetError) as error:
            raise InfraError(
                f"the kernel of {arm} could not be fetched from the server ({error!s:.200}).",
                remedy="Try again, or let server and hosts share a cache of kernels (DUET_CACHE).",
            ) from error
        finally:
            one.stop.set()


def lacking(folder: LessonFolder, arm: str, settings: KernelSettings) -> KernelKey | None:
    """Return the key of an arm's kernel if the kernel is missing here, otherwise None. Blocking."""
    key = plan(arm_spec(folder, arm), settings)
    return key if lookup(key, settings) is None else None


class Fetch:
    """Transfer of one kernel, which runs in a separate thread.

    Args:
        url, secret: as in KernelFetcher.
    """

    def __init__(self, url: str, secret: str, key: KernelKey, settings: KernelSettings) -> None:
        self._url, self._secret, self._key, self._settings = url, secret, key, settings
        self._until_s = time.monotonic() + limits.FETCH_S
        self.stop = threading.Event()
        """Set to cancel the transfer."""

    def run(self) -> None:
        """Fetch and store the kernel; do nothing if the server lacks the kernel. Blocking.

        Raises:
            BadAnswer, OSError, HTTPException, ValueError, DuetError: the transfer failed.
        """
        # Another run may have fetched this kernel meanwhile.
        if lookup(self._key, self._settings) is not None:
            return
        with self._answer(str(self._key)) as answer:
            if answer.status == 404:
                return
            text = answer.read(limits.KERNEL_LIST_BYTES + 1)
        if len(text) > limits.KERNEL_LIST_BYTES:
            raise BadAnswer("the list of the kernel's files is too long")
        found = KernelList.model_validate_json(text)
        if found.manifest.key != self._key:
            raise BadAnswer("the server sent a different kernel")
        # If this process is killed, the next host process removes this folder at its start.
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
                self._check_wanted()
                size += len(piece)
                if size > facts.size_bytes:
                    raise BadAnswer("a file is longer than the list says")
                digest.update(piece)
                file.write(piece)
        if size != facts.size_bytes or digest.hexdigest() != facts.sha256:
            raise BadAnswer(f"{to.name} does not have the size and SHA-256 in the list")

    def _check_wanted(self) -> None:
        """Raise BadAnswer if the transfer was cancelled or has timed out."""
        if self.stop.is_set():
            raise BadAnswer("the transfer was cancelled")
        if time.monotonic() > self._until_s:
            raise BadAnswer(f"the transfer took longer than {limits.FETCH_S:g} s")

    @contextlib.contextmanager
    def _answer(self, path: str) -> Iterator[HTTPResponse]:
        """Send a GET request and yield the response if its status is 200 or 404; retry after 503.

        Redirects are not followed, so that the secret goes only to this server.
        """
        parts = urlsplit(self._url)
        make = HTTPSConnection if parts.scheme == "wss" else HTTPConnection
        where = f"{parts.path.rpartition('/')[0]}/kernels/{path}"
        while True:
            self._check_wanted()
            connection = make(str(parts.hostname), parts.port, timeout=limits.FETCH_SILENT_S)
            with contextlib.closing(connection):
                given = {"Authorization": f"Bearer {self._secret}"}
                connection.request("GET", where, headers=given)
                answer = connection.getresponse()
                if answer.status in (200, 404):
                    yield answer
                    return
            if answer.status != 503:
                raise BadAnswer(f"it answered {answer.status}")
            self.stop.wait(limits.FETCH_AGAIN_S)  # status 503: the server is busy with other hosts
