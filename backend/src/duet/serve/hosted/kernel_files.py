# SPDX-License-Identifier: GPL-2.0-or-later
"""Stored kernels for hosts that lack them: by key, each file with its SHA-256."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import re
from pathlib import Path
from typing import Final

from starlette.responses import FileResponse, JSONResponse, PlainTextResponse, Response
from starlette.types import Receive, Scope, Send

from duet.hosts.kernel_list import FileFacts, KernelList
from duet.hosts.limits import FETCH_S
from duet.kernels import KernelKey
from duet.kernels.image import FILES, KernelImage, Store

PATH: Final = "/hosts/kernels/"
KEY: Final = re.compile(r"[0-9a-f]{8,64}")
AT_ONCE: Final = 4
"""Files that are read and sent at once. Further hosts are to ask again."""


class KernelFiles:
    """What the store of a server has.

    Args:
        store: None: nothing.
    """

    def __init__(self, store: Store | None) -> None:
        self._store = store
        self._digests: dict[tuple[Path, int, int], str] = {}
        self._places = asyncio.Semaphore(AT_ONCE)

    async def serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the list of a kernel's files (PATH + key), or one of them (and / + its name)."""
        if self._places.locked():
            busy = PlainTextResponse("Other hosts have their turn.\n", 503)
            await busy(scope, receive, send)
            return
        async with self._places:
            response = await self._answer(scope["path"])
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(FETCH_S):
                    await response(scope, receive, send)

    async def _answer(self, path: str) -> Response:
        key, _, name = path.removeprefix(PATH).partition("/")
        if self._store is None or not KEY.fullmatch(key) or name not in ("", *FILES):
            return PlainTextResponse("There is no such kernel.\n", 404)
        image = await asyncio.to_thread(self._store.lookup, KernelKey(key))
        if image is None:
            return PlainTextResponse("There is no such kernel.\n", 404)
        if name:
            return FileResponse(image.folder / name, media_type="application/octet-stream")
        found = await asyncio.to_thread(self._list, image)
        return JSONResponse(found.model_dump(mode="json"))

    def _list(self, image: KernelImage) -> KernelList:
        files = {name: self._facts(image.folder / name) for name in FILES}
        return KernelList(manifest=image.manifest, files=files)

    def _facts(self, file: Path) -> FileFacts:
        stat = file.stat()
        known = (file, stat.st_mtime_ns, stat.st_size)
        if known not in self._digests:
            with file.open("rb") as content:
                self._digests[known] = hashlib.file_digest(content, "sha256").hexdigest()
        return FileFacts(size_bytes=stat.st_size, sha256=self._digests[known])
