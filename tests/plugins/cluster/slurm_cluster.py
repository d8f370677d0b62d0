# SPDX-License-Identifier: GPL-2.0-or-later
"""A real Slurm cluster of four nodes on this machine: slurmctld and four slurmd, without munge."""

from __future__ import annotations

import contextlib
import json
import os
import platform
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from tests.support.proxy import free_port

SBIN = "/usr/sbin:/sbin:/usr/bin:/bin"
PROGRAMS = ("slurmctld", "slurmd", "salloc", "squeue")
START_S = 60.0
SETTLE_S = 8.0
NODES = 4
CGROUPS = Path("/sys/fs/cgroup")
NEEDED = ("freezer", "cpuset", "memory")
MEMORY_MIB = 2000
"""Of each node, as the configuration says; nothing holds programs to it."""

CONF = """ClusterName={name}
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={port}
AuthType=auth/none
CredType=cred/none
SlurmUser=root
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool/%n
SlurmctldPidFile={folder}/run/slurmctld.pid
SlurmdPidFile={folder}/run/%n.pid
SlurmctldLogFile={folder}/log/slurmctld.log
SlurmdLogFile={folder}/log/%n.log
SlurmctldTimeout=10
SlurmdTimeout=3
MessageTimeout=3
KillWait=2
MpiDefault=none
ProctrackType={proctrack}
TaskPlugin={tasks}
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
SchedulerType=sched/backfill
SchedulerParameters=sched_min_interval=0,batch_sched_delay=0,bf_interval=1
ReturnToService=2
PartitionName=duet Nodes={nodes} Default=YES MaxTime=01:00:00 State=UP OverSubscribe=NO
"""
NODE = (
    "NodeName={name} NodeHostname={host} NodeAddr=127.0.0.1 Port={port} CPUs=2"
    " RealMemory={memory} Feature={features}\n"
)
CGROUP_CONF = "CgroupPlugin=cgroup/v1\nCgroupAutomount=no\nConstrainCores=yes\n"


def missing() -> str:
    """Why no cluster can be started here; "": it can."""
    if os.geteuid() != 0:
        return "only root starts slurmd"
    absent = [name for name in PROGRAMS if shutil.which(name, path=SBIN) is None]
    return f"{absent[0]} is not installed (./setup.sh dev)" if absent else ""


def can_use_cgroups() -> bool:
    """Whether Slurm can make control groups of v1: elsewhere it follows /proc."""
    return all(os.access(CGROUPS / kind, os.W_OK) for kind in NEEDED)


