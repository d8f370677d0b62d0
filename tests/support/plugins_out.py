# SPDX-License-Identifier: GPL-2.0-or-later
"""A copy of the checkout without some plug-ins.

`python -m tests.support.plugins_out FOLDER` creates a copy without any plug-in, in which
`make check test-unit` must pass (`make plugins-out`).
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from duet.base import plugins
from duet.base.plugins import PACKAGE
from duet.base.settings import repo_root

FOLDERS = ("backend/src/duet/plugins", "frontend/src/plugins", "tests/plugins")
"""Parents of the plug-ins' folders."""
NAMES = [one.name for one in plugins.found()]
WITHIN_S = 600


def with_dependants(name: str) -> set[str]:
    """Return a plug-in and all plug-ins that require it."""
    gone = {name}
    while more := {p.name for p in plugins.found() if gone & set(p.requires)} - gone:
        gone |= more
    return gone


def copied(root: Path, to: Path) -> Path:
    """Copy the files of the checkout, and link what is installed in it."""
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard", "-z"],
        cwd=root, capture_output=True, text=True, timeout=60, check=True,
    ).stdout  # fmt: skip
    for name in filter(None, listed.split("\0")):
        if (root / name).is_file():
            (to / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(root / name, to / name)
    for words in (["init", "-q"], ["add", "-A"]):
        subprocess.run(["git", *words], cwd=to, timeout=60, check=True)
    cache = root / "backend/.mypy_cache"
    if cache.is_dir():
        shutil.copytree(cache, to / "backend/.mypy_cache")
    return to


def run(copy: Path, *words: str, within: str = "backend") -> str:
    """Run a program in the copy, which must succeed; return its output."""
    env = os.environ | {"PYTHONPATH": f"{copy}/backend/src", "DUET_ROOT": str(copy)}
    done = subprocess.run(
        [sys.executable, *words],
        cwd=copy / within, env=env, capture_output=True, text=True, timeout=WITHIN_S,
    )  # fmt: skip
    assert done.returncode == 0, f"{words}: {done.stdout[-3000:]}{done.stderr[-3000:]}"
    return done.stdout


def without(copy: Path, gone: set[str]) -> None:
    """Delete the folders of plug-ins, and the files of tools that depend on them."""
    for name in gone:
        for folder in FOLDERS:
            shutil.rmtree(copy / folder / name, ignore_errors=True)
    named = [rf"{PACKAGE}.{name}" for name in gone]
    for folder in ("tools", "tests/tools"):
        for file in (copy / folder).rglob("*.py"):
            if any(name in file.read_text(encoding="utf-8") for name in named):
                named.append(".".join(file.relative_to(copy).with_suffix("").parts))
                file.unlink()


if __name__ == "__main__":
    target = Path(sys.argv[1])
    without(copied(repo_root(), target), set(NAMES))
    for installed in (".venv", "frontend/node_modules", ".setup-stamps"):
        (target / installed).symlink_to(repo_root() / installed)
    run(target, "-m", "duet.api.contract", within=".")
