# SPDX-License-Identifier: GPL-2.0-or-later
"""Process that forks the sandboxed children: `python -m duet.confine.zygote FD`.

The zygote imports modules once and reads no untrusted bytes. It is a new program, or a copy of a
program that has just started (`become_zygote`). For each child, it receives descriptors over the
control socket: the child's data socket, a status pipe, and the descriptors that the service needs.
The process that holds the read end of the status pipe owns the child. The zygote writes the child's
wait status to this pipe, and kills the child if the pipe has lost its reader. So no child outlives
the server.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import os
import pickle
import select
import signal
import socket
import struct
import sys
import traceback
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any, Final, NoReturn, Protocol

import msgpack

from duet.base.errors import DuetError, as_duet_error
from duet.base.failures import pack_error
from duet.base.frames import Closed
from duet.confine.messages import Blob, receive, send
from duet.confine.namespaces import continue_in_pid_namespace
from duet.confine.sandbox import Limits, enter

# Services that children run, and the loop that answers requests.
#
# A service is a class without constructor arguments, whose method `answer` is called once for each
# request. The module of the class may define `warm()`, which the zygote calls once before it forks
# the service's first child. Children cannot import modules or open files.

SERVICES: Final = {
    "lane": "duet.session.engine:LaneEngine",
    "decoder": "duet.bundle.decoding:DecoderService",
    "unpack": "duet.bundle.reader:UnpackService",
    "vmlinux": "duet.kernels.vmlinux.service:VmlinuxService",
}
"""Service -> module and class. They are strings because this layer must not import higher
layers."""
USUAL: Final = ("lane", "decoder", "unpack")
"""Services of recordings and of live lanes. A zygote imports the others for their first child."""
REQUEST_BYTES: Final = 1 << 30

Answer = tuple[Mapping[str, object], Sequence[Blob]]


class Service(Protocol):
    """Interface of services in children."""

    def answer(self, request: dict[str, Any], blobs: list[bytearray], fds: Sequence[int]) -> Answer:
        """Return a reply: a map that msgpack can pack, and blobs.

        Args:
            fds: descriptors that the child received at its start.
        """


def load(name: str) -> Callable[[], Service]:
    """Import a service's module and return its class."""
    module, _, attribute = SERVICES[name].partition(":")
    found: Callable[[], Service] = getattr(importlib.import_module(module), attribute)
    return found


def warm(services: Iterable[str] | None = None) -> None:
    """Import the modules of services and call their `warm` functions, once for each module.

    A service is left out if its module cannot be imported. For example, a pack has no drgn, which
    only the service for vmlinux needs.

    Args:
        services: names in SERVICES; default: all.
    """
    for name in SERVICES if services is None else services:
        _warm_module(SERVICES[name].partition(":")[0])


@cache
def _warm_module(name: str) -> None:
    try:
        module = importlib.import_module(name)
    except ImportError:
        return
    if prepare := getattr(module, "warm", None):
        prepare()


def serve(service: Service, fd: int, fds: Sequence[int]) -> None:
    """Answer requests until the owner closes the socket."""
    write = partial(os.write, fd)
    while True:
        try:
            body, blobs = receive(lambda part: os.readv(fd, [part]), REQUEST_BYTES, REQUEST_BYTES)
            # Requests are pickled, because they come from the server, which is trusted.
            request: dict[str, Any] = pickle.loads(body)
            # This timer limits the CPU time of the request. At the limit, SIGPROF ends the process.
            signal.setitimer(signal.ITIMER_PROF, request.pop("cpu_s"))
            reply, out = _answer(service, request, blobs, fds)
            packed: bytes = msgpack.packb(reply)
            signal.setitimer(signal.ITIMER_PROF, 0)
            send(write, packed, out)
        except (Closed, OSError):
            return
        except MemoryError:
            send(write, msgpack.packb({"died": "memory"}))
            return


class FailedService:
    """Service of a child that could not be confined. Every request raises the given error."""

    def __init__(self, error: DuetError) -> None:
        self._error = error

    def answer(self, request: dict[str, Any], blobs: list[bytearray], fds: Sequence[int]) -> Answer:
        raise self._error


