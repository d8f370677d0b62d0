# SPDX-License-Identifier: GPL-2.0-or-later
"""Builds arguments of Slurm's commands for a lease, and parses the output of these commands."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from duet.base.errors import InputError
from duet.plugins.cluster.lease import command
from duet.plugins.cluster.limits import COMMAND_S, LATER_S
from duet.plugins.cluster.types import Kind, PoolSettings, Refusal, Want

REPORT = 'printf "%s|%s|%s\\n" "$SLURM_JOB_ID" "$SLURM_JOB_NODELIST" "$SLURM_TASKS_PER_NODE"'
HOLD = ("sh", "-c", f"{REPORT}; exec cat")
"""The command that salloc runs on this machine. It prints the allocation's data, and then keeps the
allocation until its standard input is closed.
"""
EXPORTED = "PATH,HOME,USER,LANG,TZ,TMPDIR"
"""Variables that are passed to the hosts. The server's other variables may hold secrets."""
MIB = 1 << 20


def constraint(want: Want, settings: PoolSettings) -> str | Refusal:
    """Return the expression for `--constraint`, or "" for any host."""
    kinds = settings.kinds
    if want.kind:
        if want.kind not in kinds:
            return Refusal(f"the cluster has no hosts of the kind '{want.kind:.60}'.")
        found = [want.kind]
    elif want.alike and want.lanes_at_once > 1 and len(kinds) > 1:
        # require hosts of a single kind ("Matching OR" in salloc(1))
        found = [f"[{'|'.join(kinds)}]"]
    else:
        found = []
    if want.accel == "kvm":
        if not settings.kvm:
            return Refusal("guests under KVM are wanted, and DUET_POOL_KVM names no feature.")
        found.append(settings.kvm)
    return "&".join(found)


def selection(want: Want, settings: PoolSettings) -> list[str] | Refusal:
    """Return the options of salloc and sbatch that request a lease."""
    feature = constraint(want, settings)
    if isinstance(feature, Refusal):
        return feature
    memory_mib = math.ceil(want.memory_bytes / MIB)
    words = [
        f"--ntasks={want.lanes_at_once}",
        f"--cpus-per-task={want.vcpus}",
        f"--time={math.ceil((want.ttl_s + LATER_S) / 60)}",
    ]
    if want.exclusive:
        # Reserve a complete host, because exclusive cores would still share caches and memory with
        # other jobs.
        words += ["--nodes=1", "--exclusive", f"--mem={memory_mib}M"]
    else:
        words.append(f"--mem-per-cpu={math.ceil(memory_mib / want.vcpus)}M")
        if want.alike and not settings.kinds:
            words.append("--nodes=1")  # one host, because it is unknown which hosts can be compared
    words += [f"--constraint={feature}"] if feature else []
    words += [f"--exclude={','.join(want.avoid)}"] if want.avoid else []
    words += [f"--partition={settings.partition}"] if settings.partition else []
    words += [f"--account={settings.account}"] if settings.account else []
    return words


def step(job: str, host: str, want: Want) -> list[str]:
    """Return the srun command that precedes a runner's command."""
    return [
        "srun",
        f"--jobid={job}",
        "--nodes=1",
        "--ntasks=1",
        f"--nodelist={host}",
        f"--cpus-per-task={want.vcpus}",
        "--exact",
        # 0 means all memory of the lease on that host. If each step requested only its share, Slurm
        # 22.05 would find no free memory for the first step after a restart of its controller.
        "--mem=0",
        "--cpu-bind=cores",
        f"--export={EXPORTED}",
        "--quiet",
        "--unbuffered",
        "--kill-on-bad-exit=1",
        "--job-name=duet",
    ]


