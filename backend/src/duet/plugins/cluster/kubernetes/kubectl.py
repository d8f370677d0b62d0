# SPDX-License-Identifier: GPL-2.0-or-later
"""Calls kubectl, and interprets the states of pods."""

from __future__ import annotations

import base64
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from duet.plugins.cluster.frames import Start
from duet.plugins.cluster.lease import Done, command
from duet.plugins.cluster.limits import KUBE_DONE_S, KUBE_LATER_S, KUBECTL_S
from duet.plugins.cluster.types import PoolSettings, Want

# Makes a lease's objects (Jobs and Secrets) as trees, without I/O.

LEASE: Final = "kernel-duet/lease"
"""Label that all objects of a lease have."""
PYTHON: Final = "/duet/.venv/bin/python"
"""Path of the interpreter in our image (Dockerfile)."""
USER: Final = 10001
"""Id of the user in our image."""
MOUNT: Final = "/run/duet"
PROGRAM: Final = "program"
MODE: Final = 0o440
"""Mode of the Secret's file. Root and the pod's group may read it."""
GRACE_S: Final = 5
"""Time between SIGTERM and SIGKILL when a pod is ended."""
AWAY_S: Final = 10
"""Pods are evicted this long after their node was marked as not ready. The controller manager marks
a silent node after 40 to 50 s (--node-monitor-grace-period).
"""
SCRATCH: Final = "2Gi"
HOSTNAME: Final = "kubernetes.io/hostname"
"""The label that each kubelet gives its node."""

Tree = dict[str, Any]


def job(name: str, lane: int, want: Want, settings: PoolSettings) -> Tree:
    """Return the Job of a lane. Its Secret has the same name."""
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": lane_name(name, lane), "labels": {LEASE: name}},
        "spec": {
            "completions": 1,
            "parallelism": 1,
            "backoffLimit": 0,
            # This deadline starts now, but the lease's time starts when all pods are scheduled.
            "activeDeadlineSeconds": math.ceil(want.within_s + want.ttl_s + KUBE_LATER_S),
            "ttlSecondsAfterFinished": KUBE_DONE_S,
            "template": {
                "metadata": {"labels": {LEASE: name}},
                "spec": _pod(name, lane, want, settings),
            },
        },
    }


def secret(name: str, lane: int, start: Start, job_uid: str) -> Tree:
    """Return the Secret with a lane's program. Kubernetes deletes it with the Job."""
    of = lane_name(name, lane)
    owner = {"apiVersion": "batch/v1", "kind": "Job", "name": of, "uid": job_uid}
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": of, "labels": {LEASE: name}, "ownerReferences": [owner]},
        "type": "Opaque",
        "immutable": True,
        "data": {PROGRAM: base64.b64encode(start.packed()).decode()},
    }


def lane_name(name: str, lane: int) -> str:
    """Return the name of a lane's Job and Secret."""
    return f"{name}-{lane}"