@dataclass
class Cluster:
    """Nodes a, b (feature cpuA) and c, d (cpuB); all but a have kvm.

    Args:
        folder: of its files; $SLURM_CONF points into it.
    """

    folder: Path
    cgroups: bool = field(default_factory=can_use_cgroups)
    nodes: list[str] = field(default_factory=list)
    _running: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        # Slurm names control groups by node: two clusters at once must not share any.
        self.nodes = [f"duet{os.getpid()}{letter}" for letter in "abcd"]
        host = platform.node().partition(".")[0]
        for name in ("state", "run", "log", *(f"spool/{node}" for node in self.nodes)):
            (self.folder / name).mkdir(parents=True)
        text = CONF.format(
            name=f"duet{os.getpid()}",
            host=host,
            port=free_port(),
            folder=self.folder,
            nodes=",".join(self.nodes),
            proctrack="proctrack/cgroup" if self.cgroups else "proctrack/linuxproc",
            tasks="task/affinity,task/cgroup" if self.cgroups else "task/affinity",
        )
        for node, features in zip(
            self.nodes, ("cpuA", "cpuA,kvm", "cpuB,kvm", "cpuB,kvm"), strict=True
        ):
            text += NODE.format(
                name=node, host=host, port=free_port(), memory=MEMORY_MIB, features=features
            )
        (self.folder / "slurm.conf").write_text(text)
        (self.folder / "cgroup.conf").write_text(CGROUP_CONF)

    @property
    def conf(self) -> str:
        """For $SLURM_CONF."""
        return str(self.folder / "slurm.conf")

    def start(self, name: str = "slurmctld") -> None:
        """Start the controller, or a node's daemon."""
        words = [name, "-D"] if name == "slurmctld" else ["slurmd", "-D", "-N", name]
        words[0] = str(shutil.which(words[0], path=SBIN))
        words = ["setpriv", "--pdeathsig", "KILL", "--", *words]  # with a run that is killed
        with (self.folder / f"log/{name}.out").open("ab") as out:
            self._running[name] = subprocess.Popen(
                words,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=out,
                env=os.environ | {"SLURM_CONF": self.conf},
                start_new_session=True,
            )

    def kill(self, name: str, number: int = signal.SIGKILL) -> None:
        """End one of them. What a node's daemon started lives on, as on a hanging node."""
        process = self._running.pop(name)
        process.send_signal(number)
        process.wait(START_S)

    def said(self, *words: str) -> str:
        """What a command of Slurm writes."""
        env = os.environ | {"SLURM_CONF": self.conf}
        done = subprocess.run(words, capture_output=True, text=True, env=env, timeout=START_S)
        return done.stdout.strip()

    def wait_for(self, state: str, *nodes: str, within_s: float = START_S) -> None:
        """Until these nodes, or all, are in a state."""
        wanted = nodes or tuple(self.nodes)
        until = time.monotonic() + within_s
        while time.monotonic() < until:
            states = self.states()
            if all(states.get(node) == state for node in wanted):
                return
            time.sleep(0.05)
        logs = [path.read_text()[-500:] for path in sorted((self.folder / "log").iterdir())]
        raise AssertionError(f"{wanted} are not {state}: {logs}")

    def states(self) -> dict[str, str]:
        """Of each node."""
        lines = self.said("sinfo", "-h", "-N", "-o", "%N %T").splitlines()
        return dict(line.split() for line in lines)

    def settle(self) -> None:
        """Until all nodes are idle.

        On a busy host a message that a job has ended may be lost, and Slurm sends it again after
        two minutes: taking the node down and back settles that.
        """
        try:
            self.wait_for("idle", within_s=SETTLE_S)
        except AssertionError:
            for node in (node for node, state in self.states().items() if state != "idle"):
                down = ("State=DOWN", "Reason=test")
                self.said("scontrol", "update", f"NodeName={node}", *down)
                self.said("scontrol", "update", f"NodeName={node}", "State=RESUME")
            self.wait_for("idle")

    def stop(self) -> None:
        """End all of it, with its jobs, and remove its control groups."""
        self.said("scancel", "--user=root", "--full")
        for name in list(self._running):
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.kill(name, signal.SIGTERM)
        for kind in CGROUPS.iterdir() if self.cgroups else ():
            for node in self.nodes:
                top = kind / f"slurm_{node}"
                for folder in sorted(top.rglob("*"), reverse=True) if top.is_dir() else ():
                    if folder.is_dir():
                        with contextlib.suppress(OSError):
                            folder.rmdir()
                with contextlib.suppress(OSError):
                    top.rmdir()


@contextlib.contextmanager
def cluster(folder: Path) -> Iterator[Cluster]:
    """Four nodes that are idle."""
    made = Cluster(folder)
    try:
        for name in ("slurmctld", *made.nodes):
            made.start(name)
        made.wait_for("idle")
        yield made
    finally:
        made.stop()


def main() -> None:
    """Have a cluster until standard input ends: its settings and nodes as a line of JSON first.

    A line of input is the name of a node to kill.
    """
    with tempfile.TemporaryDirectory(prefix="duet-slurm-") as folder, cluster(Path(folder)) as made:
        print(json.dumps({"conf": made.conf, "nodes": made.nodes}), flush=True)
        for line in sys.stdin:
            made.kill(line.strip())


if __name__ == "__main__":
    main()
