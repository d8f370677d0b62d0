# SPDX-License-Identifier: GPL-2.0-or-later
"""The control plane of a cluster: etcd, API server, controller manager and scheduler."""

from __future__ import annotations

import json
import secrets
import subprocess
from pathlib import Path
from typing import Any, Final

from tests.plugins.cluster.kubernetes.binaries import folder as programs
from tests.plugins.cluster.kubernetes.daemons import Daemons
from tests.support.proxy import free_port

KUBECTL_S: Final = 60.0
"""Of one kubectl of a test. Usual: 0.1-1 s."""
GRACE_S: Final = 8
"""A node that has renewed no lease for so long is not ready. Kubernetes has 50 s, which would make
the tests long."""


class Control:
    """A control plane.

    Args:
        folder: for all that it writes.
        address: of this machine, where kubelets are, too.
        nodes: their names; each gets a login of its own.
    """

    def __init__(self, folder: Path, address: str, nodes: list[str]) -> None:
        self.folder, self.address, self.nodes = folder, address, nodes
        self.daemons = Daemons(folder)
        self._port, self._etcd = free_port(), free_port()
        self._users = {
            "admin": ("admin", "system:masters"),
            "manager": ("system:kube-controller-manager", ""),
            "scheduler": ("system:kube-scheduler", ""),
        } | {node: (f"system:node:{node}", "system:nodes") for node in nodes}
        self._tokens = {name: secrets.token_hex(16) for name in self._users}

    def start(self) -> None:
        """Start it, and wait until it answers."""
        for name in ("service-accounts", "kubelet-client"):
            self._make_key(name)
        lines = [
            f'{self._tokens[name]},{user},{name},"{group}"'
            for name, (user, group) in self._users.items()
        ]
        tokens = self.folder / "tokens.csv"
        tokens.touch(0o600)
        tokens.write_text("\n".join(lines) + "\n")
        self._start_etcd()
        self.start_api()
        manager, scheduler = self.login("manager"), self.login("scheduler")
        self.daemons.start(
            "kube-controller-manager",
            programs() / "kube-controller-manager",
            f"--kubeconfig={manager}",
            f"--service-account-private-key-file={self.folder}/service-accounts.key",
            "--use-service-account-credentials=true",
            "--leader-elect=false",
            f"--secure-port={free_port()}",
            "--bind-address=127.0.0.1",
            f"--cert-dir={self.folder}/manager",
            f"--node-monitor-grace-period={GRACE_S}s",
            "--node-monitor-period=1s",
        )
        self.daemons.start(
            "kube-scheduler",
            programs() / "kube-scheduler",
            f"--kubeconfig={scheduler}",
            "--leader-elect=false",
            f"--secure-port={free_port()}",
            "--bind-address=127.0.0.1",
            f"--cert-dir={self.folder}/scheduler",
        )
        self.login("admin")

    def start_api(self) -> None:
        """Start the API server, also a second time."""
        self.daemons.start(
            "kube-apiserver",
            programs() / "kube-apiserver",
            f"--etcd-servers=http://127.0.0.1:{self._etcd}",
            f"--cert-dir={self.folder}/api",
            f"--secure-port={self._port}",
            "--bind-address=127.0.0.1",
            f"--advertise-address={self.address}",
            f"--token-auth-file={self.folder}/tokens.csv",
            "--authorization-mode=Node,RBAC",
            "--enable-admission-plugins=NodeRestriction",
            "--anonymous-auth=false",
            "--endpoint-reconciler-type=none",
            "--service-cluster-ip-range=10.96.0.0/24",
            "--service-account-issuer=duet-test",
            f"--service-account-key-file={self.folder}/service-accounts.crt",
            f"--service-account-signing-key-file={self.folder}/service-accounts.key",
            f"--kubelet-client-certificate={self.folder}/kubelet-client.crt",
            f"--kubelet-client-key={self.folder}/kubelet-client.key",
            "--kubelet-preferred-address-types=InternalIP",
        )
        self.daemons.wait_for("kube-apiserver", lambda: self.said("get", "--raw=/readyz") == "ok")

    def login(self, name: str, token: str = "", namespace: str = "default") -> Path:
        """Write a kubeconfig.

        Args:
            token: of a user that is not one of ours.
        """
        path = self.folder / f"{name}.kubeconfig"
        path.touch(0o600)
        ours = {
            "server": f"https://127.0.0.1:{self._port}",
            "certificate-authority": f"{self.folder}/api/apiserver.crt",
        }
        context = {"cluster": "duet", "user": name, "namespace": namespace}
        tree = {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "duet", "cluster": ours}],
            "users": [{"name": name, "user": {"token": token or self._tokens[name]}}],
            "contexts": [{"name": "duet", "context": context}],
            "current-context": "duet",
        }
        path.write_text(json.dumps(tree))
        return path

    def call(self, *words: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
        """A call of kubectl as administrator."""
        login = f"--kubeconfig={self.login('admin')}"
        return subprocess.run(
            [str(programs() / "kubectl"), login, *words],
            input=stdin, capture_output=True, text=True, timeout=KUBECTL_S, check=False,
        )  # fmt: skip

    def said(self, *words: str, stdin: str = "") -> str:
        """What such a call writes; "" where it fails."""
        return self.call(*words, stdin=stdin).stdout.strip()

    def objects(self, *words: str) -> list[dict[str, Any]]:
        """What `get` finds."""
        found: list[dict[str, Any]] = json.loads(self.said("get", *words, "-o", "json"))["items"]
        return found

    def _start_etcd(self) -> None:
        client, peer = f"http://127.0.0.1:{self._etcd}", f"http://127.0.0.1:{free_port()}"
        self.daemons.start(
            "etcd",
            programs() / "etcd",
            f"--data-dir={self.folder}/etcd",
            "--unsafe-no-fsync",
            f"--listen-client-urls={client}",
            f"--advertise-client-urls={client}",
            f"--listen-peer-urls={peer}",
            f"--initial-advertise-peer-urls={peer}",
            f"--initial-cluster=default={peer}",
        )

    def _make_key(self, name: str) -> None:
        """A key, and a certificate that is its own authority."""
        at = self.folder / name
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2",
             "-subj", f"/O=system:masters/CN={name}", "-keyout", f"{at}.key", "-out", f"{at}.crt"],
            check=True, capture_output=True, timeout=KUBECTL_S,
        )  # fmt: skip
