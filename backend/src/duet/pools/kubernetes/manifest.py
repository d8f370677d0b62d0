# SPDX-License-Identifier: GPL-2.0-or-later
"""The objects of a lease as trees: Jobs and Secrets. Sans I/O."""

from __future__ import annotations

import base64
import math
from typing import Any, Final

from duet.pools.frames import Start
from duet.pools.limits import KUBE_DONE_S, KUBE_LATER_S
from duet.pools.settings import PoolSettings
from duet.pools.types import Want

LEASE: Final = "kernel-duet/lease"
"""The label of all objects of a lease."""
PYTHON: Final = "/duet/.venv/bin/python"
"""Of our image (Dockerfile)."""
USER: Final = 10001
"""Of our image."""
MOUNT: Final = "/run/duet"
PROGRAM: Final = "program"
MODE: Final = 0o440
"""Of the Secret's file: root and the pod's group read it."""
GRACE_S: Final = 5
"""SIGTERM to SIGKILL of a pod."""
AWAY_S: Final = 10
"""Pods of a node that is not ready are ended so long afterwards. When it counts as not ready is the
controller manager's affair: after 40 to 50 s (--node-monitor-grace-period)."""
SCRATCH: Final = "2Gi"
HOSTNAME: Final = "kubernetes.io/hostname"
"""The label that each kubelet gives its node."""

Tree = dict[str, Any]


def job(name: str, lane: int, want: Want, settings: PoolSettings) -> Tree:
    """The Job of a lane. Its Secret has its name."""
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": lane_name(name, lane), "labels": {LEASE: name}},
        "spec": {
            "completions": 1,
            "parallelism": 1,
            "backoffLimit": 0,
            # From now on, and the lease's time begins when all pods are scheduled.
            "activeDeadlineSeconds": math.ceil(want.within_s + want.ttl_s + KUBE_LATER_S),
            "ttlSecondsAfterFinished": KUBE_DONE_S,
            "template": {
                "metadata": {"labels": {LEASE: name}},
                "spec": _pod(name, lane, want, settings),
            },
        },
    }


def secret(name: str, lane: int, start: Start, job_uid: str) -> Tree:
    """A program for a lane; it goes with the Job."""
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
    """Of a lane's Job and Secret."""
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
            "fsGroup": USER,  # else the Secret would be root's alone
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
        # A node without the label of the topology takes no such pod at all.
        alike_by = settings.kind_label if settings.kinds else HOSTNAME
        same = {"labelSelector": {"matchLabels": {LEASE: name}}, "topologyKey": alike_by}
        affinity["podAffinity"] = {"requiredDuringSchedulingIgnoredDuringExecution": [same]}
    return pod | ({"affinity": affinity} if affinity else {})


def _container(want: Want, settings: PoolSettings) -> Tree:
    # Requests that equal limits, in whole CPUs: the static CPU manager gives such a container CPUs
    # that nobody else uses.
    resources = {"cpu": str(want.vcpus), "memory": f"{math.ceil(want.memory_bytes / (1 << 20))}Mi"}
    resources |= {settings.kvm: "1"} if want.accel == "kvm" else {}
    return {
        "name": "lane",
        "image": settings.image,
        "command": [PYTHON, "-P", "-s", "-m", "duet.pools.mounted", f"{MOUNT}/{PROGRAM}"],
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
    """Kernels and the guests' root: of a claim that the operator has filled, else none."""
    if settings.claim:
        return {"persistentVolumeClaim": {"claimName": settings.claim}}
    return {"emptyDir": {"sizeLimit": SCRATCH}}
