# SPDX-License-Identifier: GPL-2.0-or-later
"""The page's checks of server messages, run by node."""

from __future__ import annotations

import base64
import http.client
import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import msgpack
import pytest

Answer = tuple[str, bytes]
"""Name of the page's reader, and the body."""


def get(address: str, path: str, method: str = "GET") -> bytes:
    connection = http.client.HTTPConnection(address, timeout=200)
    try:
        connection.request(method, path)
        return connection.getresponse().read()
    finally:
        connection.close()


def complaints(root: Path, answers: list[Answer]) -> list[str]:
    """Return the errors that the page's checks report."""
    if shutil.which("node") is None or not (root / "frontend/node_modules").exists():
        pytest.skip("node or the page's tools are missing: setup.sh page")
    found = subprocess.run(
        ["node", "tools/contract-answers.ts"],
        cwd=root / "frontend",
        input=json.dumps(
            [{"read": read, "body": base64.b64encode(body).decode()} for read, body in answers]
        ),
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert found.returncode == 0, found.stderr
    wrong: list[str] = json.loads(found.stdout)
    return wrong


def packed(seen: list[dict[str, Any]]) -> list[Answer]:
    return [("readServerMessage", msgpack.packb(message)) for message in seen]
