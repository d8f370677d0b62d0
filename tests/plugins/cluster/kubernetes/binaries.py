# SPDX-License-Identifier: GPL-2.0-or-later
"""The programs of a cluster, built from Go modules into the cache: `make kubernetes`."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Final

from duet.base.settings import cache_dir

MODULE: Final = Path(__file__).parent / "programs"
PACKAGES: Final = {
    "etcd": "go.etcd.io/etcd/server/v3",
    "kube-apiserver": "k8s.io/kubernetes/cmd/kube-apiserver",
    "kube-controller-manager": "k8s.io/kubernetes/cmd/kube-controller-manager",
    "kube-scheduler": "k8s.io/kubernetes/cmd/kube-scheduler",
    "kubectl": "k8s.io/kubernetes/cmd/kubectl",
    "kubelet": "k8s.io/kubernetes/cmd/kubelet",
}
CNI: Final = Path("/usr/lib/cni")
"""Of Debian's containernetworking-plugins."""
ASKED: Final = "DUET_TEST_KUBERNETES"
"""The tests on a cluster take five minutes, and need programs that CI does not build."""
INSTALLED: Final = ("containerd", "containerd-shim-runc-v2", "ctr", "runc", "openssl", "ip")
BUILD_S: Final = 3600.0
"""Of one program. Usual: 13 minutes of two CPUs for all of them."""


def folder() -> Path:
    """Where they are; other versions have another one."""
    fixed = (MODULE / "go.mod").read_bytes() + (MODULE / "go.sum").read_bytes()
    return cache_dir() / "kubernetes" / hashlib.sha256(fixed).hexdigest()[:16]


def missing() -> str:
    """Why no cluster can be had here, as a sentence; "": it can."""
    if os.environ.get(ASKED) != "1":
        return "a Kubernetes cluster was not asked for: make kubernetes runs these tests"
    if os.geteuid() != 0:
        return "a Kubernetes cluster needs root, for mounts and control groups"
    if not all((folder() / name).exists() for name in PACKAGES):
        return "the programs of Kubernetes are not in the cache: make kubernetes builds them"
    if lacks := [name for name in INSTALLED if shutil.which(name) is None]:
        return f"a Kubernetes cluster needs {', '.join(lacks)}: install containerd and runc"
    if not (CNI / "ptp").exists():
        return "a Kubernetes cluster needs the package containernetworking-plugins"
    return ""


def build() -> None:
    """Build what is not there."""
    to = folder()
    to.mkdir(parents=True, exist_ok=True)
    env = os.environ | {"CGO_ENABLED": "0", "GOFLAGS": "-mod=readonly -buildvcs=false"}
    for name, package in PACKAGES.items():
        if (to / name).exists():
            continue
        began_s = time.monotonic()
        half = to / f".{name}"
        words = ["go", "build", "-trimpath", "-ldflags", "-s -w", "-o", str(half), package]
        subprocess.run(words, cwd=MODULE, env=env, check=True, timeout=BUILD_S)
        half.rename(to / name)
        print(f"{name}: built in {time.monotonic() - began_s:.0f} s", flush=True)
    print(f"The programs of Kubernetes are in {to}")


if __name__ == "__main__":
    if shutil.which("go") is None:
        sys.exit("error: Go is needed to build Kubernetes, and is not installed.")
    build()
