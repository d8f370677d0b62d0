# SPDX-License-Identifier: GPL-2.0-or-later
"""Parse what a trial's guests run: a command line, a program or script, or a folder.

Programs that guests lack are copied into the guests, with their shared libraries.
"""

from __future__ import annotations

import hashlib
import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path, PurePosixPath

from duet.base.errors import InputError
from duet.base.settings import cache_dir
from duet.trials.shell_line import BUILTINS, LIVE, RESERVED, Line, read_line

LOADED = re.compile(r"(/\S+) \(0x")
COMM_BYTES = 15
"""Longest task name: TASK_COMM_LEN without the final NUL (include/linux/sched.h)."""
HOME = "root"
MOST_BYTES = 64 << 20
"""Maximum total size of files that are copied into a guest, where they use memory. Usual: 5 MB."""
LDD_S = 20.0
SHELLS = ("sh", "bash", "dash", "busybox")
MOUNTED = frozenset({"tmp", "run", "dev", "proc", "sys"})
"""Guest folders that a mounted file system covers (vm-images/root/fstab)."""
GUESTS_OWN = frozenset({"dev", "etc", "proc", "sys"})
"""Folders that are never copied, because the guest has its own."""
PROGRAMS = frozenset({"bin", "sbin", "usr"})
SYSTEM = GUESTS_OWN | {"bin", "boot", "lib", "lib32", "lib64", "run", "sbin", "usr", "var"}
"""Folders from which no subfolder is copied as a whole."""
OVER_LIMIT = "--timeout sets another limit"
"""Part of the message that command.c prints if the command reaches its timeout."""
SOURCE = ".c"
FLAGS = ("-O2", "-static", "-pthread")
"""Compiler flags of the guest's own workloads, except those for warnings."""
COMPILE_S = 60.0


class BadCommand(InputError):
    """The command cannot run in a guest."""

    code = "bad-command"


@dataclass(frozen=True)
class Command:
    """A command for the guest's /bin/sh.

    Args:
        line: the shell command.
        program: name of the program that the line runs; "" if only a shell can run the line.
        files: maps a path in the guest, without the leading slash, to a file of the host.
    """

    line: str
    program: str = ""
    files: dict[str, Path] = field(default_factory=dict)

    @property
    def comm(self) -> str:
        """Glob for the names that the command's tasks probably have; '*' if unknown."""
        return f"{self.program[:COMM_BYTES]}*" if self.program else "*"


def read_command(given: str, known: frozenset[str]) -> Command:
    """Parse the argument of `--run`.

    Args:
        known: names of the programs that guests have.

    Raises:
        BadCommand: there is no command, or a program does not exist or cannot run in a guest.
    """
    if not given.strip():
        raise BadCommand(
            "--run wants a command, but it is empty.",
            remedy="Write for example: --run 'stress-ng --ramfs 4 -t 5 --metrics-brief'.",
        )
    path = _expanded(given)
    if _is(path, Path.is_dir):
        return _folder(path)
    try:
        line = read_line(given)
    except ValueError as error:
        raise BadCommand(
            f"--run wants a shell command, but it cannot be parsed: {error}.",
            remedy="Close the quotation mark, or name a script.",
        ) from None
    return _weighed(_Files(given, line, known).command())


