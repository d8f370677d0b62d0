# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs a measurement on a pool. Each comparison is one program on one lease and one host.

`request.py` splits a plan into comparisons and defines the input and output of their programs. Each
program is `__main__.py`, which uses the plan and the runner of `duet measure`. `schedule.py` runs
the programs on leases. `merge.py` merges the results into one report, and compares two hosts figure
by figure.
"""
