# SPDX-License-Identifier: GPL-2.0-or-later
"""A node of a cluster: a kubelet with a containerd of its own, which starts pods by runc."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import time
from pathlib import Path
from typing import Any, Final

import psutil

from tests.plugins.cluster.kubernetes import image
from tests.plugins.cluster.kubernetes.binaries import CNI
from tests.plugins.cluster.kubernetes.binaries import folder as programs
from tests.plugins.cluster.kubernetes.control import Control
from tests.plugins.cluster.kubernetes.daemons import END_S
from tests.support.proxy import free_port

CGROUPS: Final = Path("/sys/fs/cgroup")
COMMAND_S: Final = 60.0
"""Of one command. Usual: under 1 s."""
LEASE_S: Final = 6
"""A kubelet renews its lease each quarter of it; Kubernetes has 40 s."""
CONTAINERD: Final = """version = 2
root = "{at}/root"
state = "{at}/state"
disabled_plugins = [
  "io.containerd.snapshotter.v1.btrfs", "io.containerd.snapshotter.v1.zfs",
  "io.containerd.snapshotter.v1.devmapper", "io.containerd.snapshotter.v1.aufs",
  "io.containerd.tracing.processor.v1.otlp", "io.containerd.internal.v1.tracing",
]
[grpc]
  address = "{at}/containerd.sock"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "{pause}"
  restrict_oom_score_adj = true
  netns_mounts_under_state_dir = true
[plugins."io.containerd.grpc.v1.cri".cni]
  bin_dir = "{cni}"
  conf_dir = "{at}/net.d"
