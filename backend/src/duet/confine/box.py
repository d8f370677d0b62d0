# SPDX-License-Identifier: GPL-2.0-or-later
"""Sandboxed builds: run a job in a box, limit its time and output, and copy its results out."""

from __future__ import annotations

import json
import os
import select
import shutil
import stat
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Final

from duet.base.errors import DuetError, InfraError, InputError
from duet.confine.control_groups import STOP_S, Budget, Group
from duet.confine.sandbox import Identity

# Copy a file out of a box after checking its size and first bytes. No link is followed.

HEAD_BYTES = 1024
_X86_64 = 62


@dataclass(frozen=True, slots=True)
class Wanted:
    """A result file of a build.

    Args:
        name: path relative to the tree.
        to: destination of the copy; must not exist yet.
        kind: "vmlinux" (x86-64 ELF executable), "bzImage", "object" (any x86-64 ELF file) or
            "text".
        most_bytes: largest accepted size.
    """

    name: str
    to: str
    kind: str
    most_bytes: int


class BadResult(Exception):
    """A result that is not accepted; the message says why."""


def copy_result(top: Path, wanted: Wanted) -> int:
    """Copy a result out of the tree at `top`; return its size in bytes.

    All processes of the box must have ended.

    Raises:
        BadResult: the file is missing, too large, not a regular file, reached through a link, or of
            another kind than wanted.
    """
    source = _open(top, wanted.name)
    try:
        about = os.fstat(source)
        if not stat.S_ISREG(about.st_mode):
            raise BadResult(f"{wanted.name} is not a regular file")
        if not 0 < about.st_size <= wanted.most_bytes:
            raise BadResult(
                f"{wanted.name} has {about.st_size:,} bytes, but 1 to {wanted.most_bytes:,} are"
                " accepted"
            )
        if not is_kind(os.pread(source, HEAD_BYTES, 0), wanted.kind):
            raise BadResult(f"{wanted.name} does not start like {_WORDS[wanted.kind]}")
        left = about.st_size
        with Path(wanted.to).open("xb") as out:
            while left and (sent := os.sendfile(out.fileno(), source, None, left)):
                left -= sent
        return about.st_size
    finally:
        os.close(source)


def is_kind(head: bytes, kind: str) -> bool:
    """Return whether the first bytes of a file match a kind of `Wanted`.

    Sources: elf(5); Documentation/x86/boot.rst (0x55AA at 0x1fe, "HdrS" at 0x202).
    """
    if kind == "bzImage":
        return head[0x1FE:0x200] == b"\x55\xaa" and head[0x202:0x206] == b"HdrS"
    if kind in ("vmlinux", "object"):
        elf = head[:7] == b"\x7fELF\x02\x01\x01" and head[18:20] == _X86_64.to_bytes(2, "little")
        return elf and (kind == "object" or head[16:18] in (b"\x02\x00", b"\x03\x00"))
    return kind == "text" and b"\0" not in head


_WORDS = {
    "bzImage": "a bzImage",
    "vmlinux": "an ELF program for x86-64",
    "object": "an ELF object for x86-64",
    "text": "a text",
}


def _open(top: Path, name: str) -> int:
    """Open a file for reading, one path component at a time, so that no link is followed."""
    *folders, last = name.split("/")
    at = os.open(top, os.O_RDONLY | os.O_DIRECTORY)
    try:
        for part in folders:
            below = os.open(part, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=at)
            os.close(at)
            at = below
        return os.open(last, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=at)
    except OSError as error:
        why = "is missing" if isinstance(error, FileNotFoundError) else "is not a regular file"
        raise BadResult(f"{name} {why}") from None
    finally:
        os.close(at)


# Limits of one build in a box. *Usual* is the value for a build of one changed file on two CPUs.