class _Files:
    """Collects the host files that a command line names, and their paths in the guest."""

    def __init__(self, given: str, line: Line, known: frozenset[str]) -> None:
        self._text, self._line, self._known = given, line, known
        self._here, self._there = Path.cwd(), PurePosixPath("/", HOME)
        self._earlier: set[str] = set()
        self._moved: dict[str, PurePosixPath] = {}
        self._replaced: set[str] = set()
        self.files: dict[str, Path] = {}

    def command(self) -> Command:
        for one in self._line.commands:
            programs = one.chain if one.words and one.words[0] not in RESERVED else ()
            for number, name in enumerate(programs):
                self._program(name, applets=not number)
            for word in (*one.assignments, *one.words, *one.targets):
                if word not in programs:
                    self._word(word, enters=one.words[:1] == ("cd",))
            if one.words[:1] == ("cd",) and len(one.words) > 1 and not one.nested:
                self._enter(one.words[1])
        return Command(self._text, self._one_program(), self.files)

    def _one_program(self) -> str:
        """Return the program's name if the line needs no shell to run it, otherwise ""."""
        line = self._line
        if line.joined or not line.known or len(line.commands) != 1:
            return ""
        (one,) = line.commands
        name = one.chain[0] if one.words else ""
        if one.assignments or LIVE.search(self._text) or name in BUILTINS - self._known:
            return ""
        return PurePosixPath(one.started[0]).name.removesuffix(SOURCE)

    def _program(self, name: str, *, applets: bool) -> None:
        """Collect the file of a program. `name` is the program's name or path.

        Args:
            applets: whether the shell itself starts the program. If so, the program may be a
                busybox applet; otherwise it must be a file.

        Raises:
            BadCommand: the program does not exist.
        """
        if "/" not in name:
            shells = BUILTINS | self._line.functions | _applets() if applets else frozenset()
            if name in self._known | shells or LIVE.search(name):
                return
            if name.endswith(SOURCE) and _is(self._here / name, Path.is_file):
                self._compile(self._here / name, name)
            elif found := shutil.which(name):
                self._copy(Path(found), PurePosixPath("/usr/bin", name), runs=True)
            elif self._line.known:
                raise _nobody_has(name)
            return
        path = self._on_host(name)
        if self._guests_have(name):
            self._replace(name, path.name)
        elif _is(path, Path.is_file) and path.suffix == SOURCE and not os.access(path, os.X_OK):
            self._compile(path, name)
        elif _is(path, Path.is_file):
            if not os.access(path, os.X_OK):
                raise BadCommand(
                    f"wanted a program, but {name:.200} cannot be executed.",
                    remedy=f"Run chmod +x {shlex.quote(str(path))}, or start it with sh.",
                )
            self._copy(path, self._in_guest(name), runs=True)
        elif not (
            LIVE.search(name)
            or name in self._earlier  # an earlier command may create it
            or not self._line.known
        ):
            raise _nobody_has(name)

    def _word(self, word: str, *, enters: bool) -> None:
        """Collect the file that an argument, a redirection, an assignment or an option names."""
        self._earlier.add(word)
        parts = [word, *word.partition("=")[2:]]
        parts += re.findall(r"[\w.+~/-]*/[\w.+~/-]+", word) if LIVE.search(word) else []
        for name in dict.fromkeys(part for part in parts if part and not part.startswith("-")):
            path = self._on_host(name)
            if (path.parts[1:2] and path.parts[1] in GUESTS_OWN) or self._guests_have(name):
                continue
            if _is(path, Path.is_file):
                self._copy(path, self._in_guest(name))
            elif ("/" in name or enters) and self._may_copy_folder(path):
                top = self._in_guest(name)
                for file in _inside(path):
                    self._copy(file, top / file.relative_to(path).as_posix())

    def _guests_have(self, name: str) -> bool:
        """Whether `name` is a system program's path, and guests have a program of that name."""
        path = PurePosixPath(name)
        system = path.is_absolute() and len(path.parts) > 2 and path.parts[1] in PROGRAMS
        return system and path.name in self._known

    def _may_copy_folder(self, path: Path) -> bool:
        """Whether `path` is a user's folder that does not contain the working folder."""
        holds = _is(path, Path.is_dir) and Path.cwd().is_relative_to(path.resolve())
        return not holds and _is_somebodys(path)

    def _enter(self, name: str) -> None:
        """Handle `cd`. Later names in the line are relative to the new folder."""
        path = self._on_host(name)
        if not _is(path, Path.is_dir):
            return
        if _is_somebodys(path):
            self._there = self._in_guest(name)
        else:
            self._there = PurePosixPath(os.path.normpath(self._there / name.replace("~", "/root")))
        self._here = path

    def _compile(self, source: Path, word: str) -> None:
        """Replace a C file with the program that is compiled from it."""
        name = word.removesuffix(SOURCE)
        self._replace(word, name if "/" in name else f"./{name}")
        self._copy(compiled(source), self._in_guest(name), runs=True)

    def _copy(self, path: Path, place: PurePosixPath, *, runs: bool = False) -> None:
        """Copy a file and, if it is a program, its shared libraries.

        Args:
            runs: whether the file is known to be a program.

        Raises:
            BadCommand: guests cannot run the program.
        """
        self.files[str(place).lstrip("/")] = path.resolve()
        try:
            self.files |= needs(path) if runs or os.access(path, os.X_OK) else {}
        except BadCommand:
            if runs:
                raise

    def _on_host(self, name: str) -> Path:
        return self._here / _expanded(name)

    def _in_guest(self, name: str) -> PurePosixPath:
        """Return a file's path in the guest. If a mount would hide the file, change its path."""
        if name in self._moved:
            return self._moved[name]
        place = PurePosixPath(os.path.normpath(self._there / name))
        if name.startswith("~/"):
            place = PurePosixPath("/", HOME, name[2:])
        elif place.parts[1:2] and place.parts[1] in MOUNTED:
            place = PurePosixPath("/", HOME, *place.parts[1:])
        else:
            return place
        self._replace(name, str(place))
        self._moved[name] = place
        return place

    def _replace(self, name: str, place: str) -> None:
        """Replace a path in the command line.

        Raises:
            BadCommand: backslashes or quotes split the path in the line.
        """
        if name in self._replaced:
            return
        self._replaced.add(name)
        text, times = re.subn(rf"(?<![\w./~-]){re.escape(name)}(?![\w./-])", place, self._text)
        if not times:
            raise BadCommand(
                f"cannot replace the path {name:.200} in --run, because quotes or backslashes "
                "split it.",
                remedy="Write the path without backslashes, and put quotes around all of it.",
            )
        self._text = text


