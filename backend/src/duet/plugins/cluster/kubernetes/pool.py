# SPDX-License-Identifier: GPL-2.0-or-later
"""Leases on Kubernetes."""

from __future__ import annotations

import asyncio
import logging
import secrets
import time
from collections.abc import Callable, Sequence
from types import TracebackType

from duet.base.errors import InfraError, InputError
from duet.plugins.cluster.frames import Start
from duet.plugins.cluster.kubernetes.kubectl import (
    OF_DEADLINE,
    PYTHON,
    Kubectl,
    Tree,
    exit_code,
    host_of,
    is_leaving,
    items,
    job,
    lacked_memory,
    lane_name,
    lane_of,
    node_of,
    past_deadline,
    secret,
    trouble,
    unscheduled,
)
from duet.plugins.cluster.lease import Done, Lease, OwningPool
from duet.plugins.cluster.limits import (
    AWAY_S,
    CANCEL_S,
    KUBE_PLACE_S,
    KUBE_POLL_S,
    LOG_BYTES,
    RETRY_S,
    SECRET_BYTES,
)
from duet.plugins.cluster.program import Tail
from duet.plugins.cluster.types import Ended, Kind, Loss, PoolSettings, Refusal, Want, Watched
from duet.processes.owned import find_program


class PodProgram:
    """A program in a pod of a lease.

    The output includes standard error, because a pod's log mixes both streams.

    Args:
        name: the lease's name.
        job_uid: uid of the lane's Job.
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
        return self._begun and not self._ended.done()

    @property
    def watched(self) -> bool:
        """Is the program running, and not being ended by this process?

        If this is false, later states of the program's pod are ignored.
        """
        return self.running and not self._ending

    async def begin(self) -> None:
        done = await self._kubectl.create(
            secret(self._name, self._lane, self._start, self._job_uid)
        )
        if done.code:
            raise InfraError(
                f"a program cannot be started on Kubernetes: {done.why}.",
                remedy="Reserve another lease, and check whether you may create Secrets in the "
                "namespace.",
            )
        self._begun = True

    async def wait(self) -> Ended:
        return await asyncio.shield(self._ended)

    async def seen(self, pod: Tree | None) -> None:
        """Update the program from the state of its pod, which a poll returned.

        Args:
            pod: None if the pod is gone.
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
        """End the program, its pod and its lane."""
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


LOG = logging.getLogger("duet.plugins.cluster")
DEADLINE = Loss("the lease ran into its deadline in Kubernetes.", "deadline")
DELETED = Loss("a pod of the lease is gone: somebody deleted it.", "cancelled")


class PodPlace:
    """The Jobs of one lease, and a task that polls the Jobs' pods.

    Args:
        uids: the uid of each lane's Job.
    """

    def __init__(self, kubectl: Kubectl, name: str, uids: Sequence[str]) -> None:
        self._kubectl, self.name, self._uids = kubectl, name, uids
        self._programs: dict[int, PodProgram] = {}
        self._task: asyncio.Task[None] | None = None
        self._lose: Callable[[Loss], None] = lambda loss: None

    def watch(self, lose: Callable[[Loss], None]) -> None:
        """Poll the lease's pods until `give_back`."""
        self._lose = lose
        self._task = asyncio.create_task(self._watch(), name="watch of pods")

    def program(self, lane: int, start: Start, watched: Watched) -> PodProgram:
        at = min(lane, len(self._uids) - 1)  # the lanes of an exclusive lease share a pod
        if at in self._programs:
            raise InputError(
                "a lane of a lease, or an exclusive lease, runs only one program on Kubernetes.",
                remedy="Let one program run all arms, or reserve another lease.",
            )
        if (size := len(start.packed())) > SECRET_BYTES:
            raise InputError(
                f"a program on Kubernetes may have at most {SECRET_BYTES} bytes of arguments,"
                f" environment and standard input (the limit of a Secret), but has {size}.",
                remedy="Put the data into a file in the program's image or claim, and pass the "
                "file's name.",
            )
        made = PodProgram(self._kubectl, self.name, at, self._uids[at], start, watched)
        self._programs[at] = made
        return made

    async def why_over(self) -> Loss | None:
        """Return None, because the poll reports losses."""
        return None

    async def give_back(self) -> None:
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
                pod = None  # ignore the exit code, which only shows that the pod was deleted
                jobs = await self._kubectl.get("jobs.batch", self.name)
                if isinstance(jobs, Done):
                    return  # wait for the next poll
                self._lose(DEADLINE if past_deadline(jobs) else DELETED)
            if program is not None:
                await program.seen(pod)


