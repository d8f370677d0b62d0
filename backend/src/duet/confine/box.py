# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs a job in a box and follows it: output, time, a request to stop, and what its end means."""

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

# Takes a file out of a box: no link is followed, and size and first bytes are looked at before.

HEAD_BYTES = 1024
_X86_64 = 62


@dataclass(frozen=True, slots=True)
class Wanted:
    """A file that a build makes.

    Args:
        name: relative to the tree.
        to: where it is copied; nothing is there yet.
        kind: "vmlinux" (64-bit ELF of x86), "bzImage", "object" (any ELF) or "text".
        most_bytes: its longest.
    """

    name: str
    to: str
    kind: str
    most_bytes: int


class BadResult(Exception):
    """The sentence says what is wrong with it."""


def take(top: Path, wanted: Wanted) -> int:
    """Copy a result out of the tree at `top`; returns its bytes. All processes must have ended.

    Raises:
        BadResult: it is missing, no plain file, reached by a link, too large, or of another kind.
    """
    source = _open(top, wanted.name)
    try:
        about = os.fstat(source)
        if not stat.S_ISREG(about.st_mode):
            raise BadResult(f"{wanted.name} is no plain file")
        if not 0 < about.st_size <= wanted.most_bytes:
            raise BadResult(
                f"{wanted.name} has {about.st_size:,} bytes, and 1 to {wanted.most_bytes:,} are"
                " taken"
            )
        if not is_kind(os.pread(source, HEAD_BYTES, 0), wanted.kind):
            raise BadResult(f"{wanted.name} does not begin as {_WORDS[wanted.kind]} does")
        left = about.st_size
        with Path(wanted.to).open("xb") as out:
            while left and (sent := os.sendfile(out.fileno(), source, None, left)):
                left -= sent
        return about.st_size
    finally:
        os.close(source)


