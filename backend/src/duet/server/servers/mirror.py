# SPDX-License-Identifier: GPL-2.0-or-later
"""A live run of another server, as this one shows it."""

from __future__ import annotations

import asyncio
from pathlib import Path

import msgpack
from pydantic import JsonValue, ValidationError

from duet import messages as m
from duet.base.errors import DuetError, InfraError
from duet.host.requests import SEQ_BYTES, read_packet
from duet.lessons.own import are_changed
from duet.messages.codec import Packet, pack
from duet.stream.hub import OVER, Hub, RunLog

WHERE = "this run goes on at another server"
REMEDY = "Wait until it is over and saved; then every server has all of it."


class Mirror:
    """See Run (interfaces.py).

    Attributes:
        begun: set once it can be shown, or `trouble` says why not.
        over: nothing more comes.
        broken: something is missing, since its server was gone before.
    """

    def __init__(self, run_id: str, hub: Hub) -> None:
        self.log = RunLog(run_id, run_id.split(":")[1])
        self.begun = asyncio.Event()
        self.over = self.broken = False
        self.trouble: DuetError | None = None
        self._hub = hub
        self._first: m.Run | None = None
        self._newest: m.Run | None = None

    def take(self, travelled: bytes) -> None:
        """A message of the run has come.

        Raises:
            InfraError: it is none, or the run cannot be shown here.
        """
        body = travelled[SEQ_BYTES:]
        try:
            kind = msgpack.unpackb(body)["type"]
            if kind in ("gap", "error"):
                packet = self._said(kind, body)
            else:
                packet = self._of_run(kind, travelled, body)
        except (ValueError, TypeError, KeyError, ValidationError) as error:
            raise InfraError(
                "another server sent a message that is none of its run.",
                remedy="Use the same version of Kernel Duet on both.",
            ) from error
        self._hub.publish(self.log, packet)
        self.begun.set()

    @property
    def goes_on(self) -> bool:
        """Whether the run is not over, as far as is known here."""
        return not self.over and (self._newest is None or self._newest.phase not in OVER)

    def whole(self) -> None:
        """All of it has come, if the run is over."""
        self.over = self._newest is not None and self._newest.phase in OVER

    def broke(self, error: DuetError) -> None:
        """Nothing more comes, and something is missing, unless all of it has come."""
        if self.over:
            return
        self.over = self.broken = True
        if self._newest is None:
            self.trouble = error
        else:
            failed = {"phase": "failed", "message": f"Its server is gone: {error.sentence}"}
            self._hub.publish(self.log, pack(self._newest.model_copy(update=failed)))
        self.begun.set()

    def _said(self, kind: str, body: bytes) -> Packet:
        tree = msgpack.unpackb(body)
        message = (m.Gap if kind == "gap" else m.ErrorMessage).model_validate(tree)
        return pack(message)

    def _of_run(self, kind: str, travelled: bytes, body: bytes) -> Packet:
        if self._first is None:
            self._first = m.Run.model_validate(msgpack.unpackb(body))
            if are_changed(self._first.arms):
                raise InfraError(f"{WHERE}, and has a changed patch.", remedy=REMEDY)
        message, packet = read_packet(travelled, self._first)
        if isinstance(message, m.Run):
            self._newest = message
        return packet

    # What only the other server can do

    async def perform(self) -> None:
        """It is performed elsewhere."""

    async def stop(self) -> None:
        """See Run."""
        raise self._elsewhere()

    async def act(self, name: str, value: int) -> None:
        """See Run."""
        raise self._elsewhere()

    async def hold(self, on: bool, after: int) -> None:
        """See Run."""
        raise self._elsewhere()

    def raw_events(
        self, arm: str, around_ns: float, row: int | None, n: int, cpu: int | None = None
    ) -> list[dict[str, JsonValue]]:
        """See Run."""
        raise self._elsewhere()

    def bundle(self) -> Path | bytes | None:
        """See Run."""
        return None

    def _elsewhere(self) -> InfraError:
        return InfraError(f"{WHERE}, which alone can do that.", remedy=REMEDY)
