# SPDX-License-Identifier: GPL-2.0-or-later
"""Words of Slurm's commands for a want, and what their answers mean. Sans I/O."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from datetime import datetime

from duet.pools.limits import LATER_S
from duet.pools.settings import PoolSettings
from duet.pools.types import Refusal, Want

REPORT = 'printf "%s|%s|%s\\n" "$SLURM_JOB_ID" "$SLURM_JOB_NODELIST" "$SLURM_TASKS_PER_NODE"'
HOLD = ("sh", "-c", f"{REPORT}; exec cat")
"""What salloc runs here: says what it got, and holds the allocation while its input is open."""
EXPORTED = "PATH,HOME,USER,LANG,TZ,TMPDIR"
"""What goes from our environment to the hosts: the server's own may hold secrets."""
MIB = 1 << 20


def constraint(want: Want, settings: PoolSettings) -> str | Refusal:
    """The expression of `--constraint`: "" for any host."""
    kinds = settings.kinds
    if want.kind:
        if want.kind not in kinds:
            return Refusal(f"the cluster has no hosts of the kind '{want.kind:.60}'.")
        found = [want.kind]
    elif want.alike and want.lanes_at_once > 1 and len(kinds) > 1:
        found = [f"[{'|'.join(kinds)}]"]  # all of one, salloc(1) "Matching OR"
    else:
        found = []
    if want.accel == "kvm":
        if not settings.kvm:
            return Refusal("guests under KVM are wanted, and DUET_POOL_KVM names no feature.")
        found.append(settings.kvm)
    return "&".join(found)


def selection(want: Want, settings: PoolSettings) -> list[str] | Refusal:
    """Options of salloc and sbatch that say what is wanted."""
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
        # A whole host: cores of its own would share caches and memory with other jobs.
        words += ["--nodes=1", "--exclusive", f"--mem={memory_mib}M"]
    else:
        words.append(f"--mem-per-cpu={math.ceil(memory_mib / want.vcpus)}M")
        if want.alike and not settings.kinds:
            words.append("--nodes=1")  # nothing says which hosts can be compared
    words += [f"--constraint={feature}"] if feature else []
    words += [f"--exclude={','.join(want.avoid)}"] if want.avoid else []
    words += [f"--partition={settings.partition}"] if settings.partition else []
    words += [f"--account={settings.account}"] if settings.account else []
    return words


def step(job: str, host: str, want: Want) -> list[str]:
    """The words of srun before those of a runner."""
    return [
        "srun",
        f"--jobid={job}",
        "--nodes=1",
        "--ntasks=1",
        f"--nodelist={host}",
        f"--cpus-per-task={want.vcpus}",
        "--exact",
        # All that the lease has there. A share of it would be counted again for each step, and
        # Slurm 22.05 finds none left for the first step after a restart of its controller.
        "--mem=0",
        "--cpu-bind=cores",
        f"--export={EXPORTED}",
        "--quiet",
        "--unbuffered",
        "--kill-on-bad-exit=1",
        "--job-name=duet",
    ]


def lanes_of(tasks_per_node: str, hosts: Sequence[str], lanes: int) -> list[str]:
    """Each lane's host, by "2(x3),1": two tasks on each of three hosts, and one on the next.

    An exclusive lease has one task, and all its lanes there.
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
    """What salloc or sbatch complained of last, in its own words; "" if of nothing."""
    form = r"^(?:(?:salloc|sbatch): error|allocation failure): (.+)$"  # the latter: --test-only
    found = [match[1] for match in re.finditer(form, text, re.MULTILINE)]
    return found[-1].rpartition(": ")[2].rstrip(".") if found else ""


def estimate_s(text: str, now: datetime) -> float | None:
    """From now until the start that `sbatch --test-only` names, in the time of its host."""
    found = re.search(r"to start at (\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)", text)
    return max(0.0, (datetime.fromisoformat(found[1]) - now).total_seconds()) if found else None
