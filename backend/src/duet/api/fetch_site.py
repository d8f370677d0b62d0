# SPDX-License-Identifier: GPL-2.0-or-later
"""Requests that pages of other sites make are refused, by the browser's own word for them.

Such a page cannot read the answers, but it could make the server work for each of them. Only
the page itself may be linked to, or be framed. A client that is no browser sends no such header.
"""

from __future__ import annotations

from starlette.datastructures import Headers

OWN = frozenset({"same-origin", "none"})
PAGES = frozenset({"/", "/index.html"})


def refused(method: str, path: str, headers: Headers) -> str | None:
    """Why a request is refused; None: it is not.

    Args:
        method: of HTTP.
        path: without the query.
    """
    site = headers.get("sec-fetch-site")
    if site is None or site in OWN:
        return None
    to_page = path in PAGES and method in ("GET", "HEAD")
    if to_page and headers.get("sec-fetch-mode", "navigate") == "navigate":
        return None
    return f"a page of another site asked for {path:.60}, which only this server's pages may do."
