# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs one program on a lease's host, and ends it with the lease (`python -m`).

The program arrives as a frame on standard input (frames.py). The runner kills the program and all
its descendants when the program exits, when the pool requests it, when the pipe ends, or when no
heartbeat arrives within the time that the pool set. So no processes are left on a host that loses
its network. SIGALRM enforces the heartbeat's time limit even while the runner is blocked in a
write.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import selectors
import signal
import subprocess
import sys
import time
from functools import partial
from types import FrameType

from duet.base.frames import BadFrame, FrameCutter, pack_frame, write_all
from duet.plugins.cluster.frames import BEAT, ERR, EXIT, OUT, QUIT, START, Start, to_runner
from duet.plugins.cluster.limits import BEAT_S, FRAME_BYTES, SILENT_S, TERM_S
from duet.processes.reaper import PR_SET_CHILD_SUBREAPER, kill_all

FOR_EVERYBODY = ("PATH", "HOME", "USER", "LANG", "TZ", "TMPDIR", "SLURM_JOB_ID", "SLURMD_NODENAME")
"""Variables of the host that a program gets. The server's other variables may hold secrets."""
NO_PROGRAM = 127
"""Exit code for a program that cannot be started. Shells use the same exit code."""
LOST = 137


class Runner:
    """Runs one program, and serves its pipes."""

    def __init__(self, start: Start, frames: FrameCutter) -> None:
        self._start = start
        self._frames = frames
        self._looks = selectors.DefaultSelector()
        self._process: subprocess.Popen[bytes] | None = None
        self._kill_at = float("inf")

    def run(self, also: list[int]) -> int:
        """Run the program, and report its end. Return the exit code that a shell would return.

        Args:
            also: kinds of the frames that arrived in the same read as the program.
        """
        own = {name: os.environ[name] for name in FOR_EVERYBODY if name in os.environ}
        reading, writing = os.pipe()
        try:
            self._process = subprocess.Popen(
                list(self._start.argv),
                stdin=reading,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=own | dict(self._start.env),
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            said = f"{self._start.argv[0]:.1000} cannot be started: {error!s:.1000}\n"
            say(ERR, said.encode())
            say(EXIT, str(NO_PROGRAM).encode())
            return NO_PROGRAM
        finally:
            os.close(reading)
        self._watch(writing)
        for kind in also:
            self._heed(kind)
        self._follow(self._process)
        self._process.kill()  # kill_all() would lose the exit code
        code = self._process.wait()
        kill_all()
        self._drain()
        say(EXIT, str(code).encode())
        return code if code >= 0 else 128 - code

    def _watch(self, stdin: int) -> None:
        assert self._process and self._process.stdout and self._process.stderr
        self._looks.register(0, selectors.EVENT_READ, BEAT)
        self._looks.register(self._process.stdout, selectors.EVENT_READ, OUT)
        self._looks.register(self._process.stderr, selectors.EVENT_READ, ERR)
        os.set_blocking(stdin, False)
        self._looks.register(stdin, selectors.EVENT_WRITE, [self._start.stdin])

    def _follow(self, process: subprocess.Popen[bytes]) -> None:
        """Serve the pipes until the program itself has ended. Its child processes may still run."""
        beat_at = 0.0
        while process.poll() is None:
            now = time.monotonic()
            if now >= beat_at:
                say(BEAT)
                beat_at = now + BEAT_S
            if now >= self._kill_at:
                return
            self._look(0.05)

    def _look(self, within_s: float) -> None:
        for key, _ in self._looks.select(within_s):
            if isinstance(key.data, list):
                self._feed(key.fd, key.data)
            elif key.data == BEAT:
                self._command(os.read(0, FRAME_BYTES))
            elif part := os.read(key.fd, FRAME_BYTES):
                say(key.data, part)
            else:
                self._looks.unregister(key.fileobj)

    def _feed(self, stdin: int, left: list[bytes]) -> None:
        with contextlib.suppress(BlockingIOError):
            try:
                left[0] = left[0][os.write(stdin, left[0][:FRAME_BYTES]) :]
            except BrokenPipeError:
                left[0] = b""
        if not left[0]:
            self._looks.unregister(stdin)
            os.close(stdin)

    def _command(self, read: bytes) -> None:
        if not read:
            leave()
        for kind, _ in self._frames.feed(read):
            self._heed(kind)

    def _heed(self, kind: int) -> None:
        alarm(self._start.silent_s)
        if kind == QUIT and self._kill_at == float("inf"):
            assert self._process is not None
            self._kill_at = time.monotonic() + TERM_S
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGTERM)

    def _drain(self) -> None:
        """Read the pipes to their end, which is reached soon because all writers are dead."""
        until = time.monotonic() + TERM_S
        while time.monotonic() < until and any(
            key.data in (OUT, ERR) for key in self._looks.get_map().values()
        ):
            self._look(0.05)


def say(kind: int, payload: bytes = b"") -> None:
    """Write a frame. Wait if the reader is slow. If the reader is gone, kill all processes."""
    try:
        write_all(partial(os.write, 1), pack_frame(kind, payload))
    except OSError:
        leave()


def alarm(silent_s: float) -> None:
    """Restart the timer that kills all processes if the pool sends no heartbeat in time."""
    signal.setitimer(signal.ITIMER_REAL, silent_s)


def leave(number: int = 0, frame: FrameType | None = None) -> None:
    """Kill the program, its descendants and this process."""
    del number, frame
    kill_all()
    os._exit(LOST)


def read_start(frames: FrameCutter) -> tuple[Start, list[int]]:
    """Read the program from standard input. Also return the kinds of frames that arrived with it.

    Raises:
        BadFrame: the input is invalid.
    """
    while part := os.read(0, FRAME_BYTES):
        found = list(frames.feed(part))
        if found:
            if found[0][0] != START:
                raise BadFrame("the first frame does not describe a program")
            return Start.unpacked(found[0][1]), [kind for kind, _ in found[1:]]
    raise BadFrame("the pipe ended before a program arrived")


def main() -> int:
    """Run the program that standard input describes."""
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGALRM):
        signal.signal(number, leave)
    alarm(SILENT_S)
    try:
        frames = to_runner()
        start, also = read_start(frames)
    except BadFrame as error:
        print(f"error: {error}.", file=sys.stderr)
        return 2
    alarm(start.silent_s)
    return Runner(start, frames).run(also)


if __name__ == "__main__":
    sys.exit(main())
