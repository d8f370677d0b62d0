# SPDX-License-Identifier: GPL-2.0-or-later
"""Run make in the work tree: check tools, configure, compile, and find errors in the output."""

from __future__ import annotations

import hashlib
import os
import re
import select
import shutil
import signal
import subprocess
import threading
from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from pathlib import Path

from duet.base import files as durable
from duet.base.errors import DuetError, InfraError, InputError
from duet.kernels.bases import ASKED, NEEDED
from duet.kernels.kbuild import known_options
from duet.kernels.recipe import (
    BUILD_ENV,
    DEBUG_FLAGS,
    read_fragments,
    read_options,
    unmet_options,
    write_options,
)
from duet.kernels.source import TREE_BYTES, disk_full
from duet.kernels.tree import BuildStopped, TreeState, ccache_environment

# Maps each program to its Debian package. The libelf headers are also needed, to compile objtool.
TOOLS = {
    "gcc": "gcc",
    "ld": "binutils",
    "make": "make",
    "flex": "flex",
    "bison": "bison",
    "bc": "bc",
    "perl": "perl",
    "lz4": "lz4",
    "patch": "patch",
    "tar": "tar",
    "xz": "xz-utils",
    "setpriv": "util-linux",
}
LIBELF_HEADERS = ("/usr/include/libelf.h", "/usr/include/gelf.h")
BZIMAGE = "arch/x86/boot/bzImage"
TAIL_LINES = 40
STOP_GRACE_S = 10.0


class ToolMissing(InfraError):
    """A program that the kernel build needs is not installed."""

    code = "tool-missing"


class CompileFails(InputError):
    """make failed because of an error in the source or in a patch."""

    code = "compile-fails"


class OptionLost(InputError):
    """A configured option is missing or different in the kernel's final .config."""

    code = "option-lost"


def check_tools() -> None:
    """Raise ToolMissing if programs are missing; the error names each one and its package."""
    absent = {tool: package for tool, package in TOOLS.items() if shutil.which(tool) is None}
    if not any(Path(header).is_file() for header in LIBELF_HEADERS):
        absent["libelf.h"] = "libelf-dev"
    if absent:
        raise ToolMissing(
            f"wanted to build a kernel, but this machine has no {', '.join(absent)}.",
            remedy=f"Install: apt-get install {' '.join(sorted(set(absent.values())))}",
        )


