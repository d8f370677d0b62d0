# SPDX-License-Identifier: GPL-2.0-or-later
"""The built page as static files, or a plain page that says how to build it."""

from __future__ import annotations

import re
from pathlib import Path

from fastapi import FastAPI
from fastapi.concurrency import run_in_threadpool
from fastapi.staticfiles import StaticFiles
from starlette.responses import HTMLResponse, Response
from starlette.types import Receive, Scope, Send

from duet.api.noscript import noscript

NOT_BUILT = """<!doctype html>
<html lang="en"><meta charset="utf-8"><title>Kernel Duet</title>
<body style="font: 18px/1.5 system-ui, sans-serif; max-width: 40em; margin: 4em auto">
<h1>Kernel Duet</h1>
<p>The server runs, but the page is not built yet.</p>
<p>Run <code>./setup.sh page</code> in the checkout, then reload this page.</p>
"""


NOSCRIPT = re.compile(r"(?<=<noscript>).*?(?=</noscript>)", re.DOTALL)
ENTRY = (".", "index.html")


class Page(StaticFiles):
    """Static files; browsers may cache hashed assets for ever, the entry never."""

    async def get_response(self, path: str, scope: Scope) -> Response:
        """One file, with its caching rule; the entry with words for readers without scripts."""
        response = await super().get_response(path, scope)
        if path in ENTRY and response.status_code == 200:
            query = scope["query_string"].decode("latin-1")
            response = HTMLResponse(await run_in_threadpool(self._entry, query))
        is_asset = path.startswith("assets/")
        response.headers["cache-control"] = (
            "public, max-age=31536000, immutable" if is_asset else "no-cache"
        )
        return response

    def _entry(self, query: str) -> str:
        assert self.directory is not None
        text = (Path(self.directory) / "index.html").read_text(encoding="utf-8")
        return NOSCRIPT.sub(lambda _: noscript(query), text, count=1)


def add_page(app: FastAPI, folder: Path) -> None:
    """Serve `folder` at /; looked at anew on each request, so a later build is found."""
    files: list[Page] = []

    async def serve(scope: Scope, receive: Receive, send: Send) -> None:
        if (folder / "index.html").is_file():
            if not files:
                files.append(Page(directory=folder, html=True))
            await files[0](scope, receive, send)
        else:
            await HTMLResponse(NOT_BUILT, 503)(scope, receive, send)

    app.mount("/", serve, name="page")
