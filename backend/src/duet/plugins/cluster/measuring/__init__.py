# SPDX-License-Identifier: GPL-2.0-or-later
"""A measurement on a pool. Each comparison is one program on one lease, entirely on one host.

`request.py` splits a plan into comparisons and defines their programs' input and output. Such a
program is `__main__.py`, with the plan and the runner of `duet measure`. `schedule.py` runs the
programs on leases. `merge.py` makes one report of the results, and compares two hosts figure by
figure.
"""
