# SPDX-License-Identifier: GPL-2.0-or-later
"""Waits and bounds of leases, by name. Seconds and bytes."""

from __future__ import annotations

from typing import Final

BEAT_S: Final = 2.0
"""Between two signs of life, in both directions."""
SILENT_S: Final = 20.0
"""A program of which nothing came for so long is lost with its host, and a runner to which nothing
came ends its program. Usual: 2 s. Longer than any pause of a busy host, and below the 30 s within
which the death of a host is reported."""
BEGIN_S: Final = 60.0
"""Until the first sign of life of a program. Usual: 0.1-0.5 s; a step waits for the one before."""
TERM_S: Final = 2.0
"""A program has so long between SIGTERM and the end of all that it started."""
END_S: Final = 8.0
"""Until a program that is to end has ended by itself; then its launcher is killed."""
AGAIN_S: Final = 15.0
"""So long a launcher that got no step is tried again: a controller that has just come back knows
neither its hosts nor what is free on them. Usual: 2 s."""
OUTPUT_BYTES: Final = 1 << 20
"""Of standard output and of standard error that are held of a program, each. Usual: under 10 KB.
Of more the last part is held, and the rest is counted."""
FRAME_BYTES: Final = 64 << 10
"""Of one frame that a runner writes."""
HEADER_BYTES: Final = 4 << 20
"""Of a program's words, environment and standard input together. Usual: under 4 KB."""
TTL_MOST_S: Final = 7 * 24 * 3600.0
"""The longest lease."""
LANES_MOST: Final = 64
"""Lanes of one lease."""
ANSWER_S: Final = 5.0
"""So long a controller has for its first answer to somebody who does not wait longer. Usual: 20 ms;
commands try a controller that is away for 9 s or more."""
RETRY_S: Final = 1.0
"""Between two tries of a command that failed, or of what another part of this process has."""

# Slurm

SALLOC_CPU_S: Final = 60
"""CPU time of an salloc, which waits nearly all the time. Usual: 0.1 s."""
COMMAND_S: Final = 20.0
"""Of one command. Usual: 5 ms; slurmctld's own message timeout is 10 s."""
POLL_S: Final = 3.0
"""Between two looks at the jobs of all leases, by one squeue. Usual: 5 ms of the controller."""
AWAY_S: Final = 180.0
"""A controller that answers nothing for so long is reported, and its leases count as lost. Usual:
a restart takes 1-10 s, a takeover by a backup controller 120 s (SlurmctldTimeout)."""
SETTLE_S: Final = 5.0
"""A job that ends shows so long at most no reason. Usual: 0.1 s."""
ABSENT_LOOKS: Final = 2
"""A job that so many answers in turn do not list has ended. The first may be from a controller that
is still reading its state."""
CANCEL_S: Final = 60.0
"""So long scancel is tried again. Then the job's time limit ends it, and the log says so."""
LATER_S: Final = 60.0
"""A job's time limit beyond the lease's: Slurm counts whole minutes."""

# Kubernetes

KUBECTL_S: Final = 30.0
"""Of one kubectl. Usual: 0.1-1 s."""
KUBE_POLL_S: Final = 2.0
"""Between two looks at the pods of a lease."""
SECRET_BYTES: Final = 1 << 20
"""Of a program's words, environment and standard input together: a Secret holds no more."""
KUBE_PLACE_S: Final = 0.5
"""Between two looks whether the pods of a new lease have places. Usual: one look, 0.3 s."""
KUBE_LATER_S: Final = 60.0
"""A Job's deadline beyond the lease's, which the server sees to: the Job's is for a server that has
been killed."""
LOG_BYTES: Final = 64 << 20
"""Of a pod's log that are read: kubectl leaves out the end, and the end is wanted. Kubelets begin
another file at 10 MiB, and look each 10 s."""
KUBE_DONE_S: Final = 60
"""A finished Job stays so long, for whoever looks for its reason."""
