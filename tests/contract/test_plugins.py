# SPDX-License-Identifier: GPL-2.0-or-later
"""A plug-in's folders are deleted in a copy of the checkout; the rest has no fault without it.

Here types, layers and the contract are checked, every core test is collected, and some run.
`make plugins-out` runs `make check` and all unit tests without any plug-in.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from duet.base import plugins
from duet.base.plugins import PACKAGE

FOLDERS = ("backend/src/duet/plugins", "frontend/src/plugins", "tests/plugins")
"""Where each plug-in has a folder of its own."""
NAMES = [one.name for one in plugins.found()]
WITHIN_S = 600


def with_dependants(name: str) -> set[str]:
    """A plug-in and all those that cannot do without it."""
    gone = {name}
    while more := {p.name for p in plugins.found() if gone & set(p.requires)} - gone:
        gone |= more
    return gone


@pytest.fixture
def copy(root: Path, tmp_path: Path) -> Path:
    """The files of the checkout, and links to what is installed in it."""
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard", "-z"],
        cwd=root, capture_output=True, text=True, timeout=60, check=True,
    ).stdout  # fmt: skip
    for name in filter(None, listed.split("\0")):
        if (root / name).is_file():
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(root / name, tmp_path / name)
    for words in (["init", "-q"], ["add", "-A"]):
        subprocess.run(["git", *words], cwd=tmp_path, timeout=60, check=True)
    cache = root / "backend/.mypy_cache"
    if cache.is_dir():
        shutil.copytree(cache, tmp_path / "backend/.mypy_cache")
    return tmp_path


def run(copy: Path, *words: str, within: str = "backend") -> str:
    """What a program says in the copy; it ends well."""
    env = os.environ | {"PYTHONPATH": f"{copy}/backend/src", "DUET_ROOT": str(copy)}
    done = subprocess.run(
        [sys.executable, *words],
        cwd=copy / within, env=env, capture_output=True, text=True, timeout=WITHIN_S,
    )  # fmt: skip
    assert done.returncode == 0, f"{words}: {done.stdout[-3000:]}{done.stderr[-3000:]}"
    return done.stdout


def without(copy: Path, gone: set[str]) -> None:
    """Delete the folders of plug-ins, and the files of tools that measure one of them."""
    for name in gone:
        for folder in FOLDERS:
            shutil.rmtree(copy / folder / name, ignore_errors=True)
    named = [rf"{PACKAGE}.{name}" for name in gone]
    for folder in ("tools", "tests/tools"):
        for file in (copy / folder).rglob("*.py"):
            if any(name in file.read_text(encoding="utf-8") for name in named):
                named.append(".".join(file.relative_to(copy).with_suffix("").parts))
                file.unlink()


@pytest.mark.parametrize("name", NAMES)
def test_the_rest_has_no_fault_without(name: str, copy: Path) -> None:
    gone = with_dependants(name)
    without(copy, gone)
    left = run(
        copy, "-c", "from duet.base import plugins; print(*[p.name for p in plugins.found()])"
    )
    assert set(left.split()) == set(NAMES) - gone
    run(copy, "-m", "mypy", "-p", "duet")
    run(copy, "-m", "duet.api.contract", within=".")


def test_the_core_works_without_any(copy: Path) -> None:
    without(copy, set(NAMES))
    run(copy, "-m", "mypy", "-p", "duet")
    run(copy, "-c", "from importlinter.cli import lint_imports_command as c; c()", "--no-cache")
    run(copy, "-m", "duet.api.contract", within=".")
    schema = json.loads((copy / "frontend/src/protocol/contract.schema.json").read_text())
    assert {"start", "open"} <= set(schema["client"])
    assert not [tag for tag in (*schema["client"], *schema["server"]) if tag.startswith("class")]
    tests = ("-m", "pytest", "-c", "backend/pyproject.toml", "--rootdir", ".", "-q")
    tests += ("-p", "no:cacheprovider")
    run(copy, *tests, "--co", "tests/backend", "tests/guest", "tests/contract", within=".")
    run(
        copy,
        *tests,
        "tests/backend/api/test_api_http.py",
        "tests/contract/test_messages.py",
        within=".",
    )
