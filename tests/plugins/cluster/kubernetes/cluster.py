# SPDX-License-Identifier: GPL-2.0-or-later
"""A cluster of two nodes, and a login that has the rights of packaging/kubernetes and no others."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from duet.base.settings import repo_root
from tests.plugins.cluster.kubernetes.control import Control
from tests.plugins.cluster.kubernetes.daemons import END_S
from tests.plugins.cluster.kubernetes.node import COMMAND_S, Node

NAMESPACE: Final = "kernel-duet"
"""Of packaging/kubernetes/rights.yaml."""
TUNABLES: Final = (
    *("vm/overcommit_memory", "vm/panic_on_oom", "kernel/panic", "kernel/panic_on_oops"),
    "net/ipv4/ip_forward",
)
"""What kubelets and the plugin of the network set for the whole machine."""


class Cluster:
    """A control plane and two nodes of two kinds.

    Args:
        folder: a short path, since sockets are in it.
    """

    def __init__(self, folder: Path) -> None:
        own = 100 + os.getpid() % 100
        self.address = f"10.{own}.0.1"
        self.names = ["duet-a", "duet-b"]
        self.control = Control(folder, self.address, self.names)
        self.nodes = {
            name: Node(self.control, name, kind, f"10.{own}.{number}")
            for number, (name, kind) in enumerate(zip(self.names, ("cpuA", "cpuB"), strict=True), 1)
        }
        self.login = folder / "server.kubeconfig"

    def start(self) -> None:
        """Start all of it."""
        _ip("add", self.address)
        self.control.start()
        for node in self.nodes.values():
            node.start()
        for name in self.names:
            self.wait_ready(name)
        self._give_rights()

    def stop(self) -> None:
        """End all of it; kubelets take back the networks and mounts of pods that end before."""
        words = ("jobs,pods", "--all", "--all-namespaces", "--grace-period=1")
        self.control.call("delete", *words, f"--timeout={END_S:.0f}s")
        for node in self.nodes.values():
            node.stop()
        self.control.daemons.end_all()
        _ip("del", self.address)

    def wait_ready(self, name: str) -> None:
        """Until a node takes pods."""
        self.control.daemons.wait_for(name, lambda: self.is_ready(name))

    def is_ready(self, name: str) -> bool:
        """Whether a node counts as ready and has no taint."""
        path = '{.status.conditions[?(@.type=="Ready")].status}{.spec.taints}'
        return self.control.said("get", "node", name, "-o", f"jsonpath={path}") == "True"

    def _give_rights(self) -> None:
        file = repo_root() / "packaging/kubernetes/rights.yaml"
        done = self.control.call("apply", "-f", str(file))
        assert done.returncode == 0, done.stderr
        within = f"--namespace={NAMESPACE}"
        token = self.control.said("create", "token", "kernel-duet", within, "--duration=2h")
        assert token
        self.control.login("server", token, NAMESPACE)


def _ip(verb: str, address: str) -> None:
    words = ["ip", "address", verb, f"{address}/32", "dev", "lo"]
    subprocess.run(words, check=False, capture_output=True, timeout=COMMAND_S)


@contextlib.contextmanager
def cluster() -> Iterator[Cluster]:
    """A cluster whose nodes are ready; afterwards the machine is as before."""
    folder = Path(tempfile.mkdtemp(prefix="duet-kube-", dir="/tmp"))
    before = {name: Path("/proc/sys", name).read_text() for name in TUNABLES}
    made = Cluster(folder)
    try:
        made.start()
        yield made
    finally:
        made.stop()
        for name, value in before.items():
            Path("/proc/sys", name).write_text(value)
        shutil.rmtree(folder, ignore_errors=True)
