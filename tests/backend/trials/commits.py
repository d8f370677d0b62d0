# SPDX-License-Identifier: GPL-2.0-or-later
"""A small repository of commits with a number each, for bisections."""

from __future__ import annotations

import subprocess
from pathlib import Path

MAKEFILE = "VERSION = 6\nPATCHLEVEL = 6\nSUBLEVEL = 7\n"
IDENTITY = ("-c", "user.name=A. Author", "-c", "user.email=a@example.org")


def git(repository: Path, *words: str) -> str:
    done = subprocess.run(
        ["git", "-C", str(repository), *IDENTITY, *words],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    return done.stdout.strip()


def commits(repository: Path, values: list[float | str]) -> list[str]:
    """One commit for each value, in the file `value`; their ids."""
    repository.mkdir(parents=True)
    git(repository, "init", "-q", "-b", "main")
    (repository / "Makefile").write_text(MAKEFILE)
    found = []
    for number, value in enumerate(values):
        (repository / "value").write_text(f"{value}\n")
        (repository / "number").write_text(f"{number}\n")
        git(repository, "add", "-A")
        git(repository, "commit", "-qm", f"commit {number} of `all` | some")
        found.append(git(repository, "rev-parse", "HEAD"))
    return found


def value_of(repository: Path, commit: str) -> str:
    return git(repository, "show", f"{commit}:value")
