# SPDX-License-Identifier: GPL-2.0-or-later
"""`qmp_relay.py SOCKET NEW`: a QMP relay, with descriptors, so that clients have another peer."""

from __future__ import annotations

import select
import socket
import sys
from pathlib import Path


def main() -> None:
    guest = socket.socket(socket.AF_UNIX)
    guest.connect(sys.argv[1])
    server = socket.socket(socket.AF_UNIX)
    server.bind(sys.argv[2])
    Path(sys.argv[2]).chmod(0o666)  # its client is another user
    server.listen(1)
    print("listening", flush=True)
    client, _ = server.accept()
    pairs = {guest: client, client: guest}
    while True:
        for ready in select.select(list(pairs), [], [])[0]:
            text, fds, _, _ = socket.recv_fds(ready, 65536, 4)
            if not text:
                return
            socket.send_fds(pairs[ready], [text], fds)


main()