def is_kind(head: bytes, kind: str) -> bool:
    """Whether a file begins as one of this kind.

    elf(5); Documentation/x86/boot.rst: 0x55AA at 0x1fe and "HdrS" at 0x202.
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
    """A descriptor, part by part, so that no link is followed."""
    *folders, last = name.split("/")
    at = os.open(top, os.O_RDONLY | os.O_DIRECTORY)
    try:
        for part in folders:
            below = os.open(part, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=at)
            os.close(at)
            at = below
        return os.open(last, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=at)
    except OSError as error:
        why = "is missing" if isinstance(error, FileNotFoundError) else "is no plain file"
        raise BadResult(f"{name} {why}") from None
    finally:
        os.close(at)


# What one boxed build may use, with its usual value. Usual: one changed file, on two CPUs.

WALL_S: Final = 600.0
"""From start to end. Usual: 15-30 s, and several minutes for a header that reaches much. Beyond
it the build is ended."""
CPU_S: Final = 300
"""CPU time of each process. Usual: 10 s (the link). Beyond it comes SIGKILL."""
PROCESS_BYTES: Final = 3 << 30
"""Address space of each process. Usual: 0.6 GiB (the link). Beyond it malloc fails."""
MEMORY_BYTES: Final = 6 << 30
"""Of all processes together, with what they write: the tree's changes stand in memory. Usual:
1.5 GiB. Beyond it the kernel ends a process, and the build fails."""
DISK_BYTES: Final = 3 << 30
"""What may be written over the tree. Usual: 0.7 GiB (links with DWARF). Beyond it: no space left on
device."""
SCRATCH_BYTES: Final = 256 << 20
"""Of /tmp. Usual: 5 MiB."""
FILES: Final = 100_000
"""New or changed files of the tree. Usual: 200; after a header 4,000."""
FILE_BYTES: Final = 1 << 30
"""The longest file. Usual: 320 MB (vmlinux.o with DWARF)."""
PROCESSES: Final = 256
"""And threads, at once. Usual: 20."""
DESCRIPTORS: Final = 1024
"""Of each process. Usual: 20."""
OUTPUT_BYTES: Final = 8 << 20
"""What make and its programs print. Usual: 3 KB; 120 KB of a whole kernel. Beyond it the build is
ended."""
LINE_CHARACTERS: Final = 2000
"""Of one line of output; the rest is left out."""
TAIL_LINES: Final = 60
"""Of the output that an error shows."""
RESULT_BYTES: Final = 1 << 30
"""Of one file that is copied out. Usual: 7 MB bzImage, 80 MB vmlinux."""
PROBE_S: Final = 120.0
"""Until the probe has run in a box, on a machine that is busy with other things. Usual: 0.4 s."""


@dataclass(frozen=True, slots=True)
class BoxLimits:
    """The bounds of one build; see the constants."""

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


# What is to be done in a box, and what was done: the JSON between the server and the helper.


@dataclass(frozen=True, slots=True)
class Step:
    """One program; the next starts when it has ended with 0.

    Args:
        name: for sentences: "patch", "make".
    """

    name: str
    words: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Job:
    """Programs over one folder, which stays as it is.

    Args:
        tree: absolute; its place is the same in the box, where it can be written.
        files: name -> content, to be read in the box as INPUTS/name.
        readable: absolute folders that can be read in the box, at their own places (ccache's).
        environment: all of it.
        results: what is copied out when all steps have ended with 0.
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
    """A job with all that the helper needs.

    Args:
        scratch: an empty folder that every user may pass through.
        uid: of the box; None: that of the helper.
        groups: files into which the first process of the box writes its id.
    """

    job: Job
    limits: BoxLimits
    scratch: str
    uid: int | None
    groups: tuple[str, ...] = ()

    def text(self) -> str:
        return json.dumps(asdict(self))


def read_order(text: str) -> Order:
    """The reverse of Order.text()."""
    data = json.loads(text)
    job = data["job"]
    job["steps"] = tuple(Step(one["name"], tuple(one["words"])) for one in job["steps"])
    job["results"] = tuple(Wanted(**one) for one in job["results"])
    return Order(
        Job(**job), BoxLimits(**data["limits"]), data["scratch"], data["uid"], tuple(data["groups"])
    )


@dataclass(frozen=True, slots=True)
class Report:
    """What the helper says at its end.

    Args:
        failed: name of the step that ended otherwise than with 0; "": none.
        code: of that step; negative: the signal.
        broken: why the box itself could not be made, or a result not be taken; "".
        written_bytes: into the tree.
        sizes: name -> bytes of the results.
    """

    failed: str = ""
    code: int = 0
    broken: str = ""
    bad_result: str = ""
    written_bytes: int = 0
    sizes: Mapping[str, int] = field(default_factory=dict)

    def text(self) -> str:
        return json.dumps(asdict(self))


def read_report(text: str) -> Report:
    """The reverse of Report.text()."""
    return Report(**json.loads(text))


REMEDY = "Make the change smaller, or look what it makes the build do."


class NoBox(InfraError):
    """No box can be made on this machine."""

    code = "no-sandbox"


class BoxEnded(InputError):
    """A build used more than it may, or made what is no result, and was ended."""

    code = "build-ended"


class BoxStopped(InputError):
    """The caller asked it to stop."""

    code = "build-stopped"


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a job ended.

    Args:
        failed: name of the step that failed, "" when all results are there.
        code: its exit code; negative: a signal.
        tail: the last lines of the output.
        weaker: what is not limited here, a sentence each.
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
    """Do a job in a box; blocks. All its processes have ended when this returns or raises.

    Args:
        on_line: gets each line of output, cut to LINE_CHARACTERS.

    Raises:
        NoBox: the box could not be made.
        BoxEnded: it exceeded a limit, or a result cannot be taken; nothing is taken then.
        BoxStopped: `stop` was set.
    """
    limits = limits or BoxLimits()
    scratch = Path(tempfile.mkdtemp(prefix="duet-box-"))
    scratch.chmod(0o711)  # the box's user passes through
    try:
        with Identity() as who, Group(limits.budget()) as group:
            order = Order(job, limits, str(scratch), who.uid, tuple(group.joined_by()))
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
        return self._result(read_report(said) if said else Report(broken="its helper has ended"))

    def _follow(self, process: subprocess.Popen[bytes]) -> None:
        assert process.stdout is not None
        pending = b""
        limits = self.order.limits
        while True:
            if self.stop is not None and self.stop.is_set():
                raise BoxStopped("the build was stopped.", remedy="Start it again.")
            if time.monotonic() - self.began > limits.wall_s:
                raise self._ended(f"ran for more than {limits.wall_s:g} s")
            if not select.select([process.stdout], [], [], 0.1)[0]:
                continue
            chunk = os.read(process.stdout.fileno(), 65536)
            self.seen += len(chunk)
            if self.seen > limits.output_bytes:
                raise self._ended(f"printed more than {limits.output_bytes:,} bytes")
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
        return BoxEnded(
            f"the build {what}, and was ended.", remedy=REMEDY, detail="\n".join(self.tail)
        )

    def _result(self, report: Report) -> Outcome:
        tail = "\n".join(self.tail)
        if report.broken:
            raise NoBox(
                f"a sandbox for builds cannot be made here: {report.broken}.",
                remedy="`duet doctor` says what it needs.",
                detail=tail,
            )
        if report.bad_result:
            raise BoxEnded(
                f"the build ended, but its result is not taken: {report.bad_result}.",
                remedy=REMEDY,
                detail=tail,
            )
        if report.failed and self.group.killed_for_memory():
            raise self._ended(
                f"used more than {self.order.limits.memory_bytes >> 20} MiB of memory"
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
    """End the helper; bubblewrap dies with it, and with that all that runs in the box."""
    if process.poll() is None:
        process.kill()
    process.wait(STOP_S)
    if process.stdout is not None:
        _drain(process)
        process.stdout.close()
    if process.stdin is not None and not process.stdin.closed:
        process.stdin.close()


def _drain(process: subprocess.Popen[bytes]) -> None:
    """Wait until the last process of the box has closed the output, so that none is left."""
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


# Whether builds can run in a box on this machine: found out by running one.

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
