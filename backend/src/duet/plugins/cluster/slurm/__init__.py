# SPDX-License-Identifier: GPL-2.0-or-later
"""Leases on a Slurm cluster, through its commands.

A lease is one allocation. It is held by an salloc(1) that this process starts, and that releases
the allocation when this process dies. Each program is one step (srun) of the allocation.

Answers are read in `-o` formats, not as `--json`. The format letters have been stable for more than
ten years. The JSON changed with each release (a job's state is a word in 22.05 and a list since
23.11, and numbers became objects in 23.02), and it needs a plugin that a cluster may lack.

This was tested with Slurm 22.05 of Debian 12, with four slurmd on one machine and cgroup v1.
"""
