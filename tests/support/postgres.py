# SPDX-License-Identifier: GPL-2.0-or-later
"""A temporary PostgreSQL for a test, with a Unix socket in its folder."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

INSTALLED = shutil.which("initdb") is not None
NOBODY = "nobody"
START_S = 60.0


@dataclass
class Postgres:
    """A running server.

    Args:
        url: SQLAlchemy URL.
    """

    url: str
    process: subprocess.Popen[bytes]


@contextlib.contextmanager
def postgres(port: int = 0) -> Iterator[Postgres]:
    """Run a server while the block runs.

    Args:
        port: port on 127.0.0.1 to listen on as well; 0 for the Unix socket only.
    """
    folder = Path(tempfile.mkdtemp(prefix="duet-pg-", dir="/tmp"))  # a socket's path is short
    user: dict[str, Any] = {}
    if os.geteuid() == 0:  # PostgreSQL refuses root
        shutil.chown(folder, NOBODY)
        user = {"user": NOBODY, "extra_groups": []}
    data = str(folder / "data")
    begun = subprocess.run(
        ["initdb", "-D", data, "-A", "trust", "-U", "duet"],
        capture_output=True, text=True, timeout=START_S, check=False, cwd=folder, **user,
    )  # fmt: skip
    assert begun.returncode == 0, begun.stderr
    command = ["postgres", "-D", data, "-k", str(folder), "-c", "listen_addresses="]
    if port:
        command += ["-c", "listen_addresses=127.0.0.1", "-p", str(port)]
    at = ["-h", str(folder), *(["-p", str(port)] if port else [])]
    process = subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=folder, **user
    )
    try:
        deadline = time.monotonic() + START_S
        while subprocess.run(["pg_isready", "-q", *at], check=False).returncode:
            assert process.poll() is None and time.monotonic() < deadline
            time.sleep(0.1)
        where = f"&port={port}" if port else ""
        yield Postgres(f"postgresql+psycopg://duet@/postgres?host={folder}{where}", process)
    finally:
        process.send_signal(signal.SIGINT)  # connections end, too
        process.wait(START_S)
        shutil.rmtree(folder)
