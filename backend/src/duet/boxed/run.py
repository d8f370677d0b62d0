# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs a job in a box and follows it: output, time, a request to stop, and what its end means."""

from __future__ import annotations

import os
import select
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from duet.boxed.job import Job, Order, Report, read_report
from duet.boxed.limits import LINE_CHARACTERS, TAIL_LINES, BoxLimits
from duet.control_groups import STOP_S, Group
from duet.errors import InfraError, InputError
from duet.sandbox import Identity

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
    words = [sys.executable, "-m", "duet.boxed.helper", str(report)]
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
