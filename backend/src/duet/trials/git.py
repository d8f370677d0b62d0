# SPDX-License-Identifier: GPL-2.0-or-later
"""Calls of git, with settings of our own: those of a user change what a diff looks like."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

from duet.errors import InfraError, InputError

GIT_S = 300.0
"""Reading a whole kernel for the first time takes some 20 s."""
SETTINGS = (
    *("color.ui=false", "core.quotePath=true", "core.autocrlf=false"),
    *("core.attributesFile=/dev/null", "diff.suppressBlankEmpty=false", "diff.relative=false"),
    *("diff.indentHeuristic=true", "log.showSignature=false"),
    *("format.mboxrd=false", "format.noprefix=false"),
)
DIFF = (
    *("--no-ext-diff", "--no-textconv", "--no-color", "--src-prefix=a/", "--dst-prefix=b/"),
    *("--unified=3", "--inter-hunk-context=0", "--diff-algorithm=default", "--submodule=short"),
    *("-O/dev/null",),
)
"""Of git diff and git format-patch, over the settings of the user and of the repository."""
ELSEWHERE = (
    *("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_COMMON_DIR"),
    *("GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_NAMESPACE", "GIT_PREFIX", "GIT_EXTERNAL_DIFF"),
    *("GIT_DIFF_OPTS",),
)
"""Variables that hooks of git and `git rebase --exec` set: they name another repository."""
_OWNER = re.compile(r"(?:dubious ownership in repository at|unsafe repository \() ?'([^']+)'")


class BadSource(InputError):
    """The source cannot be tried."""

    code = "bad-source"


def git(*words: str, cwd: Path | None = None, environment: dict[str, str] | None = None) -> str:
    """What git prints.

    Raises:
        BadSource: git ended with an error, or does not read a repository of another user.
        InfraError: it could not be started, or took longer than GIT_S.
    """
    done = git_call(*words, cwd=cwd, environment=environment)
    if done.returncode != 0:
        raise bad_source(done.returncode, done.stderr)
    return done.stdout


def bad_source(code: int, said: str) -> BadSource:
    """git ended with an error."""
    return BadSource(
        f"git could not read the source (exit code {code}).",
        remedy="Run `git status` in the folder to see why.",
        detail=said[-2000:],
    )


def git_or_nothing(*words: str) -> str:
    """What git prints, without the line's end; "" where it fails.

    Raises:
        BadSource: git does not read a repository of another user.
        InfraError: as git().
    """
    done = git_call(*words)
    return done.stdout.strip() if done.returncode == 0 else ""


def git_call(
    *words: str, cwd: Path | None = None, environment: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """git with its exit code, in English.

    Raises:
        BadSource: git does not read a repository of another user.
        InfraError: it could not be started, or took longer than GIT_S.
    """
    done = git_bytes(*words, cwd=cwd, environment=environment)
    texts = (text.decode(errors="replace") for text in (done.stdout, done.stderr))
    return subprocess.CompletedProcess(done.args, done.returncode, *texts)


def git_bytes(
    *words: str, cwd: Path | None = None, environment: dict[str, str] | None = None
) -> subprocess.CompletedProcess[bytes]:
    """As git_call, with what git prints to the byte."""
    inherited = {name: value for name, value in os.environ.items() if name not in ELSEWHERE}
    settings = (word for setting in SETTINGS for word in ("-c", setting))
    try:
        done = subprocess.run(
            ["git", *settings, *words],
            cwd=cwd,
            env={**inherited, "LC_ALL": "C", **(environment or {})},
            capture_output=True,
            check=False,
            timeout=GIT_S,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise InfraError(
            f"git could not read the source: {error}.", remedy="Install git, or call again."
        ) from None
    owner = _OWNER.search(done.stderr.decode(errors="replace")) if done.returncode else None
    if owner is not None:
        raise BadSource(
            f"git does not read the repository {owner[1]}, which belongs to another user.",
            remedy=f"If you trust it: git config --global --add safe.directory {owner[1]}",
        )
    return done
