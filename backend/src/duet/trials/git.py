# SPDX-License-Identifier: GPL-2.0-or-later
"""Calls of git."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from duet.errors import InfraError, InputError

GIT_S = 300.0
"""Reading a whole kernel for the first time takes some 20 s."""


class BadSource(InputError):
    """The source cannot be tried."""

    code = "bad-source"


def git(*words: str, cwd: Path | None = None, environment: dict[str, str] | None = None) -> str:
    """What git prints.

    Raises:
        BadSource: git ended with an error.
        InfraError: it could not be started, or took longer than GIT_S.
    """
    done = git_call(*words, cwd=cwd, environment=environment)
    if done.returncode != 0:
        raise BadSource(
            f"git could not read the source (exit code {done.returncode}).",
            remedy="Run `git status` in the folder to see why.",
            detail=done.stderr[-2000:],
        )
    return done.stdout


def git_or_nothing(*words: str) -> str:
    """What git prints, without the line's end; "" where it fails."""
    done = git_call(*words)
    return done.stdout.strip() if done.returncode == 0 else ""


def git_call(
    *words: str, cwd: Path | None = None, environment: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """git with its exit code, in English.

    Raises:
        InfraError: it could not be started, or took longer than GIT_S.
    """
    try:
        return subprocess.run(
            ["git", *words],
            cwd=cwd,
            env={**os.environ, "LC_ALL": "C", **(environment or {})},
            capture_output=True,
            check=False,
            text=True,
            errors="replace",
            timeout=GIT_S,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise InfraError(
            f"git could not read the source: {error}.", remedy="Install git, or call again."
        ) from None
