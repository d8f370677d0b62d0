# SPDX-License-Identifier: GPL-2.0-or-later
"""`python -m duet.plugins.cluster.probe`: print facts about a lease's host as one JSON document.

This module does not check whether a guest boots under KVM. For that, `duet pool doctor` also boots
a probe guest (duet.plugins.cluster.probe_program).
"""

from __future__ import annotations

import json
import os
import platform
import shutil
import subprocess
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path

import psutil

from duet.processes.cpus import cpu_time, host_ticks

QEMU = "qemu-system-x86_64"
SPIN_S = 1.0
"""How long the probe keeps a CPU busy to find out whether other programs use it."""
QEMU_S = 20.0
"""Time limit for QEMU to print its version. Usual: 30 ms."""


@dataclass(frozen=True, slots=True)
class Facts:
    """Facts about a host.

    Args:
        cpus: number of the host's CPUs.
        own_cpus: number of CPUs that a program of the lease may use.
        model: the model of its CPUs.
        qemu: the version of QEMU, or "" if it is not installed.
        kvm: why guests do not boot under KVM, or "" if a guest has booted under KVM.
        waited_share: part of SPIN_S for which a busy program waited for a CPU.
        stolen_share: part of SPIN_S for which a hypervisor gave the CPU to other guests. None if
            the host does not count this time.
    """

    host: str
    cpus: int
    own_cpus: int
    memory_bytes: int
    model: str
    qemu: str
    kvm: str
    waited_share: float
    stolen_share: float | None

    @classmethod
    def from_text(cls, text: bytes) -> Facts:
        """Parse the output of a probe.

        Raises:
            ValueError: the output is invalid.
        """
        try:
            lines = [line for line in text.splitlines() if line.startswith(b"{")]
            return cls(
                **json.loads(lines[-1] if lines else text)
            )  # the output may contain error messages besides the JSON
        except TypeError as error:
            raise ValueError(str(error)) from None


def look(kvm: str = "not tried") -> Facts:
    """Collect facts about this host. This takes SPIN_S."""
    waited, stolen = spin(SPIN_S)
    return Facts(
        host=platform.node(),
        cpus=os.cpu_count() or 1,
        own_cpus=len(os.sched_getaffinity(0)),
        memory_bytes=psutil.virtual_memory().total,
        model=cpu_model(),
        qemu=qemu_version(),
        kvm=kvm,
        waited_share=waited,
        stolen_share=stolen,
    )


def spin(for_s: float) -> tuple[float, float | None]:
    """Keep a CPU busy as a guest does. Return the shares of time in which the program waited, and
    in which a hypervisor took the CPU."""
    before, ticks = cpu_time(os.getpid()), host_ticks()
    until_s = time.monotonic() + for_s
    while time.monotonic() < until_s:
        pass
    after, then = cpu_time(os.getpid()), host_ticks()
    waited = after.since(before).waited_share if before and after else 0.0
    return waited, then.stolen_share(ticks) if ticks and then else None


def cpu_model() -> str:
    """Return the CPU model from /proc/cpuinfo, or "" if that file names no model."""
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return ""


def qemu_version() -> str:
    """Return QEMU's version number, or "" if there is no usable QEMU."""
    path = shutil.which(QEMU)
    if path is None:
        return ""
    try:
        words = [path, "--version"]
        said = subprocess.run(words, capture_output=True, text=True, timeout=QEMU_S).stdout
    except (OSError, subprocess.TimeoutExpired):
        return ""
    first = said.partition("\n")[0]
    return first.partition("version ")[2].split(" ")[0] or first


def main(kvm: str = "not tried") -> int:
    """Print facts about this host as JSON."""
    json.dump(asdict(look(kvm)), sys.stdout)
    return 0


if __name__ == "__main__":
    sys.exit(main())
