# SPDX-License-Identifier: GPL-2.0-or-later
"""The command line: one verb per module, each imported only when it is called."""

from duet.cli.entry import main

__all__ = ["main"]
