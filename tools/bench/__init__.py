# SPDX-License-Identifier: GPL-2.0-or-later
"""Benchmarks that measure how soon lanes move, and what viewers or a class cost the server.

`make bench ARGS=VERB`, which is `python -m tools.bench VERB` from the root, puts load on a real
server. `duet plan` uses the results as constants for this installation.
"""
