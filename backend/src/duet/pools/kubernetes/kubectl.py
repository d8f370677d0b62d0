# SPDX-License-Identifier: GPL-2.0-or-later
"""Calls of kubectl, and what pods say."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from duet.pools.commands import Done, command
from duet.pools.kubernetes.manifest import LEASE, Tree
from duet.pools.limits import KUBECTL_S

OF_DEADLINE: Final = "DeadlineExceeded"
KILLED: Final = 128 + 9
"""Exit code of a program that SIGKILL ended."""
NEVER_BEGINS: Final = (
    *("ImagePullBackOff", "InvalidImageName", "ErrImageNeverPull"),
    *("CreateContainerConfigError", "CreateContainerError", "RunContainerError"),
)
"""A container that waits for these reasons does so for ever, or until an operator mends it."""
MESSAGE_CHARACTERS: Final = 300


@dataclass(frozen=True, slots=True)
class Kubectl:
    """One cluster and namespace."""

    namespace: str = ""

    async def call(self, *words: str, stdin: bytes = b"") -> Done:
        """One call."""
        within = [f"--namespace={self.namespace}"] if self.namespace else []
        return await command(["kubectl", *within, *words], KUBECTL_S, stdin)

    async def create(self, *trees: Tree) -> Done:
        """Make objects; they go through a pipe, since a Secret is among them."""
        whole = {"apiVersion": "v1", "kind": "List", "items": list(trees)}
        return await self.call("create", "-f", "-", "-o", "json", stdin=json.dumps(whole).encode())

    async def delete(self, name: str) -> Done:
        """Delete all Jobs of a lease; pods and Secrets go with them.

        Secrets are not named here: to find them by a label is the right to read all of them.
        """
        words = ("--ignore-not-found", "--wait=false", "--cascade=background")
        return await self.call("delete", "jobs.batch", f"--selector={LEASE}={name}", *words)

    async def get(self, kind: str, name: str = "") -> list[Tree] | Done:
        """Objects of a lease, or of all; what failed where there is no answer."""
        which = [f"--selector={LEASE}={name}"] if name else []
        done = await self.call("get", kind, *which, "-o", "json")
        return done if done.code else items(done.out)


def items(text: str) -> list[Tree]:
    """Objects of a List, or of documents in a row as `create` writes them."""
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
    """A node's name, its value of a label, and whether it is ready."""
    about, conditions = node.get("metadata", {}), node.get("status", {}).get("conditions", [])
    ready = any((c.get("type"), c.get("status")) == ("Ready", "True") for c in conditions)
    return str(about.get("name")), str(about.get("labels", {}).get(label, "")), ready


def lane_of(pod: Tree) -> int:
    """By the name of its Job."""
    labels = pod.get("metadata", {}).get("labels", {})
    job = labels.get("job-name") or labels.get("batch.kubernetes.io/job-name") or "-1"
    number = str(job).rpartition("-")[2]
    return int(number) if number.isdecimal() else -1


def host_of(pod: Tree) -> str:
    """Where it is scheduled; "" before."""
    return str(pod.get("spec", {}).get("nodeName") or "")


def unscheduled(pods: Sequence[Tree]) -> str:
    """Why a pod has no place, in the scheduler's words."""
    for pod in pods:
        for condition in pod.get("status", {}).get("conditions", []):
            if condition.get("type") == "PodScheduled" and condition.get("status") == "False":
                return str(condition.get("message", ""))[:300].rstrip(".")
    return ""


def exit_code(pod: Tree) -> int | None:
    """Of its program, once it has ended."""
    code: Any = _state(pod, "terminated").get("exitCode")
    return int(code) if isinstance(code, int) else None


def is_leaving(pod: Tree) -> bool:
    """Whether it is being deleted: its program is ended, and it is gone some seconds later."""
    return "deletionTimestamp" in pod.get("metadata", {})


def lacked_memory(pod: Tree) -> bool:
    """Whether the kernel ended its program since the lane's memory was used up.

    The reason alone does not say so: a descendant may have been ended, and the program gone on.
    """
    return _state(pod, "terminated").get("reason") == "OOMKilled" and exit_code(pod) == KILLED


def past_deadline(jobs: Sequence[Tree]) -> bool:
    """Whether a Job has run into its deadline: its pods are deleted then, with no word of why."""
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
    """Why a pod failed without its program's doing, as reason and message; "": it did not."""
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
