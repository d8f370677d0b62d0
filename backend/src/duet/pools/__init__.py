# SPDX-License-Identifier: GPL-2.0-or-later
"""Machines for work: leases on this machine, on a Slurm cluster or on Kubernetes.

`choose.open_pool(settings)` gives a `Pool`; `pool.reserve(Want(...))` a `Lease` or a `Refusal`
(types.py). A lease starts any program on its lanes; what a program does is its caller's affair.
Nothing is imported here: a runner imports this package on each host.
"""
