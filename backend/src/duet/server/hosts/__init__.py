# SPDX-License-Identifier: GPL-2.0-or-later
"""The server's side of host processes (duet.host), which run the guests of its live runs."""

from duet.server.hosts.processes import LocalHosts
from duet.server.hosts.stage import HostStage, begin_of

__all__ = ["HostStage", "LocalHosts", "begin_of"]