WALL_S: Final = 600.0
"""Time from start to end. Usual: 15-30 s, or several minutes after a change to a header that many
files include. Above the limit, the build is ended."""
CPU_S: Final = 300
"""Largest CPU time of each process. Usual: 10 s, for linking. Above the limit, the process gets
SIGKILL.
"""
PROCESS_BYTES: Final = 3 << 30
"""Largest address space of each process. Usual: 0.6 GiB, for linking. Above the limit, malloc
fails.
"""
MEMORY_BYTES: Final = 6 << 30
"""Largest memory of all processes together, including the files that they write, which are in a
tmpfs. Usual: 1.5 GiB. Above the limit, the kernel kills a process, and the build fails."""
DISK_BYTES: Final = 3 << 30
"""Largest size of the data written to the tree. Usual: 0.7 GiB, for linking with DWARF. Above the
limit, a write fails with ENOSPC."""
SCRATCH_BYTES: Final = 256 << 20
"""Size of /tmp. Usual: 5 MiB."""
FILES: Final = 100_000
"""Largest number of new or changed files in the tree. Usual: 200, or 4,000 after a change to a
header.
"""
FILE_BYTES: Final = 1 << 30
"""Size of the largest file that the build may write. Usual: 320 MB (vmlinux.o with DWARF)."""
PROCESSES: Final = 256
"""Largest number of processes and threads at the same time. Usual: 20."""
DESCRIPTORS: Final = 1024
"""Largest number of open file descriptors of each process. Usual: 20."""
OUTPUT_BYTES: Final = 8 << 20
"""Largest size of the output of make and its programs. Usual: 3 KB, or 120 KB for a whole kernel.
Above the limit, the build is ended."""
LINE_CHARACTERS: Final = 2000
"""Maximum length of one output line. The rest of a longer line is cut off."""
TAIL_LINES: Final = 60
"""Number of lines at the end of the output that an error shows."""
RESULT_BYTES: Final = 1 << 30
"""Largest size of one result file. Usual: 7 MB for bzImage, 80 MB for vmlinux."""
PROBE_S: Final = 120.0
"""Timeout of the probe build; it allows for a busy machine. Usual: 0.4 s."""


@dataclass(frozen=True, slots=True)
class BoxLimits:
    """Limits of one build. The constants above describe each limit."""

    wall_s: float = WALL_S
    cpu_s: int = CPU_S
    process_bytes: int = PROCESS_BYTES
    memory_bytes: int = MEMORY_BYTES
    disk_bytes: int = DISK_BYTES
    scratch_bytes: int = SCRATCH_BYTES
    files: int = FILES
    file_bytes: int = FILE_BYTES
    processes: int = PROCESSES
    output_bytes: int = OUTPUT_BYTES

    def budget(self) -> Budget:
        return Budget(self.memory_bytes, self.processes)


# Request and report of a box, which the server and the helper process exchange as JSON.


@dataclass(frozen=True, slots=True)
class Step:
    """One program of a job. The next step starts only if this program exits with 0.

    Args:
        name: name that errors show, such as "patch" or "make".
        words: the command line.
    """

    name: str
    words: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Job:
    """Programs that run in a box on one folder. Outside the box, the folder stays unchanged.

    Args:
        tree: absolute path of the folder. The box shows it at the same path, writable.
        files: name -> content; the box shows them as INPUTS/name, read-only.
        readable: absolute paths of other folders, such as ccache's, which the box shows read-only
            at the same paths.
        environment: all environment variables of the programs.
        results: files that are copied out if all steps exit with 0.
    """

    tree: str
    steps: tuple[Step, ...]
    files: Mapping[str, str] = field(default_factory=dict)
    readable: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    results: tuple[Wanted, ...] = ()


INPUTS = "/inputs"


@dataclass(frozen=True, slots=True)
class Order:
    """A job, with all settings that the helper needs to run the job.

    Args:
        scratch: an empty folder that every user may traverse.
        uid: user id for the processes of the box; None for the helper's user.
        groups: `cgroup.procs` files that the first process of the box writes its pid to.
    """

    job: Job
    limits: BoxLimits
    scratch: str
    uid: int | None
    groups: tuple[str, ...] = ()

    def text(self) -> str:
        return json.dumps(asdict(self))


def parse_order(text: str) -> Order:
    """Parse the output of `Order.text`."""
    data = json.loads(text)
    job = data["job"]
    job["steps"] = tuple(Step(one["name"], tuple(one["words"])) for one in job["steps"])
    job["results"] = tuple(Wanted(**one) for one in job["results"])
    return Order(
        Job(**job), BoxLimits(**data["limits"]), data["scratch"], data["uid"], tuple(data["groups"])
    )