def _answer(
    service: Service, request: dict[str, Any], blobs: list[bytearray], fds: Sequence[int]
) -> Answer:
    try:
        return service.answer(request, blobs, fds)
    except MemoryError:
        return {"died": "memory"}, ()
    except Exception as error:
        known = as_duet_error(error, "in a child")
        if known is not error:  # nobody reads a child's standard error
            known.detail = "".join(traceback.format_exception(error))
        return {"error": pack_error(known)}, ()


MOST_FDS: Final = 8
ORDER_BYTES: Final = 4096
STATUS: Final = struct.Struct("<i")
"""Format of a wait status, as os.waitpid returns it."""
POLL_MS: Final = 1000


class Zygote:
    """Main loop of the zygote, which forks and reaps children, and kills those without an owner."""

    def __init__(self, control: socket.socket) -> None:
        self._control = control
        self._children: dict[int, int] = {}
        """pid -> write end of the status pipe."""
        self._woken, wake = os.pipe()
        os.set_blocking(wake, False)
        os.set_blocking(self._woken, False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(wake, warn_on_full_buffer=False)

    def run(self) -> None:
        """Fork children until the server closes the socket. All children die with this process."""
        while True:
            poll = select.poll()
            poll.register(self._control, select.POLLIN)
            poll.register(self._woken, select.POLLIN)
            for status in self._children.values():
                poll.register(status, 0)
            ready = dict(poll.poll(POLL_MS))
            if self._woken in ready:
                with contextlib.suppress(BlockingIOError):
                    os.read(self._woken, 4096)
            self._reap()
            for pid, status in self._children.items():
                if ready.get(status, 0) & select.POLLERR:
                    # The pid is still this child's, because the child is not reaped yet.
                    os.kill(pid, signal.SIGKILL)
            if self._control.fileno() in ready and not self._fork_child():
                return

    def _fork_child(self) -> bool:
        try:
            body, fds, _, _ = socket.recv_fds(self._control, ORDER_BYTES, MOST_FDS)
        except OSError:
            return False
        if not body:
            return False
        data, status, *rest = fds
        order = pickle.loads(body)
        warm([order["service"]])
        gc.freeze()  # so that garbage collectors of children do not copy this memory
        pid = os.fork()
        if pid == 0:
            self._run_child(order, data, rest)
        for fd in (data, *rest):
            os.close(fd)
        self._children[pid] = status
        return True

    def _reap(self) -> None:
        while self._children:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if not pid:
                return
            pipe = self._children.pop(pid)
            with contextlib.suppress(OSError):
                os.write(pipe, STATUS.pack(status))
            os.close(pipe)

    def _run_child(self, order: dict[str, object], data: int, rest: list[int]) -> NoReturn:
        """Turn this forked process into a child that runs one service; never returns."""
        code = 1
        try:
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            _close_others({0, 1, 2, data, *rest})
            service = load(str(order["service"]))()
            limits = order["limits"]
            assert isinstance(limits, Limits)
            try:
                enter(limits, shown={})
            except DuetError as error:
                service = FailedService(error)
            serve(service, data, rest)
            code = 0
        finally:
            os._exit(code)


def _close_others(open_fds: set[int]) -> None:
    for entry in list(Path("/proc/self/fd").iterdir()):
        if int(entry.name) not in open_fds:
            with contextlib.suppress(OSError):
                os.close(int(entry.name))


def main() -> int:
    control = socket.socket(fileno=int(sys.argv[1]))
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    warm(USUAL)
    gc.collect()
    Zygote(control).run()
    return 0


def become_zygote(control: socket.socket) -> NoReturn:
    """Turn this process, a fork of a program without threads, into a zygote; never returns."""
    code = 1
    try:
        os.setsid()  # Ctrl-C must reach only the owner
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        _close_others({0, 1, 2, control.fileno()})
        null = os.open(os.devnull, os.O_RDWR)
        for stream in range(3):
            os.dup2(null, stream)
        continue_in_pid_namespace()
        Zygote(control).run()
        code = 0
    finally:
        os._exit(code)


if __name__ == "__main__":
    sys.exit(main())