def _pod(name: str, lane: int, want: Want, settings: PoolSettings) -> Tree:
    selector = {"kubernetes.io/arch": "amd64"}
    selector |= {settings.kind_label: want.kind} if want.kind else {}
    of = lane_name(name, lane)
    gone = ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable")
    pod: Tree = {
        "restartPolicy": "Never",
        "terminationGracePeriodSeconds": GRACE_S,
        "automountServiceAccountToken": False,
        "enableServiceLinks": False,
        "nodeSelector": selector,
        "tolerations": [
            {"key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": AWAY_S}
            for key in gone
        ],
        "securityContext": {
            "runAsNonRoot": True,
            "runAsUser": USER,
            "runAsGroup": USER,
            "fsGroup": USER,  # without this, only root could read the Secret
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        "containers": [_container(want, settings)],
        "volumes": [
            {
                "name": "program",
                "secret": {"secretName": of, "defaultMode": MODE},
            },
            {"name": "tmp", "emptyDir": {"sizeLimit": SCRATCH}},
            {"name": "cache", **_cache(settings)},
        ],
    }
    affinity: Tree = {}
    if want.avoid:
        other = {"key": HOSTNAME, "operator": "NotIn", "values": [*want.avoid]}
        terms = {"nodeSelectorTerms": [{"matchExpressions": [other]}]}
        affinity["nodeAffinity"] = {"requiredDuringSchedulingIgnoredDuringExecution": terms}
    if want.alike and want.lanes_at_once > 1:
        # A pod with this affinity is never scheduled on a node without the topology label.
        alike_by = settings.kind_label if settings.kinds else HOSTNAME
        same = {"labelSelector": {"matchLabels": {LEASE: name}}, "topologyKey": alike_by}
        affinity["podAffinity"] = {"requiredDuringSchedulingIgnoredDuringExecution": [same]}
    return pod | ({"affinity": affinity} if affinity else {})


def _container(want: Want, settings: PoolSettings) -> Tree:
    # If requests equal limits and are whole numbers of CPUs, the static CPU manager gives the
    # container exclusive CPUs.
    resources = {"cpu": str(want.vcpus), "memory": f"{math.ceil(want.memory_bytes / (1 << 20))}Mi"}
    resources |= {settings.kvm: "1"} if want.accel == "kvm" else {}
    return {
        "name": "lane",
        "image": settings.image,
        "command": [PYTHON, "-P", "-s", "-m", "duet.plugins.cluster.mounted", f"{MOUNT}/{PROGRAM}"],
        "resources": {"requests": resources, "limits": dict(resources)},
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "privileged": False,
            "capabilities": {"drop": ["ALL"]},
            "readOnlyRootFilesystem": True,
        },
        "volumeMounts": [
            {"name": "program", "mountPath": MOUNT, "readOnly": True},
            {"name": "tmp", "mountPath": "/tmp"},
            {"name": "cache", "mountPath": "/cache"},
        ],
    }


def _cache(settings: PoolSettings) -> Tree:
    """Return the volume for kernels and the guests' root.

    The volume is a persistent volume claim that the operator has filled, or an empty volume.
    """
    if settings.claim:
        return {"persistentVolumeClaim": {"claimName": settings.claim}}
    return {"emptyDir": {"sizeLimit": SCRATCH}}


OF_DEADLINE: Final = "DeadlineExceeded"
KILLED: Final = 128 + 9
"""Exit code of a program that SIGKILL ended."""
NEVER_BEGINS: Final = (
    *("ImagePullBackOff", "InvalidImageName", "ErrImageNeverPull"),
    *("CreateContainerConfigError", "CreateContainerError", "RunContainerError"),
)
"""Reasons for which a container waits until an operator fixes the problem."""
MESSAGE_CHARACTERS: Final = 300


@dataclass(frozen=True, slots=True)
class Kubectl:
    """Calls kubectl for one cluster and namespace."""

    namespace: str = ""

    async def call(self, *words: str, stdin: bytes = b"") -> Done:
        within = [f"--namespace={self.namespace}"] if self.namespace else []
        return await command(["kubectl", *within, *words], KUBECTL_S, stdin)

    async def create(self, *trees: Tree) -> Done:
        """Create objects. They are passed through a pipe, because one of them may be a Secret."""
        whole = {"apiVersion": "v1", "kind": "List", "items": list(trees)}
        return await self.call("create", "-f", "-", "-o", "json", stdin=json.dumps(whole).encode())

    async def delete(self, name: str) -> Done:
        """Delete all Jobs of a lease; pods and Secrets are deleted with them.

        The call does not name Secrets, because finding Secrets by a label would require the right
        to read all Secrets.
        """
        words = ("--ignore-not-found", "--wait=false", "--cascade=background")
        return await self.call("delete", "jobs.batch", f"--selector={LEASE}={name}", *words)

    async def get(self, kind: str, name: str = "") -> list[Tree] | Done:
        """Return a lease's objects of one kind. If the call fails, return a Done.

        Without a name, return all objects of this kind, whether or not they belong to a lease.
        """
        which = [f"--selector={LEASE}={name}"] if name else []
        done = await self.call("get", kind, *which, "-o", "json")
        return done if done.code else items(done.out)


