# SPDX-License-Identifier: GPL-2.0-or-later
"""Leases hosts for runs and measurements: this machine, a Slurm cluster or Kubernetes.

`choose.open_pool(settings)` returns a `Pool`, and `pool.reserve(Want(...))` returns a `Lease` or a
`Refusal` (types.py). A lease starts any program on its lanes. `live.py` places live runs on leases,
and `measuring` places measurements. This file imports nothing, because every lease's runner imports
this package on its host.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from duet.base.plugins import Registry


def register(core: Registry) -> None:
    core.offer(pool="measure_verb", stage="stage")
    core.verb("pool", "verb", "Reserve one host of each kind in a pool and check it.", "operate")
    core.verb("plan", "plan", "Estimate hosts, CPUs, memory and bandwidth for a class.", "teach")
