# SPDX-License-Identifier: GPL-2.0-or-later
"""Benchmarks of the time until lanes start to move, and of a server's costs per viewer or class.

`make bench ARGS=VERB` runs `python -m tools.bench VERB` in the repository's root. The benchmarks
put load on a real server. `duet plan` uses their results as constants for this installation.
"""
