# SPDX-License-Identifier: GPL-2.0-or-later
"""This process's zygote: started when it is first needed, ended with this process."""

from __future__ import annotations

import atexit
import contextlib
import os
import pickle
import socket
import subprocess
import sys
import threading
from collections.abc import Sequence
from typing import Final

from duet.errors import InfraError
from duet.namespaces import own_pids_words
from duet.sandbox import Limits

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
        program = [sys.executable, "-m", "duet.confined.zygote", str(theirs.fileno())]
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
