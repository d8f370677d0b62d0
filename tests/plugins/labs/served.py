# SPDX-License-Identifier: GPL-2.0-or-later
"""A real server with labs, and browsers that call it."""

from __future__ import annotations

import http.client
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from duet.api.app import create_app
from duet.server.archive import ArchivedRuns, ArchiveFolder
from duet.server.director import Director
from duet.server.recordings import LessonRecordings
from duet.store.store import Store
from tests.support.toy_server import cookie
from tests.support.toy_stage import ToyKernels, ToyStage


def lab_app(folder: Path, made: Callable[[Director], None] = lambda director: None) -> Any:
    """The application; what is stored lies in the folder.

    Args:
        made: is called with the director.
    """

    def director(hub: Any) -> Director:
        store = Store(f"sqlite:///{folder / 'classes.sqlite'}")
        saved = ArchivedRuns(ArchiveFolder(folder / "runs", 10, 1 << 30))
        one = Director(
            hub, ToyStage(50.0), LessonRecordings(), ToyKernels(), saved=saved, store=store
        )
        made(one)
        return one

    (folder / "index.html").write_text("built")
    return create_app(director, page=folder)


def call(
    address: str, path: str, name: str, body: Any = None, method: str = "", **headers: str
) -> tuple[int, Any]:
    """Status and document (text where it is no JSON), as a browser of that name gets it."""
    connection = http.client.HTTPConnection(address, timeout=60)
    try:
        text = None if body is None else json.dumps(body)
        verb = method or ("GET" if body is None else "POST")
        connection.request(verb, path, body=text, headers=headers or cookie(address, name))
        answer = connection.getresponse()
        read = answer.read().decode()
        is_json = str(answer.headers["content-type"]).startswith("application/json")
        return answer.status, json.loads(read) if is_json else read
    finally:
        connection.close()
