# SPDX-License-Identifier: GPL-2.0-or-later
"""Leases on Kubernetes: a Job for each lane, through kubectl.

A pod holds its place once it is scheduled. Its container waits for a Secret that does not exist
yet,
and starts when `Lease.start` creates it. The Secret holds the program's arguments, environment and
standard input. So a lane runs one program, which is enough for `duet host`.

kubectl is used instead of the Python client: operators have it, logged in and tested. The client
would bring twelve packages for six calls.

`make kubernetes` builds a real cluster for the tests. docs/CLUSTER.md lists what was not tested.
Without a cluster, a stand-in for kubectl is used (tests/plugins/cluster/kubectl_double.py).
"""
