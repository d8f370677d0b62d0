# SPDX-License-Identifier: GPL-2.0-or-later
"""Leases on Kubernetes."""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Sequence
from types import TracebackType

from duet.base.errors import InfraError, InputError
from duet.pools.base import OwningPool
from duet.pools.commands import Done
from duet.pools.kubernetes.kubectl import Kubectl, host_of, items, lane_of, node_of, unscheduled
from duet.pools.kubernetes.manifest import PYTHON, job
from duet.pools.kubernetes.place import PodPlace, delete_all
from duet.pools.lease import Lease
from duet.pools.limits import KUBE_PLACE_S
from duet.pools.settings import PoolSettings
from duet.pools.types import Kind, Refusal, Want
from duet.processes.owned import find_program


class KubernetesPool(OwningPool):
    """A namespace of a cluster.

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
        """Kinds of nodes: values of the label DUET_POOL_KIND_LABEL."""
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
        """The host of each pod, once all are scheduled."""
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
