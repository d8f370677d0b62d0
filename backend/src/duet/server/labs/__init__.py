# SPDX-License-Identifier: GPL-2.0-or-later
"""Labs of a server that runs: takes answers, looks at runs and verdicts, says what they come to."""

from duet.server.labs.labs import Labs

__all__ = ["Labs"]
