# SPDX-License-Identifier: GPL-2.0-or-later
"""The owner's interface to a sandboxed child: blocking requests with a timeout, and shutdown."""

from __future__ import annotations

import atexit
import contextlib
import gc
import os
import pickle
import select
import signal
import socket
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from duet.base import budgets
from duet.base.errors import DuetError, InfraError, InputError
from duet.base.failures import unpack_error
from duet.base.frames import BadFrame, Closed
from duet.confine.messages import BODY_BYTES, BadReply, Blob, ReplyReader, receive, send
from duet.confine.namespaces import pid_namespace_prefix
from duet.confine.sandbox import Limits
from duet.confine.zygote import STATUS, USUAL, become_zygote, warm

# The zygote of this process starts on first use, and ends when this process exits.

POLL_S: Final = 0.001
END_S: Final = 5.0
"""Timeout for the zygote to exit after its socket is closed. Usual: 2 ms."""
ENVIRONMENT: Final = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
"""Environment that keeps numpy's libraries from starting threads, because a process that forks must
not have threads."""
REMEDY: Final = "Check memory and the number of processes, then try again."


class _Fork:
    """A fork of this process, with the methods of Popen that its owner needs."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self._over = False

    def wait(self, timeout: float | None = None) -> None:
        """Wait until the process has ended. Several threads may wait.

        Raises:
            TimeoutExpired: the process still runs after `timeout` seconds.
        """
        end = None if timeout is None else time.monotonic() + timeout
        while not self._over:
            try:
                self._over = os.waitpid(self.pid, os.WNOHANG if end else 0)[0] != 0
            except ChildProcessError:  # another thread has waited for it
                self._over = True
            if end is not None and not self._over:
                if time.monotonic() > end:
                    raise subprocess.TimeoutExpired("zygote", timeout or 0)
                time.sleep(POLL_S)

    def kill(self) -> None:
        if not self._over:
            os.kill(self.pid, signal.SIGKILL)


class _Zygote:
    """The zygote process and its control socket; thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | _Fork | None = None
        self._control: socket.socket | None = None
        self._owner = 0

    def start(self) -> None:
        with self._lock:
            self._started()

    def fork(self, services: Iterable[str]) -> None:
        with self._lock:
            if self._control is not None:
                return
            if len(os.listdir("/proc/self/task")) > 1:  # noqa: PTH208, as Path would take longer
                self._started()
                return
            warm(services)
            gc.freeze()  # so that neither copy's garbage collector copies the shared memory
            ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            try:
                pid = os.fork()
                if pid == 0:
                    become_zygote(theirs)
            except OSError as error:
                ours.close()
                raise _refused(error) from error
            finally:
                theirs.close()
            self._adopt(ours, _Fork(pid))

    def fork_child(self, service: str, limits: Limits, fds: Sequence[int]) -> None:
        """Make the zygote fork a child.

        Args:
            fds: the data socket and the status pipe, followed by the descriptors that the service
                needs.

        Raises:
            InfraError: no process can be started.
        """
        body = pickle.dumps({"service": service, "limits": limits})
        with self._lock:
            for last in (False, True):
                control = self._started()
                try:
                    socket.send_fds(control, [body], list(fds))
                    return
                except OSError as error:
                    self._end()
                    if last:
                        raise _refused(error) from error

    def _started(self) -> socket.socket:
        if self._control is not None:
            return self._control  # after a fork this may be the parent process's zygote
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        program = [sys.executable, "-m", "duet.confine.zygote", str(theirs.fileno())]
        words = [*pid_namespace_prefix(), *program]
        quiet = subprocess.DEVNULL
        try:
            process = subprocess.Popen(
                words,
                stdin=quiet,
                stdout=quiet,
                stderr=quiet,
                pass_fds=(theirs.fileno(),),
                # Ctrl-C must reach only the owner
                start_new_session=True,
                env={**os.environ, **ENVIRONMENT},
            )
        except OSError as error:
            ours.close()
            raise _refused(error) from error
        finally:
            theirs.close()
        self._adopt(ours, process)
        return ours

    def _adopt(self, control: socket.socket, process: subprocess.Popen[bytes] | _Fork) -> None:
        # If no thread can start, the zygote stays a zombie until a later fork reaps it
        with contextlib.suppress(RuntimeError):
            threading.Thread(target=process.wait, name="zygote", daemon=True).start()
        self._process, self._control, self._owner = process, control, os.getpid()
        atexit.register(self.end)

    def end(self) -> None:
        with self._lock:
            self._end()

    def _end(self) -> None:
        """Close the socket, which ends the zygote and its children."""
        control, process = self._control, self._process
        self._control = self._process = None
        if control is not None:
            control.close()
        if process is None or self._owner != os.getpid():
            return
        try:
            process.wait(END_S)
        except subprocess.TimeoutExpired:
            process.kill()
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(END_S)


