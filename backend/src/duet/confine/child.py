# SPDX-License-Identifier: GPL-2.0-or-later
"""The owner's side of one child: blocking requests with a time limit, and its end."""

from __future__ import annotations

import atexit
import contextlib
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
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from duet.base import budgets
from duet.base.errors import DuetError, InfraError, InputError
from duet.base.failures import unpack_error
from duet.base.frames import BadFrame, Closed
from duet.confine.messages import BODY_BYTES, BadReply, Blob, ReplyReader, receive, send
from duet.confine.namespaces import own_pids_words
from duet.confine.sandbox import Limits
from duet.confine.zygote import STATUS

# This process's zygote: started when it is first needed, ended with this process.

END_S: Final = 5.0
"""For the zygote to end when its socket is closed. Usual: 2 ms."""
ENVIRONMENT: Final = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
"""A process with threads must not fork."""
REMEDY: Final = "Check memory and the number of processes, then try again."


class _Zygote:
    """One zygote and its socket; safe between threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._control: socket.socket | None = None
        self._owner = 0

    def start(self) -> None:
        with self._lock:
            self._started()

    def order(self, service: str, limits: Limits, fds: Sequence[int]) -> None:
        """Fork a child that takes these descriptors: data socket, status pipe, others."""
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
            return self._control  # also of the process that this one was forked from
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        program = [sys.executable, "-m", "duet.confine.zygote", str(theirs.fileno())]
        words = [*own_pids_words(), *program]
        quiet = subprocess.DEVNULL
        try:
            self._process = subprocess.Popen(
                words,
                stdin=quiet,
                stdout=quiet,
                stderr=quiet,
                pass_fds=(theirs.fileno(),),
                start_new_session=True,  # Ctrl-C is the owner's affair
                env={**os.environ, **ENVIRONMENT},
            )
        except OSError as error:
            ours.close()
            raise _refused(error) from error
        finally:
            theirs.close()
        with contextlib.suppress(RuntimeError):  # no thread can be had: the next order reaps it
            threading.Thread(target=self._process.wait, name="zygote", daemon=True).start()
        self._control, self._owner = ours, os.getpid()
        atexit.register(self.end)
        return ours

    def end(self) -> None:
        with self._lock:
            self._end()

    def _end(self) -> None:
        """The zygote ends when its socket closes, and its children with it."""
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


def start() -> None:
    """Start the zygote now, so that the first child does not wait for it. Returns at once.

    Raises:
        InfraError: no process can be started.
    """
    ZYGOTE.start()


# What a child may use, and for whose sake it runs.

LATER: Final = "Get the file anew, or record it again."


@dataclass(frozen=True, slots=True)
class Terms:
    """Bounds of one child.

    Args:
        subject: begins the sentence about its end, as in "the events of lane srcu".
        blame: the kind of error that this sentence is.
        memory_bytes: of its address space.
        cpu_s: CPU time of its whole life.
        request_cpu_s: CPU time of one request.
        wait_s: from a request to its whole reply.
        reply_bytes: of one reply.
        file_bytes: the longest file it may write.
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
"""From the end of a child's socket to its wait status. Usual: 1 ms."""
FILES: Final = 32


class Child:
    """A child of one service. `close` ends it; so does the end of this object or process.

    One request at a time; other threads wait for their turn. After an error that the child did
    not report by itself it is closed, and every further request raises the same error.

    Args:
        service: see confine.zygote.
        fds: descriptors that the child gets; they stay the caller's to close.
    """

    def __init__(self, service: str, terms: Terms, fds: Sequence[int] = ()) -> None:
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
                f"no child process can be had: {error}.",
                remedy="Close other programs, or raise the limit of open files (ulimit -n).",
            ) from error
        self._status = status
        self._end = weakref.finalize(self, _close, self._socket, status)
        try:
            ZYGOTE.order(service, limits, (theirs.fileno(), written, *fds))
        except DuetError:
            self._end()
            raise
        finally:
            theirs.close()
            os.close(written)

    @property
    def usable(self) -> bool:
        """Whether it may still answer; afterwards every request raises the same error."""
        return self._broken is None

    def close(self) -> None:
        """End the child now, whatever it does; a request that waits for it raises. Returns soon."""
        if self._broken is None:
            self._broken = self._ended("it was ended from here")
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        if self._turn.acquire(blocking=False):  # else the thread whose turn it is does the rest
            self._end()
            self._turn.release()

    def call(
        self, request: dict[str, object], blobs: Sequence[Blob] = (), *, turn_s: float | None = None
    ) -> ReplyReader:
        """One request and its reply.

        Args:
            turn_s: so long it may wait for requests of other threads.

        Raises:
            DuetError: what the child reports, or one sentence about its end.
        """
        terms = self._terms
        if not self._turn.acquire(timeout=terms.wait_s if turn_s is None else turn_s):
            raise self._ended("it is busy")
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
                raise self._break(f"its decoder sent something odd ({error})") from error
            if reply.tree.get("died") == "memory":
                raise self._break(_memory(terms))
            if (found := reply.tree.get("error")) is not None:
                raise self._reported(found)
            return reply
        finally:
            self._turn.release()

    def bad_reply(self, what: object) -> DuetError:
        """The child is closed, since a reply made no sense to whoever asked; the error to raise."""
        with self._turn:
            return self._break(f"its decoder sent something odd ({what})")

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
        # A child that had no memory for the request has said so, and is gone.
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            send(lambda part: patient().send(part), body, blobs)
        return ReplyReader.unpack(
            *receive(lambda part: patient().recv_into(part), BODY_BYTES, terms.reply_bytes)
        )

    def _reported(self, found: object) -> DuetError:
        """The error of a reply; one that nobody foresaw is the end of the child."""
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
            return "its decoder is gone"
        (status,) = STATUS.unpack(packed)
        if not os.WIFSIGNALED(status):
            return f"its decoder ended with status {os.waitstatus_to_exitcode(status)}"
        number = os.WTERMSIG(status)
        if number == signal.SIGPROF:
            return f"one step took more than {self._terms.request_cpu_s:g} s of CPU time"
        if number in (signal.SIGXCPU, signal.SIGKILL):
            return f"it took more than {self._terms.cpu_s} s of CPU time, or was killed"
        return f"its decoder crashed ({signal.Signals(number).name})"


def _late(terms: Terms) -> str:
    return f"one step took longer than {terms.wait_s:g} s"


def _memory(terms: Terms) -> str:
    return f"it needs more than {terms.memory_bytes >> 20} MiB of memory"


def _close(data: socket.socket, status: int) -> None:
    """Without a reader of its status the zygote kills the child."""
    data.close()
    os.close(status)
