# SPDX-License-Identifier: GPL-2.0-or-later
"""Data flows one way: the import rules hold, and a wrong import is really caught."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path


def lint(backend: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [
            Path(sys.executable).with_name("lint-imports"),
            "--config",
            "pyproject.toml",
            "--no-cache",
        ],
        cwd=backend,
        env={**os.environ, "PYTHONPATH": str(backend / "src")},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_imports_follow_the_data_path(root: Path) -> None:
    done = lint(root / "backend")
    assert done.returncode == 0, done.stdout
    assert "4 kept, 0 broken" in done.stdout


def test_an_import_against_the_stream_is_caught(root: Path, tmp_path: Path) -> None:
    backend = tmp_path / "backend"
    shutil.copytree(root / "backend", backend, ignore=shutil.ignore_patterns("__pycache__", ".*"))
    module = backend / "src/duet/decode/wrong.py"
    module.write_text(
        "import asyncio\n\nfrom duet.session import reduce\n\n_ = (asyncio, reduce)\n"
    )
    done = lint(backend)
    assert done.returncode == 1
    assert "duet.decode.wrong -> duet.session" in done.stdout
    assert "duet.decode.wrong -> asyncio" in done.stdout