def _refused(error: OSError) -> InfraError:
    return InfraError(f"a child process cannot be started: {error}.", remedy=REMEDY)


ZYGOTE: Final = _Zygote()


def fork(services: Iterable[str] = USUAL) -> None:
    """Turn a copy of this process into the zygote, after importing the modules of `services`.

    A program calls this at its start, because children can read all memory that the program has
    now. If the program already has threads, the zygote is started as `start` does it. If no process
    can be started, the first child tries again.
    """
    with contextlib.suppress(InfraError):
        ZYGOTE.fork(services)


def start() -> None:
    """Start the zygote now, so that the first child starts faster. Does not block.

    Raises:
        InfraError: no process can be started.
    """
    ZYGOTE.start()


# Limits of a child, and error messages about exceeded limits.

LATER: Final = "Get the file anew, or record it again."


@dataclass(frozen=True, slots=True)
class ChildLimits:
    """Limits of one child, and the error to raise when it ends.

    Args:
        subject: the start of the error's text, such as "the events of lane srcu".
        blame: type of the error.
        remedy: remedy that the error shows.
        memory_bytes: address space.
        cpu_s: CPU time over the child's whole life.
        request_cpu_s: CPU time of one request.
        wait_s: timeout from a request to its complete reply.
        reply_bytes: size of one reply.
        file_bytes: size of the largest file that the child may write.
    """

    subject: str
    blame: type[DuetError] = InputError
    remedy: str = LATER
    memory_bytes: int = budgets.CHILD_MEMORY_BYTES
    cpu_s: int = budgets.RECORDING_CPU_S
    request_cpu_s: float = budgets.REQUEST_CPU_S
    wait_s: float = budgets.REQUEST_WAIT_S
    reply_bytes: int = budgets.REPLY_BYTES
    file_bytes: int = 0


STATUS_S: Final = 5.0
"""Timeout for a child's wait status after its socket has closed. Usual: 1 ms."""
FILES: Final = 32
"""Largest number of open file descriptors of a child."""


