# SPDX-License-Identifier: GPL-2.0-or-later
"""Leases on a Slurm cluster, through its commands.

A lease is one allocation. This process starts an salloc(1), which holds the allocation, and
releases it when this process dies. Each program is one step (srun) of the allocation.

Slurm's output is requested in `-o` formats, not as `--json`. The format letters have been stable
for more than ten years. The JSON format changed with each release: numbers became objects in 23.02,
and a job's state, a word in 22.05, became a list in 23.11. JSON output also needs a plugin that a
cluster may lack.

This was tested with Slurm 22.05 of Debian 12, with four slurmd on one machine and cgroup v1.
"""
