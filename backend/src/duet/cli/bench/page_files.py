# SPDX-License-Identifier: GPL-2.0-or-later
"""How many bytes a browser fetches for the page: its document, and the files that are named."""

from __future__ import annotations

import gzip
import http.client
import re
from typing import Final

from duet.cli.bench.results import PageBytes

ANSWER_S: Final = 60.0
NAMED: Final = re.compile(r"""(?:src|href)="\./?(assets/[\w.-]+)\"""")
SCRIPT: Final = re.compile(r"[\w.-]+-[\w-]{8}\.(?:js|css)\b")
MOST_FILES: Final = 500


def page_bytes(address: str, place: str) -> PageBytes:
    """Of the page at `place`, which ends with a slash, as a browser that takes gzip gets it."""
    size, document = fetched(address, place)
    first = dict.fromkeys(NAMED.findall(document))
    todo, sizes = list(first), dict[str, int]()
    while todo and len(sizes) < MOST_FILES:
        name = todo.pop()
        if name in sizes:
            continue
        sizes[name], text = fetched(address, place + name)
        if name.endswith(".js"):
            todo += [f"assets/{other}" for other in SCRIPT.findall(text)]
    return PageBytes(
        first_bytes=size + sum(sizes[name] for name in first if name in sizes),
        all_bytes=size + sum(sizes.values()),
    )


def fetched(address: str, path: str) -> tuple[int, str]:
    """(bytes as they were sent, the text); nothing of what is not there."""
    connection = http.client.HTTPConnection(address, timeout=ANSWER_S)
    try:
        connection.request("GET", path, headers={"Accept-Encoding": "gzip"})
        answer = connection.getresponse()
        body = answer.read()
    finally:
        connection.close()
    if answer.status != 200:
        return 0, ""
    whole = gzip.decompress(body) if answer.headers["content-encoding"] == "gzip" else body
    return len(body), whole.decode("utf-8", "replace")
