# SPDX-License-Identifier: GPL-2.0-or-later
"""The script `./duet`: what it passes on to Python, and where compiled modules go."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

PROGRAM = """#!/bin/sh
exec python3 -c '
import json, os, sys
names = ("DUET_ROOT", "PYTHONDONTWRITEBYTECODE", "PYTHONPYCACHEPREFIX")
print(json.dumps({"words": sys.argv[1:], **{name: os.environ.get(name) for name in names}}))
' "$@"
"""


@pytest.fixture
def checkout(tmp_path: Path, root: Path) -> Path:
    """The script, with a Python that says how it was called."""
    folder = tmp_path / "check out"
    (folder / ".venv/bin").mkdir(parents=True)
    shutil.copy(root / "duet", folder)
    python = folder / ".venv/bin/python"
    python.write_text(PROGRAM)
    python.chmod(0o755)
    return folder


def called(checkout: Path, *words: str, **environment: str) -> dict[str, object]:
    path = {"PATH": "/usr/bin:/bin", "DUET_SETUP": "skip"}
    done = subprocess.run(
        [str(checkout / "duet"), *words],
        env=path | environment,
        capture_output=True,
        text=True,
        check=True,
    )
    found: dict[str, object] = json.loads(done.stdout)
    return found


def test_words_and_root_are_passed_on(checkout: Path) -> None:
    found = called(checkout, "lint", "--watch", "two words", HOME="/home/a")
    assert found["words"] == ["-m", "duet", "lint", "--watch", "two words"]
    assert found["DUET_ROOT"] == str(checkout)
    assert found["PYTHONPYCACHEPREFIX"] is None


@pytest.mark.parametrize(
    ("environment", "prefix"),
    [
        ({"HOME": "/home/a"}, "/home/a/.cache/kernel-duet-python"),
        ({"HOME": "/home/a", "XDG_CACHE_HOME": "/c"}, "/c/kernel-duet-python"),
        ({"HOME": "/home/a", "DUET_CACHE": "/d"}, "/d/kernel-duet-python"),
        ({"HOME": "/home/a", "PYTHONPYCACHEPREFIX": "/own"}, "/own"),
        ({}, None),
    ],
)
def test_compiled_modules_that_may_not_stand_beside_their_sources_are_cached(
    checkout: Path, environment: dict[str, str], prefix: str | None
) -> None:
    """A folder that the user chose stays, and without a home folder nothing is written."""
    found = called(checkout, PYTHONDONTWRITEBYTECODE="1", **environment)
    assert found["PYTHONPYCACHEPREFIX"] == prefix
    kept = prefix in (None, "/own")
    assert (found["PYTHONDONTWRITEBYTECODE"] is not None) == kept
