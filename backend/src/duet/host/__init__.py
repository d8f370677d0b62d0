# SPDX-License-Identifier: GPL-2.0-or-later
"""The process beside the guests: it runs lanes for a server, and sends it what pages need.

`worker.py` is that process; the server's end is in duet.server.hosts.
"""
