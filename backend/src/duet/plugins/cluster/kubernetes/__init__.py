# SPDX-License-Identifier: GPL-2.0-or-later
"""Leases on Kubernetes. Each lane is a Job, which kubectl creates.

A pod keeps its resources once it is scheduled. Its container waits for a Secret that does not exist
yet, and starts when `Lease.start` creates that Secret. The Secret holds the program's arguments,
environment and standard input. So each lane runs only one program, which is enough for `duet host`.

kubectl is used instead of the Python client, because operators have it installed, logged in and
tested. The Python client would add twelve packages for six calls.

`make kubernetes` builds a real cluster for the tests. docs/CLUSTER.md lists what was not tested.
Without a cluster, the tests use a stand-in for kubectl (tests/plugins/cluster/kubectl_double.py).
"""