def loss_of(pod: Tree) -> Loss | None:
    """Explain why a pod failed, or return None if it has not failed."""
    reason, message = trouble(pod)
    if not reason:
        return None
    if reason == OF_DEADLINE:
        return DEADLINE
    why = f"{reason}: {message.rstrip('.')}" if message else reason
    return Loss(f"the pod on host {host_of(pod) or 'unknown'} failed ({why}).", "host")


async def delete_all(kubectl: Kubectl, name: str) -> None:
    """Delete a lease's objects, and retry for CANCEL_S. If that fails, the objects' own deadline
    ends them."""
    until_s = time.monotonic() + CANCEL_S
    while (done := await kubectl.delete(name)).code:
        if time.monotonic() > until_s:
            LOG.warning("jobs of %s were not deleted, and end by their limit: %s", name, done.why)
            return
        await asyncio.sleep(RETRY_S)


class KubernetesPool(OwningPool):
    """Leases hosts in a namespace of a Kubernetes cluster.

    Raises:
        InfraError: kubectl is not installed.
        InputError: no image is set.
    """

    name = "kubernetes"

    def __init__(self, settings: PoolSettings) -> None:
        super().__init__()
        try:
            find_program("kubectl", "kubectl")
        except InfraError as error:
            raise InfraError(
                error.sentence,
                remedy="Install kubectl as your cluster's documentation says, and log in with it.",
            ) from None
        if not settings.image:
            raise InputError(
                "no image for pods is set.",
                remedy="Set DUET_POOL_IMAGE to an image of this version's Dockerfile.",
            )
        self._settings = settings
        self.python = PYTHON
        self._kubectl = Kubectl(settings.namespace)
        self._cleaning: set[asyncio.Task[None]] = set()

    async def kinds(self) -> Sequence[Kind] | Refusal:
        """Return the kinds of nodes, which are the values of the label that DUET_POOL_KIND_LABEL
        names."""
        nodes = await self._kubectl.get("nodes")
        if isinstance(nodes, Done):
            return Refusal(f"kubectl gives no answer: {nodes.why}.")
        label = self._settings.kind_label
        hosts = [node_of(node, label) for node in nodes]
        return [
            Kind(
                kind,
                [name for name, has, up in hosts if up and kind in ("", has)],
                [name for name, has, up in hosts if not up and kind in ("", has)],
            )
            for kind in self._settings.kinds or ("",)
        ]

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await super().__aexit__(kind, error, trace)
        await asyncio.gather(*self._cleaning, return_exceptions=True)

    async def _reserve(self, want: Want) -> Lease | Refusal:
        refusal = self._never(want)
        if refusal is not None:
            return refusal
        name = f"duet-{secrets.token_hex(6)}"
        lanes = range(want.lanes_at_once)
        granted = False
        try:
            done = await self._kubectl.create(
                *(job(name, lane, want, self._settings) for lane in lanes)
            )
            if done.code:
                return Refusal(f"Kubernetes gives no lease: {done.why}.")
            uids = [str(one["metadata"].get("uid", "")) for one in items(done.out)]
            hosts = await self._placed(name, want)
            if isinstance(hosts, Refusal):
                return hosts
            place = PodPlace(self._kubectl, name, uids)
            lease = self._made(want, (hosts + [hosts[-1]] * want.lanes)[: want.lanes], place)
            place.watch(lease.lose)
            granted = True
            return lease
        finally:
            if not granted:
                cleaning = asyncio.create_task(delete_all(self._kubectl, name), name="end of jobs")
                self._cleaning.add(cleaning)
                cleaning.add_done_callback(self._cleaning.discard)

    def _never(self, want: Want) -> Refusal | None:
        if want.kind and want.kind not in self._settings.kinds:
            return Refusal(f"the cluster has no hosts of the kind '{want.kind:.60}'.")
        if want.accel == "kvm" and not self._settings.kvm:
            return Refusal("guests under KVM are wanted, and DUET_POOL_KVM names no resource.")
        return None

    async def _placed(self, name: str, want: Want) -> list[str] | Refusal:
        """Wait until all pods are scheduled, and return the host of each pod."""
        until_s = time.monotonic() + want.within_s
        while True:
            pods = await self._kubectl.get("pods", name)
            known = {} if isinstance(pods, Done) else {lane_of(p): host_of(p) for p in pods}
            if len(known) == want.lanes_at_once and all(known.values()):
                return [known[lane] for lane in sorted(known)]
            if time.monotonic() >= until_s:
                why = pods.why if isinstance(pods, Done) else unscheduled(pods)
                return Refusal(
                    f"Kubernetes has no place within {want.within_s:g} s"
                    + (f": {why}." if why else ".")
                )
            await asyncio.sleep(min(KUBE_PLACE_S, max(0.1, until_s - time.monotonic())))
