# SPDX-License-Identifier: GPL-2.0-or-later
"""Waits and bounds of leases. Seconds and bytes."""

from __future__ import annotations

from typing import Final

BEAT_S: Final = 2.0
"""Between two heartbeats, in both directions."""
SILENT_S: Final = 20.0
"""After so long without a heartbeat, a program counts as lost with its host, and a runner ends
its program. Usual: 2 s. It is longer than any pause of a busy host, and below the 30 s within which
the death of a host is reported.
"""
BEGIN_S: Final = 60.0
"""Limit until a program's first heartbeat. Usual: 0.1-0.5 s; a step waits for the one before."""
TERM_S: Final = 2.0
"""Time for a program between SIGTERM and SIGKILL of all that it started."""
END_S: Final = 8.0
"""Limit for a program to end by itself; then its launcher is killed."""
AGAIN_S: Final = 15.0
"""A launcher that got no step is retried for this long: a restarted controller does not yet
know its hosts or what is free on them. Usual: 2 s.
"""
OUTPUT_BYTES: Final = 1 << 20
"""Kept of a program's standard output, and of its standard error. Usual: under 10 KB. Of more,
the last part is kept and the rest is counted.
"""
FRAME_BYTES: Final = 64 << 10
"""Largest frame that a runner writes."""
HEADER_BYTES: Final = 4 << 20
"""Largest sum of a program's arguments, environment and standard input. Usual: under 4 KB."""
TTL_MOST_S: Final = 7 * 24 * 3600.0
"""The longest lease."""
LANES_MOST: Final = 64
"""Most lanes of one lease."""
ANSWER_S: Final = 5.0
"""Least time that a controller has for its first answer, even if the caller does not wait.
Usual: 20 ms; commands retry an unreachable controller for 9 s or more.
"""
RETRY_S: Final = 1.0
"""Between two tries of a failed command, or of a resource that another part of this process
holds.
"""

# Slurm

SALLOC_CPU_S: Final = 60
"""CPU time limit of an salloc, which waits nearly all the time. Usual: 0.1 s."""
COMMAND_S: Final = 20.0
"""Limit of one command. Usual: 5 ms; slurmctld's own message timeout is 10 s."""
POLL_S: Final = 3.0
"""Between two polls of the jobs of all leases, by one squeue. Usual: 5 ms of the controller."""
AWAY_S: Final = 180.0
"""A controller without an answer for this long is reported, and its leases count as lost.
Usual: a restart takes 1-10 s, a takeover by a backup controller 120 s (SlurmctldTimeout).
"""
SETTLE_S: Final = 5.0
"""Limit until an ending job shows its reason. Usual: 0.1 s."""
ABSENT_LOOKS: Final = 2
"""A job has ended if so many answers in turn do not list it. The first answer may come from a
controller that is still reading its state.
"""
CANCEL_S: Final = 60.0
"""How long scancel is retried. Then the job's time limit ends it, and the log says so."""
LATER_S: Final = 60.0
"""A job's time limit exceeds the lease's by this: Slurm counts whole minutes."""

# Kubernetes

KUBECTL_S: Final = 30.0
"""Limit of one kubectl. Usual: 0.1-1 s."""
KUBE_POLL_S: Final = 2.0
"""Between two polls of the pods of a lease."""
SECRET_BYTES: Final = 1 << 20
"""Largest sum of a program's arguments, environment and standard input: the limit of a Secret."""
KUBE_PLACE_S: Final = 0.5
"""Between two polls for the nodes of a new lease's pods. Usual: one poll, 0.3 s."""
KUBE_LATER_S: Final = 60.0
"""A Job's deadline exceeds the lease's by this. The server enforces the lease's; the Job's is
for a server that was killed.
"""
LOG_BYTES: Final = 64 << 20
"""Most of a pod's log that is read: kubectl cuts off the end, which is what we need. Kubelets
start a new file at 10 MiB, and check every 10 s.
"""
KUBE_DONE_S: Final = 60
"""How long a finished Job stays, so that its reason can be read."""
