# SPDX-License-Identifier: GPL-2.0-or-later
"""Timeouts and size limits for leases, in seconds and bytes."""

from __future__ import annotations

from typing import Final

BEAT_S: Final = 2.0
"""Time between two heartbeats, in both directions."""
SILENT_S: Final = 20.0
"""After this long without a heartbeat, the pool counts a program and its host as lost, and the
runner ends its program. Usual time between heartbeats: 2 s. The limit is longer than any pause of a
busy host, and below the 30 s within which the death of a host is to be reported.
"""
BEGIN_S: Final = 60.0
"""Time limit for a program's first heartbeat. Usual: 0.1-0.5 s, because a Slurm step waits for the
previous step.
"""
TERM_S: Final = 2.0
"""Time between SIGTERM for a program and SIGKILL for it and all that it started."""
END_S: Final = 8.0
"""Time limit for a program to end by itself. After that, its launcher is killed."""
AGAIN_S: Final = 15.0
"""A launcher that got no Slurm step is retried for this long, because a restarted controller does
not yet know its hosts or what is free on them. Usual: 2 s.
"""
OUTPUT_BYTES: Final = 1 << 20
"""Number of bytes that are kept of a program's standard output, and also of its standard error.
Usual: under 10 KB. If the output is longer, its last part is kept, and the dropped bytes are
counted.
"""
FRAME_BYTES: Final = 64 << 10
"""Maximum size of a frame that a runner writes."""
HEADER_BYTES: Final = 4 << 20
"""Maximum size of a program's arguments, environment and standard input. Usual: under 4 KB.
"""
TTL_MOST_S: Final = 7 * 24 * 3600.0
"""Maximum length of a lease."""
LANES_MOST: Final = 64
"""Maximum number of lanes in one lease."""
ANSWER_S: Final = 5.0
"""Time that a controller always has for its first answer, even if the caller does not want to
wait. Usual: 20 ms. Commands retry an unreachable controller for 9 s or more.
"""
RETRY_S: Final = 1.0
"""Time between two tries to run a failed command, or to get a resource that another part of this
process holds.
"""

# Slurm

SALLOC_CPU_S: Final = 60
"""CPU time limit for an salloc, which waits nearly all the time. Usual: 0.1 s."""
COMMAND_S: Final = 20.0
"""Time limit for one command. Usual: 5 ms. slurmctld's own message timeout is 10 s."""
POLL_S: Final = 3.0
"""Time between two polls. One squeue polls the jobs of all leases, which usually takes the
controller 5 ms.
"""
AWAY_S: Final = 180.0
"""If a controller has not answered for this long, the failure is reported, and its leases count as
lost. Usually a restart takes 1-10 s, and a takeover by a backup controller 120 s
(SlurmctldTimeout).
"""
SETTLE_S: Final = 5.0
"""How long to wait until an ending job shows its reason. Usual: 0.1 s."""
ABSENT_LOOKS: Final = 2
"""A job counts as ended if this many successive answers do not list it. One such answer is not
enough, because a controller may answer while it is still reading its state.
"""
CANCEL_S: Final = 60.0
"""How long a failed scancel is retried. After that, the job's own time limit ends it, and the log
says so.
"""
LATER_S: Final = 60.0
"""A job's time limit exceeds the lease's by this much, because Slurm counts whole minutes."""

# Kubernetes

KUBECTL_S: Final = 30.0
"""Time limit for one kubectl command. Usual: 0.1-1 s."""
KUBE_POLL_S: Final = 2.0
"""Time between two polls of a lease's pods."""
SECRET_BYTES: Final = 1 << 20
"""Maximum total size of a program's arguments, environment and standard input. Kubernetes has this
size limit for a Secret.
"""
KUBE_PLACE_S: Final = 0.5
"""Time between two polls for the nodes of a new lease's pods. Usual: one poll, 0.3 s."""
KUBE_LATER_S: Final = 60.0
"""A Job's deadline exceeds the lease's by this much. The server enforces the lease's deadline. The
Job's deadline takes effect if the server was killed.
"""
LOG_BYTES: Final = 64 << 20
"""Maximum number of bytes read from a pod's log. It is generous because kubectl cuts off the end of
a longer log, and the end is what we need. Kubelets start a new log file at 10 MiB, and check every
10 s.
"""
KUBE_DONE_S: Final = 60
"""How long a finished Job is kept, so that its reason can be read."""
