# SPDX-License-Identifier: GPL-2.0-or-later
"""A measurement on a pool: each comparison is one program on one lease, wholly on one host.

`parts.py` cuts a plan into comparisons, `request.py` and `result.py` are what their programs
get and give,
`python -m duet.runs.pooled` is such a program (the plan and the runner of `duet measure`),
`schedule.py` has them run on leases, `merge.py` makes one report of what came, and `agree.py`
compares two hosts figure by figure.
"""
