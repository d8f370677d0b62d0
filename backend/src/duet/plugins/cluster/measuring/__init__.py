# SPDX-License-Identifier: GPL-2.0-or-later
"""A measurement on a pool: each comparison is one program on one lease, wholly on one host.

`request.py` cuts a plan into comparisons and says what their programs read and give. Such a
program is `__main__.py`: the plan and the runner of `duet measure`. `schedule.py`
has them run on leases, `merge.py` makes one report of what came and compares two hosts figure by
figure.
"""
