# SPDX-License-Identifier: GPL-2.0-or-later
"""Whether builds can run in a box on this machine: found out by running one."""

from __future__ import annotations

import shutil
import tempfile
from dataclasses import replace
from functools import cache
from pathlib import Path

from duet.boxed.job import Job, Step
from duet.boxed.limits import PROBE_S, BoxLimits
from duet.boxed.results import Wanted
from duet.boxed.run import NoBox, run_boxed
from duet.control_groups import Group
from duet.errors import DuetError

PROGRAMS = {"bwrap": "bubblewrap", "setpriv": "util-linux", "prlimit": "util-linux"}


@cache
def missing_box() -> str:
    """Why no box can be made, as a sentence without its stop, or nothing. Takes 0.4 s once."""
    absent = [package for name, package in PROGRAMS.items() if shutil.which(name) is None]
    if absent:
        return f"the package {absent[0]} is not installed"
    try:
        with tempfile.TemporaryDirectory(prefix="duet-probe-") as folder:
            return _try(Path(folder))
    except NoBox as error:
        lines = [line for line in error.detail.splitlines() if line]
        return error.sentence.rstrip(".") + (f" ({lines[-1]})" if lines else "")
    except (DuetError, OSError) as error:
        return f"the probe failed: {error}".rstrip(".")


@cache
def box_weakness() -> str:
    """What is not limited in a box on this machine, as a sentence, or nothing."""
    with Group(BoxLimits().budget()) as group:
        return " ".join(group.missing)


def check_box() -> None:
    """Raise NoBox where no box can be made."""
    if why := missing_box():
        raise NoBox(
            f"a build in a sandbox was wanted, but none can be made here: {why}.",
            remedy="Run ./setup.sh kernels as root; docs/SANDBOX.md says what a sandbox needs.",
        )


def _try(folder: Path) -> str:
    tree = folder / "tree"
    tree.mkdir()
    (tree / "a").write_text("before\n")
    to = folder / "made"
    command = "echo after > a && cp a made && test ! -e /etc/shadow"
    job = Job(
        tree=str(tree),
        steps=(Step("probe", ("/bin/sh", "-c", command)),),
        environment={"PATH": "/usr/bin:/bin"},
        results=(Wanted("made", str(to), "text", 100),),
    )
    done = run_boxed(job, replace(BoxLimits(), wall_s=PROBE_S))
    if done.failed:
        last = done.tail.splitlines()[-1:] or ["it said nothing"]
        return f"bubblewrap cannot start a program: {last[0]}"
    if (tree / "a").read_text() != "before\n" or to.read_text() != "after\n":
        return "what is written in a box reaches the folder below it"
    return ""