class Child:
    """Child process that runs one service. Thread-safe; handles one request at a time.

    `close`, garbage collection of this object and the end of this process all end the child. If a
    request fails with an error that the child did not report, the child is closed. Every later
    request then raises the same error.

    Args:
        service: a name in `SERVICES` of confine.zygote.
        fds: descriptors that the child inherits; the caller must still close its own copies.

    Raises:
        InfraError: no process or descriptor is available.
    """

    def __init__(self, service: str, terms: ChildLimits, fds: Sequence[int] = ()) -> None:
        self._terms = terms
        self._turn = threading.Lock()
        self._broken: DuetError | None = None
        limits = Limits(
            memory_bytes=terms.memory_bytes,
            cpu_s=terms.cpu_s,
            files=FILES,
            file_bytes=terms.file_bytes,
        )
        try:
            self._socket, theirs = socket.socketpair()
            status, written = os.pipe()
        except OSError as error:
            raise InfraError(
                f"a child process cannot be created: {error}.",
                remedy="Close other programs, or raise the limit of open files (ulimit -n).",
            ) from error
        self._status = status
        self._end = weakref.finalize(self, _close, self._socket, status)
        try:
            ZYGOTE.fork_child(service, limits, (theirs.fileno(), written, *fds))
        except DuetError:
            self._end()
            raise
        finally:
            theirs.close()
            os.close(written)

    @property
    def usable(self) -> bool:
        """Whether the child still answers. If False, every request raises the same error."""
        return self._broken is None

    def close(self) -> None:
        """End the child immediately, without blocking. A request in progress raises an error."""
        if self._broken is None:
            self._broken = self._ended("the request was cancelled")
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        # If another thread is in `call`, that thread ends the child.
        if self._turn.acquire(blocking=False):
            self._end()
            self._turn.release()

    def call(
        self, request: dict[str, object], blobs: Sequence[Blob] = (), *, turn_s: float | None = None
    ) -> ReplyReader:
        """Send a request and block until its reply arrives.

        Args:
            turn_s: timeout for requests of other threads that must finish first; default: wait_s.

        Raises:
            DuetError: an error that the child reports, or the reason why it ended.
        """
        terms = self._terms
        if not self._turn.acquire(timeout=terms.wait_s if turn_s is None else turn_s):
            raise self._ended("its decoder is busy with another request")
        try:
            if self._broken is not None:
                raise self._broken
            try:
                reply = self._exchange(request, blobs)
            except (Closed, OSError) as error:
                late, closed = isinstance(error, TimeoutError), self._broken is not None
                raise self._break(
                    "" if closed else _late(terms) if late else self._why()
                ) from error
            except (BadFrame, BadReply) as error:
                raise self._break(f"its decoder sent an invalid reply ({error})") from error
            if reply.tree.get("died") == "memory":
                raise self._break(_memory(terms))
            if (found := reply.tree.get("error")) is not None:
                raise self._reported(found)
            return reply
        finally:
            self._turn.release()

    def reject_reply(self, what: object) -> DuetError:
        """Close the child because the caller cannot use its reply; return the error to raise."""
        with self._turn:
            return self._break(f"its decoder sent an invalid reply ({what})")

    def _exchange(self, request: dict[str, object], blobs: Sequence[Blob]) -> ReplyReader:
        terms = self._terms
        deadline = time.monotonic() + terms.wait_s

        def patient() -> socket.socket:
            left = deadline - time.monotonic()
            if left <= 0:
                raise TimeoutError
            self._socket.settimeout(left)
            return self._socket

        body = pickle.dumps({**request, "cpu_s": terms.request_cpu_s})
        # If the child has exited, sending fails. Read its reply, which can report lack of memory.
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            send(lambda part: patient().send(part), body, blobs)
        return ReplyReader.unpack(
            *receive(lambda part: patient().recv_into(part), BODY_BYTES, terms.reply_bytes)
        )

    def _reported(self, found: object) -> DuetError:
        """Return the error in a reply; close the child if the error is unexpected."""
        said = unpack_error(found)
        if said is None or type(said) is DuetError:
            detail = f"{found!a:.4000}" if said is None else f"{said}\n{said.detail}"
            return self._break("its decoder failed", detail)
        return said

    def _break(self, why: str, detail: str = "") -> DuetError:
        if self._broken is None:
            self._broken = self._ended(why, detail)
        self._end()
        return self._broken

    def _ended(self, why: str, detail: str = "") -> DuetError:
        terms = self._terms
        sentence = f"{terms.subject} cannot be read: {why}."
        return terms.blame(sentence, remedy=terms.remedy, detail=detail)

    def _why(self) -> str:
        packed = b""
        with contextlib.suppress(OSError, ValueError):
            if select.select([self._status], [], [], STATUS_S)[0]:
                packed = os.read(self._status, STATUS.size)
        if len(packed) != STATUS.size:
            return "its decoder has ended"
        (status,) = STATUS.unpack(packed)
        if not os.WIFSIGNALED(status):
            return f"its decoder ended with status {os.waitstatus_to_exitcode(status)}"
        number = os.WTERMSIG(status)
        if number == signal.SIGPROF:
            return f"one step took more than {self._terms.request_cpu_s:g} s of CPU time"
        if number in (signal.SIGXCPU, signal.SIGKILL):
            return f"it took more than {self._terms.cpu_s} s of CPU time, or was killed"
        return f"its decoder crashed ({signal.Signals(number).name})"


def _late(terms: ChildLimits) -> str:
    return f"one step took longer than {terms.wait_s:g} s"


def _memory(terms: ChildLimits) -> str:
    return f"it needs more than {terms.memory_bytes >> 20} MiB of memory"


def _close(data: socket.socket, status: int) -> None:
    """Close socket and status pipe. The zygote kills a child whose status pipe has no reader."""
    data.close()
    os.close(status)
