# SPDX-License-Identifier: GPL-2.0-or-later
"""`python -m duet.host DESCRIPTOR` is the host process that a server starts on its own machine.

DESCRIPTOR is the file descriptor of a socket that is connected to the server.
"""

from __future__ import annotations

import logging
import os
import socket
import sys

from duet import confine
from duet.base.logs import set_up_logging
from duet.base.settings import log_form
from duet.host.process import run, work
from duet.processes.cpus import OwnCpus


def main() -> int:
    """Serve the server's requests until the connection ends."""
    confine.fork()
    set_up_logging(logging.StreamHandler(), log_form() == "json")
    given = socket.socket(fileno=int(sys.argv[1]))
    given.setblocking(False)
    OwnCpus.top_pid = os.getppid()
    run(lambda end: work(given, end))
    return 0


if __name__ == "__main__":
    sys.exit(main())
