# SPDX-License-Identifier: GPL-2.0-or-later
"""A program in a pod of a lease."""

from __future__ import annotations

import asyncio

from duet.base.errors import InfraError
from duet.pools.frames import Start
from duet.pools.kubernetes.kubectl import Kubectl, exit_code, lacked_memory
from duet.pools.kubernetes.manifest import Tree, lane_name, secret
from duet.pools.limits import LOG_BYTES
from duet.pools.program import Tail
from duet.pools.types import Ended, Watched


class PodProgram:
    """See types.Program. Standard error comes with the output: logs do not tell them apart.

    Args:
        name: of the lease.
        job_uid: of the lane's Job.
    """

    def __init__(
        self, kubectl: Kubectl, name: str, lane: int, job_uid: str, start: Start, watched: Watched
    ) -> None:
        self._kubectl, self._name, self._lane = kubectl, name, lane
        self._job_uid, self._start, self._watched = job_uid, start, watched
        self._ended: asyncio.Future[Ended] = asyncio.get_running_loop().create_future()
        self._begun = self._ending = False

    @property
    def running(self) -> bool:
        """See types.Program."""
        return self._begun and not self._ended.done()

    @property
    def watched(self) -> bool:
        """What befalls its pod is news: it goes on, and is not being ended here."""
        return self.running and not self._ending

    async def begin(self) -> None:
        """See types.Program."""
        done = await self._kubectl.create(
            secret(self._name, self._lane, self._start, self._job_uid)
        )
        if done.code:
            raise InfraError(
                f"a lane on Kubernetes takes no program: {done.why}.",
                remedy="Reserve another lease; look whether secrets may be made there.",
            )
        self._begun = True

    async def wait(self) -> Ended:
        """See types.Program."""
        return await asyncio.shield(self._ended)

    async def seen(self, pod: Tree | None) -> None:
        """The lease's watch has looked.

        Args:
            pod: None: it is gone.
        """
        if not self.watched:
            return
        code = exit_code(pod) if pod is not None else None
        if pod is not None and lacked_memory(pod):
            self._finish(None, "the program used up the memory of its lane.", await self._logs())
        elif code is not None:
            self._finish(code, "", await self._logs())
        elif pod is None:
            loss = await self._watched.why_over()
            self._finish(None, loss.sentence if loss else "the program's pod is gone.", Tail())

    async def end(self, lost: str = "") -> None:
        """See types.Program. The pod goes with it, and so does the lane."""
        if not self.watched:
            return
        self._ending = True
        output = await self._logs()
        job = lane_name(self._name, self._lane)
        await self._kubectl.call("delete", "job", job, "--ignore-not-found", "--wait=false")
        self._finish(None, lost or "the program was ended.", output)

    async def _logs(self) -> Tail:
        job = f"job/{lane_name(self._name, self._lane)}"
        done = await self._kubectl.call("logs", job, f"--limit-bytes={LOG_BYTES}")
        tail = Tail()
        tail.feed(done.out.encode() if done.code == 0 else b"")
        return tail

    def _finish(self, code: int | None, lost: str, output: Tail) -> None:
        if not self._ended.done():
            held = bytes(output.held)
            self._ended.set_result(Ended(code, lost, held, b"", output.cut_bytes))