def tool_version(tool: str) -> str:
    """Return the first line of `tool --version`, which is part of a kernel's key.

    Raises:
        ToolMissing: the tool does not run.
    """
    try:
        done = subprocess.run([tool, "--version"], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        raise ToolMissing(
            f"wanted the version of {tool}, but it does not run.",
            remedy=f"Install: apt-get install {TOOLS[tool]}",
        ) from None
    return done.stdout.splitlines()[0]


@cache
def tool_versions() -> tuple[str, str]:
    """Return the versions of compiler and linker; cached.

    Raises:
        ToolMissing: a tool does not run.
    """
    return tool_version("gcc"), tool_version("ld")


class Make:
    """Runs make in one tree: niced, killed when its owner dies, with output to `log`."""

    def __init__(self, src: Path, log: Path, *, jobs: int, lock_fd: int, ccache: Path) -> None:
        self._src = src
        self._ccache = ccache
        self.log = log
        self._jobs = jobs
        self._lock_fd = lock_fd
        self._tail: list[str] = []

    def run(
        self,
        *targets: str,
        on_line: Callable[[str], None] = lambda line: None,
        stop: threading.Event | None = None,
    ) -> None:
        """Run make and pass each line of its output to `on_line`.

        Raises:
            DiskFull, CompileFails: see their classes.
            BuildStopped: `stop` was set; make has ended.
        """
        self.log.parent.mkdir(parents=True, exist_ok=True)
        self._tail.clear()
        # The death signal is TERM, not KILL, so that make ends its compilers and removes
        # half-written files.
        command = ["nice", "-n", "10", "setpriv", "--pdeathsig", "TERM"]
        command += [*make_words(self._src, self._jobs), *targets]
        with (
            self.log.open("a", encoding="utf-8") as log,
            subprocess.Popen(
                command,
                cwd=self._src,
                env=_environment(self._ccache),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                pass_fds=(self._lock_fd,),
                start_new_session=True,
            ) as process,
        ):
            try:
                self._follow(process, log.write, on_line, stop)
            finally:
                _stop_process(process)
        if process.returncode != 0:
            raise self._failure(targets)

    def _follow(
        self,
        process: subprocess.Popen[bytes],
        log_line: Callable[[str], object],
        on_line: Callable[[str], None],
        stop: threading.Event | None,
    ) -> None:
        assert process.stdout is not None
        pending = b""
        while True:
            if stop is not None and stop.is_set():
                raise BuildStopped(
                    "the kernel build was stopped.",
                    remedy="Start the build again. The build resumes where it stopped.",
                )
            if not select.select([process.stdout], [], [], 0.25)[0]:
                continue
            chunk = os.read(process.stdout.fileno(), 65536)
            *lines, pending = (pending + chunk).split(b"\n")
            for raw in lines:
                line = raw.decode(errors="replace")
                log_line(line + "\n")
                self._tail = [*self._tail[-TAIL_LINES:], line]
                on_line(line)
            if not chunk:
                process.wait()
                return

    def _failure(self, targets: tuple[str, ...]) -> DuetError:
        tail = "\n".join(self._tail)
        if "No space left on device" in tail:
            return disk_full("to compile the kernel", TREE_BYTES, self._src)
        remedy = f"Read the log {self.log}, correct the patch, and build again."
        goals = (word for word in targets if "=" not in word)
        return compile_fails(tail, remedy, " ".join(goals))


def make_words(src: Path, jobs: int) -> list[str]:
    """Return a make command without targets; its options keep the cache's path out of kernels."""
    prefix = f"-fdebug-prefix-map={src}=."
    flags = " ".join((prefix, *DEBUG_FLAGS))
    return ["make", f"-j{jobs}", f"KCFLAGS={flags}", f"KAFLAGS={prefix}"]


def compile_fails(tail: str, remedy: str, target: str = "bzImage") -> CompileFails:
    """Return the error for a failed make, with the first compiler error or else the last line."""
    match = re.search(r"^(\S+?:\d+:\d+: (?:fatal )?error: .*)$", tail, re.MULTILINE)
    what = match[1] if match else ((tail.splitlines() or ["make said nothing"])[-1])
    return CompileFails(
        f"wanted to make {target}, but make failed: {what}", remedy=remedy, detail=tail
    )


Lost = tuple[list[tuple[str, str, str]], dict[str, str]]
"""Options that did not stick, as (name, wanted, got), and the whole resulting configuration."""


def configure(
    make: Make,
    src: Path,
    fragments: Sequence[Path],
    *,
    lenient: bool = False,
    dispensable: Container[str] = (),
) -> Lost:
    """Configure the tree: allnoconfig plus the fragments. An identical .config stays untouched.

    Args:
        lenient: if True, a lost option fails the build only in two cases: it is in NEEDED, or a
            fragment called ASKED contains it and the source defines it.
        dispensable: options whose loss is tolerated on any base.

    Returns:
        The lost options that are tolerated, and the whole configuration.

    Raises:
        OptionLost: an option of the fragments was lost; the message names the wanted and the actual
            value.
    """
    stamp = src / ".config.duet"
    wanted = read_fragments(fragments)
    fragment = fragments[0]
    if len(fragments) > 1:  # merged, because kconfig reads only one file
        fragment = src / ".config.asked"
        fragment.write_text(write_options(wanted))
    asked = _config_stamp(src, fragment)
    config = src / ".config"
    current = config.exists() and stamp.exists() and stamp.read_text() == asked + _sha256(config)
    fresh = config if current else src / ".config.new"
    if not current:
        make.run(f"KCONFIG_ALLCONFIG={fragment}", "KCONFIG_CONFIG=.config.new", "allnoconfig")
    got = read_options(fresh.read_text())
    lost = [one for one in unmet_options(wanted, got) if one[0] not in dispensable]
    if fatal := _fatal(lost, src, fragments) if lenient else lost:
        raise _option_lost(fatal, fragments)
    if current:
        return lost, got
    if config.exists() and config.read_bytes() == fresh.read_bytes():
        fresh.unlink()
    else:
        fresh.rename(config)
    stamp.write_text(asked + _sha256(config))
    return lost, got


def _fatal(
    lost: Sequence[tuple[str, str, str]], src: Path, fragments: Sequence[Path]
) -> list[tuple[str, str, str]]:
    """Return the lost options that even a lenient base needs."""
    named = read_fragments([path for path in fragments if path.name == ASKED])
    names = [one[0] for one in lost if one[0] in named]
    known = known_options(src, names) if names else set()
    return [one for one in lost if one[0] in NEEDED or one[0] in known]


def _option_lost(lost: Sequence[tuple[str, str, str]], fragments: Sequence[Path]) -> OptionLost:
    name, want, got = lost[0]
    more = f" (and {len(lost) - 1} more)" if len(lost) > 1 else ""
    asked = fragments[-1].name == ASKED and name in read_fragments(fragments[-1:])
    who = "--config" if asked else fragments[-1].name
    return OptionLost(
        f"{who} wants {name}={want}, but the kernel's configuration gave {got}{more}.",
        remedy=f"Add the option it depends on to {who}, or drop {'it' if asked else 'the line'}.",
        detail="\n".join(f"{name}: wanted {want}, got {got}" for name, want, got in lost),
    )


def sweep_half_written(src: Path) -> None:
    """Remove files that a killed make may have left incomplete, so that make rebuilds them.

    An object is complete if its .cmd file is newer than the object, because kbuild writes the .cmd
    file last. The products of the final link have no .cmd file, so they are removed after every
    interrupted build.
    """
    for folder, _, names in os.walk(src):
        present = set(names)
        for name in names:
            record = f".{name}.cmd"
            if not name.endswith((".o", ".a")) or record not in present:
                continue
            path = Path(folder, name)
            if path.stat().st_mtime_ns > Path(folder, record).stat().st_mtime_ns:
                path.unlink()
    (src / "vmlinux.o").unlink(missing_ok=True)
    drop_links(src)


def drop_links(src: Path) -> None:
    """Remove the linked kernel and everything made from it, so that make links it again."""
    for name in ("vmlinux", "System.map", BZIMAGE, "arch/x86/boot/vmlinux.bin"):
        (src / name).unlink(missing_ok=True)
    for left in (src / "arch/x86/boot/compressed").glob("vmlinux*"):
        if left.suffix not in (".lds", ".S"):
            left.unlink()


def _environment(ccache: Path) -> dict[str, str]:
    # make must not see other variables of the caller, because they could affect the kernel.
    inherited = {key: os.environ[key] for key in ("PATH", "HOME", "TMPDIR") if key in os.environ}
    return {
        **inherited,
        **ccache_environment(ccache, inherited.get("PATH", os.defpath)),
        **BUILD_ENV,
    }


def _stop_process(process: subprocess.Popen[bytes]) -> None:
    """Stop make and its children by signals to their process group."""
    if process.poll() is not None:
        return
    os.killpg(process.pid, signal.SIGTERM)
    try:
        process.wait(STOP_GRACE_S)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _config_stamp(src: Path, fragment: Path) -> str:
    """Digest the inputs of the configuration: the fragment and the patched Kconfig files."""
    digest = hashlib.sha256(fragment.read_bytes())
    pristine = src.parent / "pristine"
    for inherited in sorted(pristine.rglob("Kconfig*")):
        name = inherited.relative_to(pristine).as_posix().removesuffix(".absent")
        path = src / name
        digest.update(name.encode() + (path.read_bytes() if path.exists() else b""))
    return digest.hexdigest() + " "


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


# Track a build's progress by counting lines of make's output. Pure.

_LINE = re.compile(r"^  ([A-Z][A-Z0-9_ ]{0,9}?) +(\S+)")


class Phase(StrEnum):
    """Phases of one arm's build, in order. The phase is `wait` while another process builds."""

    WAIT = "wait"
    EXTRACT = "extract"
    PATCH = "patch"
    CONFIG = "config"
    COMPILE = "compile"
    LINK = "link"
    STORE = "store"
    DONE = "done"


@dataclass(frozen=True, slots=True)
class BuildProgress:
    """Progress of a build at one moment.

    `objects_expected` is an estimate: the number of objects in the last cold build of this base,
    minus the objects that exist. This estimate is never below `objects_done`. `arm_index` is the
    number of the current kernel, from 0. `arms_total` is the number of kernels to build, without
    those already stored. `note` is one sentence for people, and usually empty.
    """

    phase: Phase
    lesson: str
    arm: str
    arm_index: int
    arms_total: int
    objects_done: int
    objects_expected: int
    elapsed_s: float
    note: str = ""


ProgressSink = Callable[[BuildProgress], None]


class MakeCounter:
    """Counter of the steps in make's quiet output ('  CC      mm/vmscan.o')."""

    def __init__(self) -> None:
        self.objects = 0
        self.linking = False

    def feed(self, line: str) -> bool:
        """Parse one line of output; return whether the line is a step."""
        match = _LINE.match(line)
        if match is None:
            return False
        verb, target = match.groups()
        if verb in ("CC", "AS") and target.endswith(".o"):
            self.objects += 1
        if verb == "LD" and target == "vmlinux.o":
            self.linking = True
        return True


# Forecast of a build: the tree's current arm, the number of objects to compile, and the time.

LINK_S = 15.0
"""Seconds for the final link, compression and storing, which every kernel needs."""
PACE_S = 0.35
"""Seconds per object on two CPUs; used until this machine has measured its own pace. ccache lowers
this time."""
LEARNT_FROM = 100
"""The pace is updated only from builds that compiled at least this many objects."""


def forecast(former: TreeState | None, objects: int, pace_s: float) -> str:
    """Return the forecast as one sentence for a person.

    Args:
        former: the arm to which the tree was last switched; None if unknown, or if the tree was
            just unpacked.
        objects: objects to compile, counted or estimated.
        pace_s: seconds per object, from read_pace().
    """
    came = f"the tree is at {former.lesson} {former.arm}; " if former is not None else ""
    some = "1 object" if objects == 1 else f"{objects:,} objects"
    return f"{came}about {some} to compile, {_time(LINK_S + objects * pace_s)} or less."


def read_pace(path: Path) -> float:
    """Return how many seconds per object the last large build on this machine took."""
    try:
        pace_s = float(path.read_text())
    except (OSError, ValueError):
        return PACE_S
    return pace_s if 0 < pace_s < 60 else PACE_S


def write_pace(path: Path, objects: int, seconds: float) -> None:
    """Save the seconds per object of a build that compiled at least LEARNT_FROM objects."""
    if objects >= LEARNT_FROM:
        pace_s = max(seconds - LINK_S, 1.0) / objects
        durable.write(path, f"{pace_s:.4f}\n".encode())


def _time(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:.0f} min"