def lanes_of(tasks_per_node: str, hosts: Sequence[str], lanes: int) -> list[str]:
    """Return each lane's host.

    "2(x3),1" means two tasks on each of three hosts, and one task on the next host.

    An exclusive lease has one task, which runs all its lanes.
    """
    found: list[str] = []
    left = list(hosts)
    for tasks, times in re.findall(r"(\d+)(?:\(x(\d+)\))?", tasks_per_node):
        for _ in range(int(times or 1)):
            if left:
                found += [left.pop(0)] * int(tasks)
    found = found or list(hosts)
    return (found + [found[-1]] * lanes)[:lanes] if found else []


def complaint(text: str) -> str:
    """Return the last error of salloc or sbatch, or "" if there is none."""
    # sbatch --test-only prints "allocation failure"
    form = r"^(?:(?:salloc|sbatch): error|allocation failure): (.+)$"
    found = [match[1] for match in re.finditer(form, text, re.MULTILINE)]
    return found[-1].rpartition(": ")[2].rstrip(".") if found else ""


def estimate_s(text: str, now: datetime) -> float | None:
    """Return the seconds until the start that `sbatch --test-only` predicts.

    The predicted time is in the local time of the host.
    """
    found = re.search(r"to start at (\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)", text)
    return max(0.0, (datetime.fromisoformat(found[1]) - now).total_seconds()) if found else None


# Handles time limits of partitions. A job that requests more time waits forever, without an error.

SHORTEST_S = 60.0
"""Minimum length of a useful lease."""
_TIME = re.compile(r"(?:(\d+)-)?(?:(\d+):)?(\d+):(\d+)")


def seconds_of(text: str) -> float | None:
    """Parse a time limit such as 1-02:30:00, as sinfo prints it. None means unlimited."""
    found = _TIME.fullmatch(text.strip())
    if found is None:
        return None
    days, hours, minutes, seconds = (int(part or 0) for part in found.groups())
    return float(((days * 24 + hours) * 60 + minutes) * 60 + seconds)


async def within_limit(want: Want, settings: PoolSettings) -> Want:
    """Shorten a lease to what the partition allows.

    Raises:
        InputError: the partition's time limit is too short for any lease.
    """
    words = ["sinfo", "--noheader", "--format=%P|%l"]
    words += [f"--partition={settings.partition}"] if settings.partition else []
    done = await command(words, COMMAND_S)
    # sinfo marks the default partition with '*'.
    lines = [line.strip().split("|") for line in done.out.splitlines() if "|" in line]
    limits = [limit for name, limit in lines if settings.partition or name.endswith("*")]
    limit_s = seconds_of(limits[0]) if done.code == 0 and limits else None
    if limit_s is None or limit_s >= want.ttl_s + LATER_S:
        return want
    if limit_s < SHORTEST_S + LATER_S:
        raise InputError(
            f"a lease needs at least {SHORTEST_S + LATER_S:g} s, but jobs in this partition may"
            f" last only {limit_s:g} s.",
            remedy="Set DUET_POOL_PARTITION to another partition.",
        )
    return replace(want, ttl_s=limit_s - LATER_S)


UP = ("idle", "mixed", "allocated", "completing", "reserved", "planned")


async def kinds_of(settings: PoolSettings) -> Sequence[Kind] | Refusal:
    """Return each kind with its hosts. If the settings name no kinds, there is one kind with the
    name ""."""
    words = ["sinfo", "--noheader", "--Node", "--format=%N|%f|%T"]
    words += [f"--partition={settings.partition}"] if settings.partition else []
    done = await command(words, COMMAND_S)
    if done.code != 0:
        return Refusal(f"sinfo gives no answer: {done.why}.")
    hosts = {}
    for line in done.out.splitlines():
        name, features, state = line.strip().split("|")
        # A node has one line for each of its partitions. A '*' after a node's state means that the
        # node does not answer.
        hosts[name] = (features.split(","), state in UP)
    found = []
    for kind in settings.kinds or ("",):
        mine = {name: up for name, (has, up) in hosts.items() if not kind or kind in has}
        up = [name for name, is_up in mine.items() if is_up]
        found.append(Kind(kind, up, [name for name in mine if name not in up]))
    return found
