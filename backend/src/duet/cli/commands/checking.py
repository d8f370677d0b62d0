# SPDX-License-Identifier: GPL-2.0-or-later
"""The verb `check`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from duet.cli.commands.options import Json
from duet.cli.commands.trial_options import Commits, Config, Patches, Paths, Repo, TrialBase, With
from duet.cli.results.checking import CheckResult
from duet.cli.results.keys import keys_text

CHECK_KEYS = keys_text(
    CheckResult,
    "Exit code, for `git bisect run`: 0: clean; 1: something was found; 125: it cannot be said "
    "(a kernel does not build or boot, trouble of the host); 255: the call is not usable.",
)


def check(
    patches: Patches = None,
    run: Annotated[
        str,
        typer.Option(
            "--run", help="Runs in turn with the stress: a command line, a program, a folder."
        ),
    ] = "",
    base: TrialBase = "",
    tree: Annotated[
        Paths,
        typer.Option(
            "--tree", help="A source tree, or DIR@COMMIT; patches go on it, or a second is checked."
        ),
    ] = None,
    with_: With = None,
    config: Config = None,
    commits: Commits = None,
    repo: Repo = Path(),
    seconds: Annotated[
        int, typer.Option("--seconds", min=10, max=86400, help="Of stress on each kernel.")
    ] = 180,
    name: Annotated[
        str, typer.Option("--name", help="Of the check; default: its first file's.")
    ] = "",
    kcsan: Annotated[
        bool,
        typer.Option(
            "--kcsan",
            help="Look for data races in place of the other mistakes: a kernel of its own.",
        ),
    ] = False,
    json: Json = False,
) -> int:
    """Run your patch under KASAN, lockdep and debug objects, with what exercises its files."""
    from duet.cli.checking import Check
    from duet.cli.checking import check as body
    from duet.trials.ask import Asked

    asked = Asked(
        run=run,
        patches=tuple(patches or ()),
        commits=tuple(commits or ()),
        repository=repo,
        base=base,
        trees=tuple(tree or ()),
        shared=tuple(with_ or ()),
        config=tuple(config or ()),
        name=name,
    )
    return body(Check(asked, seconds, json, kcsan))