def items(text: str) -> list[Tree]:
    """Parse a List, or the consecutive documents that `create` writes."""
    reads, at, found = json.JSONDecoder(), 0, list[Tree]()
    while at < len(text := text.strip()):
        try:
            tree, at = reads.raw_decode(text, at)
        except ValueError:
            break
        found += tree.get("items", [tree]) if isinstance(tree, dict) else []
        at += len(text[at:]) - len(text[at:].lstrip())
    return [one for one in found if isinstance(one, dict)]


def node_of(node: Tree, label: str) -> tuple[str, str, bool]:
    """Return a node's name, its value for the label, and whether it is ready."""
    about, conditions = node.get("metadata", {}), node.get("status", {}).get("conditions", [])
    ready = any((c.get("type"), c.get("status")) == ("Ready", "True") for c in conditions)
    return str(about.get("name")), str(about.get("labels", {}).get(label, "")), ready


def lane_of(pod: Tree) -> int:
    """Return a pod's lane, which is part of its Job's name."""
    labels = pod.get("metadata", {}).get("labels", {})
    job = labels.get("job-name") or labels.get("batch.kubernetes.io/job-name") or "-1"
    number = str(job).rpartition("-")[2]
    return int(number) if number.isdecimal() else -1


def host_of(pod: Tree) -> str:
    """Return the node on which a pod is scheduled, or "" if it is not scheduled yet."""
    return str(pod.get("spec", {}).get("nodeName") or "")


def unscheduled(pods: Sequence[Tree]) -> str:
    """Return why a pod is not scheduled, in the scheduler's words."""
    for pod in pods:
        for condition in pod.get("status", {}).get("conditions", []):
            if condition.get("type") == "PodScheduled" and condition.get("status") == "False":
                return str(condition.get("message", ""))[:300].rstrip(".")
    return ""


def exit_code(pod: Tree) -> int | None:
    """Return the exit code of a pod's program, or None if the program has not ended."""
    code: Any = _state(pod, "terminated").get("exitCode")
    return int(code) if isinstance(code, int) else None


def is_leaving(pod: Tree) -> bool:
    """Is the pod being deleted? Then its program is being ended, and the pod will disappear
    soon."""
    return "deletionTimestamp" in pod.get("metadata", {})


def lacked_memory(pod: Tree) -> bool:
    """Did the kernel kill the pod's program for lack of memory?

    The reason OOMKilled alone does not prove that, because the kernel may have killed a descendant
    of the program while the program continued.
    """
    return _state(pod, "terminated").get("reason") == "OOMKilled" and exit_code(pod) == KILLED


def past_deadline(jobs: Sequence[Tree]) -> bool:
    """Has a Job exceeded its deadline? Its pods are then deleted without a stated reason."""
    return any(
        condition.get("reason") == OF_DEADLINE and condition.get("status") == "True"
        for job in jobs
        for condition in job.get("status", {}).get("conditions", [])
    )


def _state(pod: Tree, kind: str) -> Mapping[str, Any]:
    for one in pod.get("status", {}).get("containerStatuses", []):
        state = one.get("state", {}).get(kind)
        if isinstance(state, Mapping):
            return state
    return {}


def trouble(pod: Tree) -> tuple[str, str]:
    """If a pod failed for a reason other than its program, return the reason and the message.

    Otherwise, both are empty.
    """
    status = pod.get("status", {})
    for condition in status.get("conditions", []):
        if condition.get("type") == "DisruptionTarget" and condition.get("status") == "True":
            return str(condition.get("reason", "")), str(condition.get("message", ""))
    if status.get("phase") == "Failed" and status.get("reason"):
        return str(status["reason"]), str(status.get("message", ""))
    waits = _state(pod, "waiting")
    if waits.get("reason") in NEVER_BEGINS:
        return str(waits["reason"]), str(waits.get("message", ""))[:MESSAGE_CHARACTERS]
    return "", ""