def _nobody_has(name: str) -> BadCommand:
    return BadCommand(
        f"wanted a program '{name:.60}', but neither guests nor this machine have it.",
        remedy="Name a program that can be executed, with its path, or install it.",
    )


@lru_cache(maxsize=1)
def _applets() -> frozenset[str]:
    """Return the applets of the guest's busybox shell (FEATURE_SH_STANDALONE)."""
    program = shutil.which("busybox")
    if program is None:
        return frozenset()
    done = subprocess.run([program, "--list"], capture_output=True, text=True, check=False)
    return frozenset(done.stdout.split())


def _expanded(name: str) -> Path:
    try:
        return Path(name).expanduser()
    except RuntimeError:  # the user does not exist
        return Path(name)


def _is_somebodys(path: Path) -> bool:
    """Whether `path` is a folder outside the system's folders."""
    parts = path.resolve().parts[1:] if _is(path, Path.is_dir) else ()
    return len(parts) > 1 and parts[0] not in SYSTEM


def _is(path: Path, test: Callable[[Path], bool]) -> bool:
    try:
        return test(path)
    except (OSError, ValueError):  # the name is too long, or contains a NUL
        return False


def _inside(folder: Path) -> list[Path]:
    """Return the files in a folder.

    Raises:
        BadCommand: the files are too large for a guest.
    """
    found, size = [], 0
    for path in folder.rglob("*"):
        if path.is_file() and not path.is_symlink():
            found.append(path)
            size += path.stat().st_size
            if size > MOST_BYTES:
                raise _too_large(f"the folder {folder} is too large: guests take at most")
    return sorted(found)


def compiled(source: Path) -> Path:
    """Compile one C file into a static program.

    Raises:
        BadCommand: there is no compiler, or it rejects the file.
    """
    name = hashlib.sha256(str(source.resolve()).encode()).hexdigest()[:16]
    out = cache_dir() / "tools" / "compiled" / name / source.stem
    words = [os.environ.get("CC", "gcc"), *FLAGS, "-o", str(out), str(source)]
    line = shlex.join([*words[:-3], "-o", source.stem, source.name])
    out.parent.mkdir(parents=True, exist_ok=True)
    remedy = f"Correct it, or compile it yourself and name the program; the call was: {line}"
    try:
        done = subprocess.run(
            words, capture_output=True, text=True, check=False, timeout=COMPILE_S,
            env=os.environ | {"LC_ALL": "C"},
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired) as error:
        raise BadCommand(f"{source.name} cannot be compiled: {error}.", remedy=remedy) from None
    if done.returncode:
        said = [one for one in done.stderr.splitlines() if "error" in one or "undefined" in one]
        why = (said or done.stderr.splitlines() or ["no message came"])[0].strip()
        raise BadCommand(
            f"{source.name} does not compile: {why}.", remedy=remedy, detail=done.stderr[-2000:]
        )
    return out


def _folder(path: Path) -> Command:
    """Return a command that copies all files of a folder and starts its `run` or `run.sh`."""
    start = next((name for name in ("run", "run.sh") if (path / name).is_file()), None)
    if start is None:
        raise BadCommand(
            f"--run wants a folder with `run` or `run.sh`, but {path} has neither.",
            remedy="Add an executable file `run` or `run.sh`, or name a program.",
        )
    top = PurePosixPath(HOME, path.resolve().name)
    inside = _inside(path)
    files = {str(top / p.relative_to(path).as_posix()): p.resolve() for p in inside}
    for program in inside:
        if os.access(program, os.X_OK):
            files |= needs(program)
    return _weighed(Command(f"cd {shlex.quote(f'/{top}')} && ./{start}", "", files))


def needs(program: Path) -> dict[str, Path]:
    """Return the libraries or the interpreter that a program loads.

    The result maps paths in the guest to files of the host.

    Raises:
        BadCommand: a library is missing, or guests cannot run the script's interpreter.
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
            remedy="Install the library, or link the program statically.",
        )
    found = LOADED.findall(done.stdout)  # empty for a static program
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
            f"{program.name} is a script for '{name:.40}', which guests lack.",
            remedy="Write the script for /bin/sh or bash, or name a compiled program.",
        )
    return {words[0].lstrip("/"): Path(where).resolve(), **needs(Path(where))}


def _weighed(command: Command) -> Command:
    size = sum(path.stat().st_size for path in command.files.values())
    if size > MOST_BYTES:
        raise _too_large(f"the files of --run have {size:,} bytes, but guests take at most")
    return command


def _too_large(what: str) -> BadCommand:
    return BadCommand(
        f"{what} {MOST_BYTES:,} bytes.",
        remedy="Name a smaller folder, or strip the programs in it.",
    )


def c_string(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("?", "\\?")
    return '"' + escaped.replace("\n", "\\n").replace("\t", "\\t") + '"'
