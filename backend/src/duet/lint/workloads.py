# SPDX-License-Identifier: GPL-2.0-or-later
"""Programs: each command is one that guests have, and the lesson's own can be built."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path, PurePosixPath

from duet.lessons.schema import Place
from duet.lint.finding import Finding, NotChecked, Subject, unknown

Found = Iterator[Finding | NotChecked]
RECIPE = "vm-images/root/build"
RECIPE_S = 30.0
COMPILE_S = 60.0
KINDS = ("c", "sh")
"""Suffixes of workloads that the recipe knows."""
MESSAGE = re.compile(r"^[^:\n]+:(\d+)(?::\d+)?: (?:fatal )?(?:error|warning): (.*)$", re.MULTILINE)
SHELL_MESSAGE = re.compile(r"^[^:\n]+: (?:line )?(\d+): (.*)$", re.MULTILINE)


def programs(subject: Subject) -> Found:
    """Every command of a workload is a program of the guest."""
    lesson, own = subject.folder.lesson, sources(subject)
    reported = guest_programs(subject.root)
    if isinstance(reported, str):
        yield NotChecked(f"whether the guest has the programs of the workloads: {reported}")
        return
    known = sorted({*reported["programs"], *(path.stem for path in own)})
    for name, workload in lesson.workloads.items():
        at: Place = ("workloads", name)
        commands = [(workload.run, (*at, "run"))]
        commands += [(text, (*at, "setup", i)) for i, text in enumerate(workload.setup)]
        for text, place in commands:
            program = PurePosixPath(text.split()[0]).name if text.split() else ""
            if program not in known:
                found = unknown("no guest has a program", program, known, place)
                remedy = (
                    f"Write workload/{program or 'NAME'}.c or .sh; "
                    f"`{RECIPE} --programs` lists what guests have."
                )
                yield Finding(found.sentence, remedy, place)


def builds(subject: Subject) -> Found:
    """The lesson's own programs compile as the recipe compiles them, without a warning."""
    reported = guest_programs(subject.root)
    if isinstance(reported, str):
        yield NotChecked(f"whether the workloads compile: {reported}")
        return
    compiler = os.environ.get("CC", "gcc")
    for path in sources(subject):
        if path.suffix == ".c" and shutil.which(compiler) is None:
            yield NotChecked(f"whether {path.name} compiles: there is no {compiler}")
            continue
        stat = path.stat()
        flags = tuple(reported["cflags"]) if path.suffix == ".c" else ()
        for line, message in tried(path.resolve(), flags, compiler, stat.st_mtime_ns, stat.st_size):
            what = "does not compile" if path.suffix == ".c" else "is no shell script"
            sentence = f"{path.name} {what}: {message}"
            yield Finding(sentence, "Correct that line.", file=path, line=line)


def sources(subject: Subject) -> list[Path]:
    """The lesson's own programs."""
    folder = subject.folder.folder / "workload"
    return sorted(path for kind in KINDS for path in folder.glob(f"*.{kind}"))


@lru_cache(maxsize=1)
def guest_programs(root: Path) -> dict[str, list[str]] | str:
    """What the recipe of the guest's root says of its programs; text: why it says nothing."""
    try:
        done = subprocess.run(
            [sys.executable, str(root / RECIPE), "--programs"],
            capture_output=True,
            text=True,
            timeout=RECIPE_S,
        )
    except subprocess.TimeoutExpired:
        return f"{RECIPE} says nothing within {RECIPE_S:g} s"
    if done.returncode:
        return done.stderr.strip().partition("\n")[0] or f"{RECIPE} failed"
    reported: dict[str, list[str]] = json.loads(done.stdout)
    return reported


@lru_cache(maxsize=64)
def tried(
    path: Path, flags: tuple[str, ...], compiler: str, mtime_ns: int, size: int
) -> tuple[tuple[int, str], ...]:
    """What compiler or shell says: (line, message). Time and size are there for the cache."""
    with tempfile.TemporaryDirectory() as scratch:
        out = Path(scratch) / path.stem
        words = [compiler, *flags, "-o", str(out), str(path)]
        if path.suffix != ".c":
            words = ["sh", "-n", str(path)]
        try:
            done = subprocess.run(
                words,
                capture_output=True,
                text=True,
                timeout=COMPILE_S,
                env=os.environ | {"LC_ALL": "C"},
            )
        except subprocess.TimeoutExpired:
            return ((1, f"{words[0]} took longer than {COMPILE_S:g} s"),)
    if done.returncode == 0:
        return ()
    pattern = MESSAGE if path.suffix == ".c" else SHELL_MESSAGE
    found = [(int(match[1]), match[2].strip()) for match in pattern.finditer(done.stderr)]
    return tuple(found) or ((1, done.stderr.strip().partition("\n")[0] or "no message came"),)