[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
  runtime_type = "io.containerd.runc.v2"
  base_runtime_spec = "{at}/spec.json"
"""


class Node:
    """A node.

    Args:
        kind: its value of the label of kinds.
        subnet: of its pods, such as "10.123.1".
    """

    def __init__(self, control: Control, name: str, kind: str, subnet: str) -> None:
        self._control, self.name, self._kind, self._subnet = control, name, kind, subnet
        self._at = control.folder / name
        self._cgroup = f"duet-{os.getpid()}-{name}"
        self._runtime = f"{name}-containerd"

    def start(self) -> None:
        """Start both of its daemons."""
        (self._at / "net.d").mkdir(parents=True)
        (self._at / "net.d/10-duet.conflist").write_text(json.dumps(self._network()))
        spec = json.loads(_said("ctr", "oci", "spec"))
        spec["mounts"] += image.mounts(self._at)
        (self._at / "spec.json").write_text(json.dumps(spec))
        (self._at / "containerd.toml").write_text(
            CONTAINERD.format(at=self._at, pause=image.PAUSE, cni=CNI)
        )
        daemons = self._control.daemons
        daemons.start(self._runtime, "containerd", "--config", self._at / "containerd.toml")
        ctr = ("ctr", "--address", str(self._at / "containerd.sock"), "--namespace", "k8s.io")
        daemons.wait_for(self._runtime, lambda: _works(*ctr, "version"))
        image.archive(self._at / "images.tar")
        _said(*ctr, "images", "import", str(self._at / "images.tar"))
        self._make_cgroup()
        (self._at / "kubelet.json").write_text(json.dumps(self._settings()))
        self.start_kubelet()

    def start_kubelet(self) -> None:
        """Start the kubelet, also a second time."""
        self._control.daemons.start(
            self.name,
            programs() / "kubelet",
            f"--config={self._at}/kubelet.json",
            f"--kubeconfig={self._control.login(self.name)}",
            f"--root-dir={self._at}/kubelet",
            f"--cert-dir={self._at}/kubelet/pki",
            f"--hostname-override={self.name}",
            f"--node-ip={self._control.address}",
            f"--node-labels=kernel-duet/kind={self._kind}",
        )

    def lose(self) -> None:
        """As when it loses power: nothing of it says anything more, and its programs are gone."""
        self._control.daemons.end(self.name, signal.SIGKILL)
        self._end_pods()

    def stop(self) -> None:
        """End all of it, and take back what it has made of this machine."""
        daemons = self._control.daemons
        for name in (self.name, self._runtime):
            if name in daemons.running:
                daemons.end(name)
        self._end_pods()
        for line in Path("/proc/self/mounts").read_text().splitlines()[::-1]:
            if (where := line.split()[1]).startswith(f"{self._at}/"):
                subprocess.run(["umount", "-l", where], check=False, timeout=COMMAND_S)
        for line in _said("ip", "-o", "-4", "address").splitlines():
            if f" {self._subnet}.1/32 " in line:  # the end of a pod's network that is here
                link = line.split()[1].partition("@")[0]
                subprocess.run(["ip", "link", "del", link], check=False, timeout=COMMAND_S)
        until_s = time.monotonic() + END_S
        while not self._remove_cgroup() and time.monotonic() < until_s:
            time.sleep(0.1)  # processes that were killed are still ending

    def _end_pods(self) -> None:
        """End the shims of its containerd and what runs in its control group."""
        for process in psutil.process_iter():
            with contextlib.suppress(psutil.Error):
                if f"{self._at}/containerd.sock" in process.cmdline():
                    process.kill()
        for listed in CGROUPS.glob(f"*/{self._cgroup}/**/cgroup.procs"):
            for number in listed.read_text().split():
                with contextlib.suppress(OSError):
                    os.kill(int(number), signal.SIGKILL)

    def _remove_cgroup(self) -> bool:
        """Whether nothing is left of it."""
        for top in CGROUPS.glob(f"*/{self._cgroup}"):
            for folder in [*sorted(top.rglob("*/"), reverse=True), top]:
                with contextlib.suppress(OSError):
                    folder.rmdir()
        return not list(CGROUPS.glob(f"*/{self._cgroup}"))

    def _make_cgroup(self) -> None:
        for kind in CGROUPS.iterdir():
            if not (kind / "cgroup.procs").exists():
                continue
            (kind / self._cgroup).mkdir(exist_ok=True)
            for name in ("cpuset.cpus", "cpuset.mems"):
                if (kind / name).exists():
                    (kind / self._cgroup / name).write_text((kind / name).read_text())

    def _network(self) -> dict[str, Any]:
        ranges = [[{"subnet": f"{self._subnet}.0/24"}]]
        ipam = {
            "type": "host-local",
            "ranges": ranges,
            "routes": [{"dst": "0.0.0.0/0"}],
            "dataDir": f"{self._at}/addresses",
        }
        return {"cniVersion": "0.4.0", "name": "duet", "plugins": [{"type": "ptp", "ipam": ipam}]}

    def _settings(self) -> dict[str, Any]:
        authority = {"clientCAFile": f"{self._control.folder}/kubelet-client.crt"}
        return {
            "kind": "KubeletConfiguration",
            "apiVersion": "kubelet.config.k8s.io/v1beta1",
            "address": self._control.address,
            "port": free_port(),
            "healthzPort": 0,
            "authentication": {
                "anonymous": {"enabled": False},
                "webhook": {"enabled": True},
                "x509": authority,
            },
            "authorization": {"mode": "Webhook"},
            "containerRuntimeEndpoint": f"unix://{self._at}/containerd.sock",
            "cgroupDriver": "cgroupfs",
            "cgroupRoot": f"/{self._cgroup}",
            "failCgroupV1": False,
            "failSwapOn": False,
            "makeIPTablesUtilChains": False,
            "nodeStatusUpdateFrequency": "2s",
            "nodeLeaseDurationSeconds": LEASE_S,
            "evictionHard": {"nodefs.available": "1%", "imagefs.available": "1%"},
            "imageGCHighThresholdPercent": 100,
            "maxPods": 20,
        }


def _said(*words: str) -> str:
    done = subprocess.run(words, capture_output=True, text=True, timeout=COMMAND_S, check=False)
    assert done.returncode == 0, (words, done.stderr)
    return done.stdout


def _works(*words: str) -> bool:
    done = subprocess.run(words, capture_output=True, timeout=COMMAND_S, check=False)
    return done.returncode == 0
