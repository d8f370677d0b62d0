# SPDX-License-Identifier: GPL-2.0-or-later
"""Leases on Kubernetes: a Job for each lane, by kubectl.

A pod holds its place from the moment that it is scheduled. Its container waits for a Secret that
does not exist yet, and begins when `Lease.start` has made it: the Secret holds the program's words,
environment and standard input. So a lane runs one program, which is what `duet host` needs.

kubectl and not the Python client: it is what an operator has and has tried, with its own way of
logging in, and the client would bring twelve packages for six calls.

`make kubernetes` builds a real cluster for its tests, and what was not tried stands in
docs/CLUSTER.md. Where there is none, a stand-in for kubectl takes its place
(tests/plugins/cluster/kubectl_double.py).
"""
