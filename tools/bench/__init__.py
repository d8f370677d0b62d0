# SPDX-License-Identifier: GPL-2.0-or-later
"""How soon lanes move, and what many viewers or a class cost the server.

`make bench ARGS=VERB`, which is `python -m tools.bench VERB` from the root, puts load on a real
server. What it finds becomes constants of `duet plan` on this installation.
"""
