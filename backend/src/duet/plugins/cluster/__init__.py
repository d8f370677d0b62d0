# SPDX-License-Identifier: GPL-2.0-or-later
"""Machines for work: leases on this machine, on a Slurm cluster or on Kubernetes.

`choose.open_pool(settings)` gives a `Pool`; `pool.reserve(Want(...))` a `Lease` or a `Refusal`
(types.py). A lease starts any program on its lanes; what a program does is its caller's affair.
`live.py` puts live runs on leases, `measuring` measurements. Nothing is imported here: a runner
imports this package on each host.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from duet.base.plugins import Registry


def register(core: Registry) -> None:
    """Name what this plug-in has."""
    core.offer(pool="measure_verb", stage="stage")
    core.verb(
        "pool",
        "verb",
        "Reserve a host of every kind and say what it has and whether it may measure.",
    )
    core.verb(
        "plan",
        "plan",
        "Say how many hosts, CPUs, memory and bandwidth a class needs, and what is short first.",
    )
