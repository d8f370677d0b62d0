# SPDX-License-Identifier: GPL-2.0-or-later
"""Serves the built page as static files, or a plain page that says how to build it."""

from __future__ import annotations

import gzip
import re
from functools import lru_cache
from html import escape
from pathlib import Path
from urllib.parse import urlencode

from fastapi import FastAPI
from fastapi.concurrency import run_in_threadpool
from fastapi.staticfiles import StaticFiles
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.responses import FileResponse, HTMLResponse, RedirectResponse, Response
from starlette.types import Receive, Scope, Send

from duet.api.proxy import requested_address
from duet.api.stills import noscript
from duet.api.tokens import PAGE
from duet.lessons.document import meant_by
from duet.lessons.load import slugs

NOT_BUILT = """<!doctype html>
<html lang="en"><meta charset="utf-8"><title>Kernel Duet</title>
<body style="font: 18px/1.5 system-ui, sans-serif; max-width: 40em; margin: 4em auto">
<h1>Kernel Duet</h1>
<p>The server runs, but the page is not built yet.</p>
<p>Run <code>./setup.sh page</code> in the checkout, then reload this page.</p>
"""


NOSCRIPT = re.compile(r"(?<=<noscript>).*?(?=</noscript>)", re.DOTALL)
ENTRY = (".", "index.html")
TEXTS = (".css", ".js", ".svg")
"""Endings of assets that are sent compressed. Fonts and pictures are compressed already."""
MOST_PACKED = 200
"""Number of compressed assets in memory, which take 0.6 MB in all."""
TYPED = re.compile(r"(?:(lessons?)/)?([\w -]{1,64})(?:/([\w -]{1,64}))?/?$", re.IGNORECASE)
"""Path that names a lesson, or a lesson and a step."""


class Page(StaticFiles):
    """Static files. Browsers may cache hashed assets forever, but never the entry page."""

    async def get_response(self, path: str, scope: Scope) -> Response:
        """Return one file with its caching rule.

        The entry page also contains text for browsers without JavaScript.
        """
        try:
            response = await super().get_response(path, scope)
        except HTTPException as error:
            if error.status_code != 404 or "text/html" not in Headers(scope=scope).get(
                "accept", ""
            ):
                raise
            root = requested_address(scope).root
            typed = await run_in_threadpool(
                typed_link, path, scope["query_string"].decode("latin-1")
            )
            response = (
                HTMLResponse(no_page(root), 404)
                if typed is None
                else RedirectResponse(f"{root}/{typed}", 302)
            )
        if path in ENTRY and response.status_code == 200:
            query = scope["query_string"].decode("latin-1")
            response = HTMLResponse(await run_in_threadpool(self._entry, query))
        is_asset = path.startswith("assets/")
        if is_asset and path.endswith(TEXTS) and isinstance(response, FileResponse):
            response = await self._compressed(response, Headers(scope=scope))
        response.headers["cache-control"] = (
            "public, max-age=31536000, immutable" if is_asset else "no-cache"
        )
        return response

    async def _compressed(self, response: FileResponse, asked: Headers) -> Response:
        """Return an asset as gzip if the browser accepts gzip and asks for the whole file."""
        response.headers["vary"] = "Accept-Encoding"
        if not takes_gzip(asked.get("accept-encoding", "")) or "range" in asked:
            return response
        body = await run_in_threadpool(packed, Path(response.path))
        kept = {name: response.headers[name] for name in ("vary", "etag", "last-modified")}
        return Response(
            body, headers={**kept, "content-encoding": "gzip"}, media_type=response.media_type
        )

    def _entry(self, query: str) -> str:
        assert self.directory is not None
        text = (Path(self.directory) / "index.html").read_text(encoding="utf-8")
        return NOSCRIPT.sub(lambda _: noscript(query), text, count=1)


def takes_gzip(accepted: str) -> bool:
    """Return whether Accept-Encoding allows gzip. `gzip;q=0` does not (RFC 9110, 12.5.3)."""
    for part in accepted.replace(" ", "").split(","):
        name, _, weight = part.partition(";q=")
        if name == "gzip":
            return not weight or weight.strip("0.") != ""
    return False


@lru_cache(MOST_PACKED)
def packed(path: Path) -> bytes:
    """Return a gzipped asset. Its name has a hash, so it may be cached. Takes up to 30 ms."""
    return gzip.compress(path.read_bytes(), mtime=0)


def typed_link(path: str, query: str) -> str | None:
    """Return the page's address for a path that people type, or None for any other path.

    An example of such a path is lesson/02/3.

    Args:
        path: the path without the leading slash.
        query: the rest of the address.
    """
    match = TYPED.match(path)
    if match is None:
        return None
    before, word, step = match.groups()
    slug = meant_by(word, slugs())
    if slug is None and before is None:
        return None
    given = {"lesson": slug or word} | ({"step": step} if step else {})
    return f"?{urlencode(given)}{query and '&' + query}"


def no_page(root: str) -> str:
    """Return the HTML page for an unknown address.

    Args:
        root: the sub-path of a proxy, without the trailing slash.
    """
    return PAGE.format(
        # Without this link, the browser would request a favicon, which does not exist.
        head='<link rel="icon" href="data:,">\n',
        title="There is no such page",
        body="<p>This server has nothing at this address; a part of it may be missing.</p>\n"
        f'<p><a href="{escape(root)}/">All lessons</a></p>',
    )


def add_page(app: FastAPI, folder: Path) -> None:
    """Serve `folder` at /. Each request checks the folder, so the page can be built later."""
    files: list[Page] = []

    async def serve(scope: Scope, receive: Receive, send: Send) -> None:
        if (folder / "index.html").is_file():
            if not files:
                files.append(Page(directory=folder, html=True))
            await files[0](scope, receive, send)
        else:
            await HTMLResponse(NOT_BUILT, 503)(scope, receive, send)

    app.mount("/", serve, name="page")
