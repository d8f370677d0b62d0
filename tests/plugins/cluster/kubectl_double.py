# SPDX-License-Identifier: GPL-2.0-or-later
"""A stand-in for kubectl and a cluster, where there is none; started with `python -m`.

It knows the calls that the backend makes, gives pods places while there are CPUs, and runs the
program of a Secret as the image would. What a real cluster does besides is not in it.
"""

from __future__ import annotations

import base64
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

CPUS = 4
NODE = "node-1"
LEASE = "kernel-duet/lease"
Tree = dict[str, Any]


def main(words: list[str]) -> int:
    """One call; the state is a folder."""
    folder = Path(os.environ["KUBECTL_STATE"])
    words = [word for word in words if not word.startswith("--namespace=")]
    if (folder / "down").exists():
        print("Unable to connect to the server: dial tcp: connection refused", file=sys.stderr)
        return 1
    verb, *rest = words
    return {"create": create, "get": get, "delete": delete, "logs": logs}[verb](folder, rest)


def load(folder: Path, kind: str) -> list[Tree]:
    """Objects of a kind, the oldest first: names are random."""
    found = sorted(folder.glob(f"{kind}-*.json"), key=lambda path: path.stat().st_mtime_ns)
    return [json.loads(path.read_text()) for path in found]


def create(folder: Path, words: list[str]) -> int:
    """`create -f - -o json`."""
    assert words == ["-f", "-", "-o", "json"]
    for tree in json.load(sys.stdin)["items"]:
        with (folder / "created").open("a") as file:  # for the test, which holds it to the schemas
            file.write(json.dumps(tree) + "\n")
        name = tree["metadata"]["name"]
        tree["metadata"]["uid"] = f"uid-of-{name}"
        (folder / f"{tree['kind']}-{name}.json").write_text(json.dumps(tree))
        print(json.dumps(tree, indent=4))
        if tree["kind"] == "Secret":
            run(folder, name, base64.b64decode(tree["data"]["program"]))
    return 0


def run(folder: Path, name: str, program: bytes) -> None:
    """What the pod's container does, in the background."""
    (folder / f"{name}.program").write_bytes(program)
    script = '"$1" -m duet.plugins.cluster.mounted "$2.program" >"$2.log" 2>&1; echo $? >"$2.code"'
    words = ["setsid", "sh", "-c", script, "sh", sys.executable, str(folder / name)]
    null = subprocess.DEVNULL
    subprocess.Popen(words, stdin=null, stdout=null, stderr=null)


def get(folder: Path, words: list[str]) -> int:
    """`get pods|jobs.batch|nodes [--selector=...] -o json`."""
    if words[0] == "nodes":
        ready = [{"type": "Ready", "status": "True"}]
        labels = {"kernel-duet/kind": "big"}
        node = {"metadata": {"name": NODE, "labels": labels}, "status": {"conditions": ready}}
        print(json.dumps({"items": [node]}))
        return 0
    name = words[1].partition("kernel-duet/lease=")[2]
    if words[0] == "jobs.batch":
        jobs = [one for one in load(folder, "Job") if name == one["metadata"]["labels"][LEASE]]
        print(json.dumps({"items": jobs}))
        return 0
    free, pods = CPUS, []
    for job in load(folder, "Job"):
        container = job["spec"]["template"]["spec"]["containers"][0]
        free -= int(container["resources"]["requests"]["cpu"])
        if job["metadata"]["labels"][LEASE] == name:
            pods.append(pod(folder, job["metadata"]["name"], free >= 0))
    print(json.dumps({"apiVersion": "v1", "kind": "List", "items": pods}))
    return 0


def pod(folder: Path, name: str, has_place: bool) -> Tree:
    """The pod of a Job."""
    code, failed = folder / f"{name}.code", folder / f"{name}.failed"
    tree: Tree = {"metadata": {"labels": {"job-name": name}}, "spec": {}, "status": {}}
    if not has_place:
        message = "0/1 nodes are available: 1 Insufficient cpu."
        condition = {"type": "PodScheduled", "status": "False", "message": message}
        tree["status"] = {"phase": "Pending", "conditions": [condition]}
        return tree
    tree["spec"]["nodeName"] = NODE
    if (folder / f"{name}.leaving").exists():
        tree["metadata"]["deletionTimestamp"] = "2026-11-26T12:00:00Z"
        ended = {"terminated": {"exitCode": 143}}
        tree["status"] = {"phase": "Running", "containerStatuses": [{"state": ended}]}
    elif failed.exists():
        tree["status"] = {"phase": "Failed", "reason": "Evicted", "message": failed.read_text()}
    elif code.exists() and code.read_text().strip():
        ended = {"terminated": {"exitCode": int(code.read_text())}}
        tree["status"] = {"phase": "Succeeded", "containerStatuses": [{"state": ended}]}
    return tree


def delete(folder: Path, words: list[str]) -> int:
    """`delete jobs --selector=...` and `delete job NAME`; Secrets go with their Jobs."""
    selector = next((word for word in words if word.startswith("--selector=")), "")
    name = selector.partition("kernel-duet/lease=")[2]
    for path in folder.glob("*.json"):
        tree = json.loads(path.read_text())
        mine = tree["metadata"]["labels"][LEASE] == name if name else False
        if mine or (words[0] == "job" and tree["metadata"]["name"] == words[1]):
            path.unlink()
    return 0


def logs(folder: Path, words: list[str]) -> int:
    """`logs job/NAME --limit-bytes=N`, which leaves out the end."""
    path = folder / f"{words[0].removeprefix('job/')}.log"
    most = int(words[1].removeprefix("--limit-bytes="))
    sys.stdout.write(path.read_text()[:most] if path.exists() else "")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
