# SPDX-License-Identifier: GPL-2.0-or-later
"""The server's end of host processes (duet.hosts): the stage of its live runs."""

from duet.serve.hosted.local import LocalHosts
from duet.serve.hosted.stage import HostStage, begin_of

__all__ = ["HostStage", "LocalHosts", "begin_of"]