@dataclass(frozen=True, slots=True)
class Report:
    """Final report of the helper.

    Args:
        failed: name of the step that did not exit with 0; '' if there is none.
        code: exit code of that step; negative for a signal.
        broken: why the box could not be created; '' if it was created.
        bad_result: why a result was rejected; '' if no result was rejected.
        written_bytes: bytes written to the tree.
        sizes: result name -> size in bytes.
    """

    failed: str = ""
    code: int = 0
    broken: str = ""
    bad_result: str = ""
    written_bytes: int = 0
    sizes: Mapping[str, int] = field(default_factory=dict)

    def text(self) -> str:
        return json.dumps(asdict(self))


def parse_report(text: str) -> Report:
    """Parse the output of `Report.text`."""
    return Report(**json.loads(text))


REMEDY = "Make the change smaller, or check what it makes the build do."


class NoBox(InfraError):
    """This machine cannot create a box."""

    code = "no-sandbox"


class BoxEnded(InputError):
    """The build exceeded a limit, or its result was rejected."""

    code = "build-ended"


class BoxStopped(InputError):
    """The caller cancelled the build."""

    code = "build-stopped"


@dataclass(frozen=True, slots=True)
class Outcome:
    """Outcome of a job.

    Args:
        failed: name of the step that failed; '' if all results were copied.
        code: exit code of that step; negative for a signal.
        tail: the last lines of the output.
        weaker: one sentence for each limit that this machine cannot enforce.
    """

    failed: str
    code: int
    tail: str
    seconds: float
    written_bytes: int
    weaker: tuple[str, ...] = ()


def run_boxed(
    job: Job,
    limits: BoxLimits | None = None,
    *,
    on_line: Callable[[str], None] = lambda line: None,
    stop: threading.Event | None = None,
) -> Outcome:
    """Run a job in a box and block until it ends.

    When this function returns or raises, all processes of the job have ended.

    Args:
        on_line: called with each line of output, cut to LINE_CHARACTERS.
        stop: cancels the job when set.

    Raises:
        NoBox: the box could not be created.
        BoxEnded: the job exceeded a limit, or a result was rejected. No result is then copied.
        BoxStopped: `stop` was set.
    """
    limits = limits or BoxLimits()
    scratch = Path(tempfile.mkdtemp(prefix="duet-box-"))
    scratch.chmod(0o711)  # the box's user must be able to traverse this folder
    try:
        with Identity() as who, Group(limits.budget()) as group:
            order = Order(job, limits, str(scratch), who.uid, tuple(group.procs_files()))
            return _Follower(order, group, on_line, stop).outcome()
    except BaseException:
        for wanted in job.results:
            Path(wanted.to).unlink(missing_ok=True)
        raise
    finally:
        scratch.rmdir()


