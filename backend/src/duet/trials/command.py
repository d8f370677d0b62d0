# SPDX-License-Identifier: GPL-2.0-or-later
"""What the guests of a trial run: a command line, a program or script of the host, or a folder.

A program that guests do not have is copied into them with the libraries that it loads.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from duet.errors import InputError

SHELL = re.compile(r"[|&;<>()$`\\\"'*?\[\]#~=%{}\n]")
"""A command line with one of these is the shell's; any other is one program with its words."""
LOADED = re.compile(r"(/\S+) \(0x")
COMM_BYTES = 15
"""A task's name, TASK_COMM_LEN without its end; include/linux/sched.h."""
HOME = "root"
MOST_BYTES = 64 << 20
"""Of the files that a guest gets; they lie in its memory. Usual: 5 MB."""
LDD_S = 20.0
SHELLS = ("sh", "bash", "dash", "busybox")


class BadCommand(InputError):
    """The command cannot be run in a guest."""

    code = "bad-command"


@dataclass(frozen=True)
class Command:
    """A command for /bin/sh of the guest.

    Args:
        line: what the shell gets.
        program: name of what it runs; "" where the shell has the word.
        files: place in the guest, without the leading slash -> file of the host.
    """

    line: str
    program: str = ""
    files: dict[str, Path] = field(default_factory=dict)

    @property
    def comm(self) -> str:
        """Glob of the names that its tasks are expected to have; '*': of any."""
        return f"{self.program[:COMM_BYTES]}*" if self.program else "*"


def read_command(given: str, known: frozenset[str]) -> Command:
    """What `--run` says.

    Args:
        known: names of the programs that guests have.

    Raises:
        BadCommand: nothing, a program that nobody has, or one that cannot run there.
    """
    if not given.strip():
        raise BadCommand(
            "--run has no command.",
            remedy="Write for example: --run 'stress-ng --ramfs 4 -t 5 --metrics-brief'.",
        )
    path = Path(given).expanduser()
    if path.is_dir():
        return _folder(path)
    if SHELL.search(given):
        return Command(given)
    first, *words = shlex.split(given)
    if "/" not in first and first in known:
        return Command(given, first)
    found = Path(first).expanduser() if "/" in first else Path(shutil.which(first) or first)
    if not found.is_file() or not os.access(found, os.X_OK):
        raise BadCommand(
            f"wanted a program '{first:.60}', but neither guests nor this machine have one.",
            remedy="Name a program that can be executed, with its path, or install it.",
        )
    place = f"usr/bin/{found.name}"
    files = {place: found.resolve(), **needs(found)}
    return _weighed(Command(shlex.join([found.name, *words]), found.name, files))


def _folder(path: Path) -> Command:
    """A folder is copied whole; its `run` or `run.sh` is the command."""
    start = next((name for name in ("run", "run.sh") if (path / name).is_file()), None)
    if start is None:
        raise BadCommand(
            f"--run names the folder {path}, which has no `run` or `run.sh` to start.",
            remedy="Add one that can be executed, or name a program.",
        )
    top = PurePosixPath(HOME, path.resolve().name)
    inside = sorted(p for p in path.rglob("*") if p.is_file() and not p.is_symlink())
    files = {str(top / p.relative_to(path).as_posix()): p.resolve() for p in inside}
    for program in inside:
        if os.access(program, os.X_OK):
            files |= needs(program)
    return _weighed(Command(f"cd {shlex.quote(f'/{top}')} && ./{start}", "", files))


def needs(program: Path) -> dict[str, Path]:
    """Place in the guest -> file, of what a program loads: libraries, or its interpreter.

    Raises:
        BadCommand: a library is missing, or it is a script whose interpreter guests cannot have.
    """
    with program.open("rb") as stream:
        head = stream.read(256)
    if head.startswith(b"#!"):
        return _interpreter(program, head)
    if not head.startswith(b"\x7fELF"):
        return {}
    command = ["ldd", str(program.resolve())]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=LDD_S)
    if "not found" in done.stdout:
        line = next(line.strip() for line in done.stdout.splitlines() if "not found" in line)
        raise BadCommand(
            f"{program.name} needs a library that this machine lacks: {line}.",
            remedy="Install it, or link the program statically.",
        )
    found = LOADED.findall(done.stdout)  # nothing, of a static program
    return {name.lstrip("/"): Path(name).resolve() for name in found}


def _interpreter(program: Path, head: bytes) -> dict[str, Path]:
    words = head[2:].split(b"\n", 1)[0].decode(errors="replace").split()
    if words and Path(words[0]).name == "env":
        words = words[1:]
    name = Path(words[0]).name if words else ""
    if name in ("sh", "busybox"):
        return {}
    where = shutil.which(name) if name in SHELLS else None
    if where is None:
        raise BadCommand(
            f"{program.name} is a script for '{name:.40}', which guests do not have.",
            remedy="Write it for /bin/sh or bash, or name a compiled program.",
        )
    return {words[0].lstrip("/"): Path(where).resolve(), **needs(Path(where))}


def _weighed(command: Command) -> Command:
    size = sum(path.stat().st_size for path in command.files.values())
    if size > MOST_BYTES:
        raise BadCommand(
            f"the files of --run have {size:,} bytes, and guests take at most {MOST_BYTES:,}.",
            remedy="Name a smaller folder, or strip the programs in it.",
        )
    return command


def c_string(text: str) -> str:
    """As a string literal of C."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("?", "\\?")
    return '"' + escaped.replace("\n", "\\n").replace("\t", "\\t") + '"'
