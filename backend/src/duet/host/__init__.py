# SPDX-License-Identifier: GPL-2.0-or-later
"""Host process, which runs lanes in its guests for a server, and sends messages for pages.

`worker.py` handles the server's requests; the server's side is duet.server.hosts.
"""