@dataclass
class _Follower:
    order: Order
    group: Group
    on_line: Callable[[str], None]
    stop: threading.Event | None
    began: float = field(default_factory=time.monotonic)
    seen: int = 0
    tail: list[str] = field(default_factory=list)

    def outcome(self) -> Outcome:
        reading, writing = os.pipe()
        process = _start(writing)
        os.close(writing)
        try:
            assert process.stdin is not None
            process.stdin.write(self.order.text().encode())
            process.stdin.close()
            self._follow(process)
            process.wait(STOP_S)
            said = _read_all(reading)
        finally:
            os.close(reading)
            _end(process)
        return self._result(parse_report(said) if said else Report(broken="its helper has ended"))

    def _follow(self, process: subprocess.Popen[bytes]) -> None:
        assert process.stdout is not None
        pending = b""
        limits = self.order.limits
        while True:
            if self.stop is not None and self.stop.is_set():
                raise BoxStopped("the build was stopped.", remedy="Start it again.")
            if time.monotonic() - self.began > limits.wall_s:
                raise self._ended(f"the build ran for more than {limits.wall_s:g} s")
            if not select.select([process.stdout], [], [], 0.1)[0]:
                continue
            chunk = os.read(process.stdout.fileno(), 65536)
            self.seen += len(chunk)
            if self.seen > limits.output_bytes:
                raise self._ended(f"the build printed more than {limits.output_bytes:,} bytes")
            *lines, pending = (pending + chunk).split(b"\n")
            pending = pending[:LINE_CHARACTERS]
            for raw in lines if chunk else [pending] if pending else []:
                self._line(raw[:LINE_CHARACTERS].decode(errors="replace"))
            if not chunk:
                return

    def _line(self, line: str) -> None:
        self.tail = [*self.tail[1 - TAIL_LINES :], line]
        self.on_line(line)

    def _ended(self, what: str) -> BoxEnded:
        return BoxEnded(f"{what}, and was ended.", remedy=REMEDY, detail="\n".join(self.tail))

    def _result(self, report: Report) -> Outcome:
        tail = "\n".join(self.tail)
        if report.broken:
            raise NoBox(
                f"this machine cannot create a sandbox for builds: {report.broken}.",
                remedy="Run `duet doctor`, which lists what a sandbox needs.",
                detail=tail,
            )
        if report.bad_result:
            raise BoxEnded(
                f"the build ended, but its result was rejected: {report.bad_result}.",
                remedy=REMEDY,
                detail=tail,
            )
        if report.failed and self.group.killed_for_memory():
            raise self._ended(
                f"the build used more than {self.order.limits.memory_bytes >> 20} MiB of memory"
            )
        return Outcome(
            failed=report.failed,
            code=report.code,
            tail=tail,
            seconds=time.monotonic() - self.began,
            written_bytes=report.written_bytes,
            weaker=tuple(self.group.missing),
        )


def _start(report: int) -> subprocess.Popen[bytes]:
    package = Path(__file__).resolve().parents[2]
    words = [sys.executable, "-m", "duet.confine.box_helper", str(report)]
    setpriv = shutil.which("setpriv")
    return subprocess.Popen(
        [*([setpriv, "--pdeathsig", "KILL", "--"] if setpriv else []), *words],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        pass_fds=(report,),
        env={"PATH": os.environ.get("PATH", os.defpath), "PYTHONPATH": str(package)},
        start_new_session=True,
    )


def _end(process: subprocess.Popen[bytes]) -> None:
    """Kill the helper, and with it bubblewrap and all processes of the box."""
    if process.poll() is None:
        process.kill()
    process.wait(STOP_S)
    if process.stdout is not None:
        _drain(process)
        process.stdout.close()
    if process.stdin is not None and not process.stdin.closed:
        process.stdin.close()


def _drain(process: subprocess.Popen[bytes]) -> None:
    """Wait until all processes of the box have closed their output, which shows that they ended."""
    assert process.stdout is not None
    until = time.monotonic() + STOP_S
    while time.monotonic() < until:
        if not select.select([process.stdout], [], [], 0.1)[0]:
            continue
        if not os.read(process.stdout.fileno(), 65536):
            return


def _read_all(descriptor: int) -> str:
    parts = []
    while part := os.read(descriptor, 65536):
        parts.append(part)
    return b"".join(parts).decode()


# Run a probe build to find out whether this machine can create a box.

PROGRAMS = {"bwrap": "bubblewrap", "setpriv": "util-linux", "prlimit": "util-linux"}


@cache
def missing_box() -> str:
    """Return the reason why this machine cannot create a box, without a full stop; '' if it can.

    The first call runs a probe build, which takes 0.4 s.
    """
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
    """Return sentences about box limits that this machine cannot enforce; '' if there are none."""
    with Group(BoxLimits().budget()) as group:
        return " ".join(group.missing)


def check_box() -> None:
    """Raise NoBox if this machine cannot create a box."""
    if why := missing_box():
        raise NoBox(
            f"a sandboxed build was requested, but this machine cannot create a sandbox: {why}.",
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
        last = done.tail.splitlines()[-1:] or ["it printed nothing"]
        return f"bubblewrap cannot start a program: {last[0]}"
    if (tree / "a").read_text() != "before\n" or to.read_text() != "after\n":
        return "a write in a box changes the folder outside it"
    return ""
