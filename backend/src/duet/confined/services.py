# SPDX-License-Identifier: GPL-2.0-or-later
"""What children do: the names of their services, and the loop that answers requests.

A service is a class: made without arguments, then one call of `answer` per request. Its module
may have `warm()`, which the zygote calls once; nothing can be imported or opened afterwards.
"""

from __future__ import annotations

import importlib
import pickle
import signal
import traceback
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, Protocol

import msgpack

from duet.confined import messages
from duet.confined.messages import Blob
from duet.errors import DuetError

SERVICES: Final = {
    "lane": "duet.session.engine:LaneEngine",
    "decoder": "duet.decode.service:DecoderService",
    "unpack": "duet.bundle.unpack:UnpackService",
    "vmlinux": "duet.kernels.vmlinux.service:VmlinuxService",
}
"""By name, since the layers below must not import those above."""
REQUEST_BYTES: Final = 1 << 30
TEXT: Final = 2000
"""Characters of each text of an error."""

Answer = tuple[Mapping[str, object], Sequence[Blob]]


class Service(Protocol):
    """Answers one request after the other."""

    def answer(self, request: dict[str, Any], blobs: list[bytearray], fds: Sequence[int]) -> Answer:
        """One reply: a map that msgpack can pack, and blobs.

        Args:
            fds: descriptors that were given to the child when it began.
        """


def load(name: str) -> Callable[[], Service]:
    """The class of a service."""
    module, _, attribute = SERVICES[name].partition(":")
    found: Callable[[], Service] = getattr(importlib.import_module(module), attribute)
    return found


def warm() -> None:
    """Import all services and let them load what they need."""
    for where in SERVICES.values():
        module = importlib.import_module(where.partition(":")[0])
        if prepare := getattr(module, "warm", None):
            prepare()


def serve(service: Service, fd: int, fds: Sequence[int]) -> None:
    """Answer until the owner is gone."""
    read, write = messages.of_descriptor(fd)
    while True:
        try:
            body, blobs = messages.receive(read, REQUEST_BYTES, REQUEST_BYTES)
            request: dict[str, Any] = pickle.loads(body)  # from the server, which is trusted
            # CPU time of this request; beyond it SIGPROF ends the process.
            signal.setitimer(signal.ITIMER_PROF, request.pop("cpu_s"))
            reply, out = _answer(service, request, blobs, fds)
            packed: bytes = msgpack.packb(reply)
            signal.setitimer(signal.ITIMER_PROF, 0)
            messages.send(write, packed, out)
        except (messages.Closed, OSError):
            return
        except MemoryError:
            messages.send(write, msgpack.packb({"died": "memory"}))
            return


class Refusing:
    """In place of a service whose child could not be confined."""

    def __init__(self, error: DuetError) -> None:
        self._error = error

    def answer(self, request: dict[str, Any], blobs: list[bytearray], fds: Sequence[int]) -> Answer:
        """Nothing but why."""
        raise self._error


def _answer(
    service: Service, request: dict[str, Any], blobs: list[bytearray], fds: Sequence[int]
) -> Answer:
    try:
        return service.answer(request, blobs, fds)
    except DuetError as error:
        texts = (error.sentence, error.remedy, error.detail)
        return {"error": [error.exit_code, *(text[:TEXT] for text in texts)]}, ()
    except MemoryError:
        return {"died": "memory"}, ()
    except Exception as error:
        text = "".join(traceback.format_exception(error))
        return {"error": [1, f"{type(error).__name__}: {error}"[:TEXT], "", text[-TEXT:]]}, ()
