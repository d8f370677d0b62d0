# SPDX-License-Identifier: GPL-2.0-or-later
"""What a lease has of a Kubernetes cluster: Jobs, looked at until they are over."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Sequence

from duet.base.errors import InputError
from duet.pools.commands import Done
from duet.pools.frames import Start
from duet.pools.kubernetes.kubectl import (
    OF_DEADLINE,
    Kubectl,
    host_of,
    is_leaving,
    lane_of,
    past_deadline,
    trouble,
)
from duet.pools.kubernetes.manifest import Tree
from duet.pools.kubernetes.program import PodProgram
from duet.pools.limits import AWAY_S, CANCEL_S, KUBE_POLL_S, RETRY_S, SECRET_BYTES
from duet.pools.types import Loss, Watched

LOG = logging.getLogger("duet.pools")
DEADLINE = Loss("the lease ran into its deadline in Kubernetes.", "deadline")
DELETED = Loss("a pod of the lease is gone: somebody deleted it.", "cancelled")


class PodPlace:
    """See lease.Backing.

    Args:
        uids: of the Jobs of its lanes.
    """

    def __init__(self, kubectl: Kubectl, name: str, uids: Sequence[str]) -> None:
        self._kubectl, self.name, self._uids = kubectl, name, uids
        self._programs: dict[int, PodProgram] = {}
        self._task: asyncio.Task[None] | None = None
        self._lose: Callable[[Loss], None] = lambda loss: None

    def watch(self, lose: Callable[[Loss], None]) -> None:
        """Look at its pods until `give_back`."""
        self._lose = lose
        self._task = asyncio.create_task(self._watch(), name="watch of pods")

    def program(self, lane: int, start: Start, watched: Watched) -> PodProgram:
        """See lease.Backing."""
        at = min(lane, len(self._uids) - 1)  # the lanes of an exclusive lease share a pod
        if at in self._programs:
            raise InputError(
                "a lane of a lease on Kubernetes runs one program, and an exclusive lease one in"
                " all.",
                remedy="Let one program run all arms, or reserve another lease.",
            )
        if (size := len(start.packed())) > SECRET_BYTES:
            raise InputError(
                f"a program on Kubernetes has at most {SECRET_BYTES} bytes of words, environment"
                f" and standard input, since a Secret holds no more, but {size} came.",
                remedy="Give it a file in its image or claim, and its name.",
            )
        made = PodProgram(self._kubectl, self.name, at, self._uids[at], start, watched)
        self._programs[at] = made
        return made

    async def why_over(self) -> Loss | None:
        """See lease.Backing: the watch finds it."""
        return None

    async def give_back(self) -> None:
        """See lease.Backing."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
        await delete_all(self._kubectl, self.name)

    async def _watch(self) -> None:
        answered_s = time.monotonic()
        while True:
            pods = await self._kubectl.get("pods", self.name)
            if isinstance(pods, Done):
                away_s = time.monotonic() - answered_s
                if away_s > AWAY_S:
                    sentence = f"Kubernetes has not answered for {away_s:.0f} s: {pods.why}."
                    self._lose(Loss(sentence, "pool"))
            else:
                answered_s = time.monotonic()
                await self._judge({lane_of(pod): pod for pod in pods})
            await asyncio.sleep(KUBE_POLL_S)

    async def _judge(self, pods: dict[int, Tree]) -> None:
        for lane in range(len(self._uids)):
            pod = pods.get(lane)
            program = self._programs.get(lane)
            if program is not None and not program.watched:
                continue
            loss = None if pod is None else loss_of(pod)
            if loss is not None:
                self._lose(loss)
            elif pod is None or is_leaving(pod):
                pod = None  # an exit code would only say how its program was ended
                jobs = await self._kubectl.get("jobs.batch", self.name)
                if isinstance(jobs, Done):
                    return  # the next look says it
                self._lose(DEADLINE if past_deadline(jobs) else DELETED)
            if program is not None:
                await program.seen(pod)


def loss_of(pod: Tree) -> Loss | None:
    """What has befallen a pod, if anything has."""
    reason, message = trouble(pod)
    if not reason:
        return None
    if reason == OF_DEADLINE:
        return DEADLINE
    why = f"{reason}: {message.rstrip('.')}" if message else reason
    return Loss(f"the pod on host {host_of(pod) or 'unknown'} failed ({why}).", "host")


async def delete_all(kubectl: Kubectl, name: str) -> None:
    """Delete a lease's objects; tried again for CANCEL_S, then their own deadline ends them."""
    until_s = time.monotonic() + CANCEL_S
    while (done := await kubectl.delete(name)).code:
        if time.monotonic() > until_s:
            LOG.warning("jobs of %s were not deleted, and end by their limit: %s", name, done.why)
            return
        await asyncio.sleep(RETRY_S)
