# SPDX-License-Identifier: GPL-2.0-or-later
"""Leases on a Slurm cluster, through its commands.

A lease is one allocation, held by an salloc(1) of this process, which releases the allocation when
this process dies. Each program is one step (srun) of it.

Answers are read from `-o` formats, not from `--json`. A format's letters have been stable for more
than ten years, while the JSON changed with each release (a job's state is a word in 22.05 and a
list
since 23.11; numbers became objects in 23.02), and needs a plugin that a cluster may lack.

Tested with Slurm 22.05 of Debian 12: four slurmd on one machine, cgroup v1.
"""
