# SPDX-License-Identifier: GPL-2.0-or-later
"""Time limits and sizes between a server and the processes beside its guests."""

from __future__ import annotations

from typing import Final

READY_S: Final = 30.0
"""From the start of a host process until it takes requests. Usual: 1.5 s, imports."""
CALL_S: Final = 30.0
"""A short request has this to be answered. Usual: 2 ms."""
CALLS: Final = 256
"""Things that one side works on for the other at once. Usual: 1 to 10. One more ends the
connection."""
RAW_S: Final = 10.0
"""Raw records of a moment. Usual: 30 ms."""
BUNDLE_S: Final = 120.0
"""A finished run as a file. Usual: 1 s."""
TOGETHER_S: Final = 120.0
"""Lanes of a run on several hosts: so long those that are ready wait for the others. Usual: 1 s.
A guest that does not come up is given up after 30 s by its own host."""
END_S: Final = 3.0
"""A long request that is cancelled ends its guests in this time. Usual: 0.3 s."""
LEAVE_S: Final = 3.0
"""From the end of the connection until the process has ended, with its guests. Usual: 0.3 s."""
HEARTBEAT_S: Final = 2.0
"""A side that has nothing to send says after this that it is there."""
ACK_S: Final = 0.25
"""Until the other side learns what has arrived, so that it need not be sent again."""
SILENT_S: Final = 30.0
"""A side that has sent nothing for so long is given up. Both sides share the guests' CPUs."""
RESTART_S: Final = 1.0
"""Between the death of a host process and the next one."""
RESTARTS: Final = 5
RESTARTS_WITHIN_S: Final = 60.0
"""A host process that dies more often than RESTARTS in this time is not started again until
somebody asks for a run after it."""
FRAME_BYTES: Final = 16 << 20
"""Of one frame. Usual: 1 to 200 KiB. A longer one ends the connection."""
PIECE_BYTES: Final = 256 << 10
"""Of a file, sent as one frame."""
AHEAD_BYTES: Final = 1 << 20
"""Of a file, before it waits for confirmations: what is live is not held up by more than that."""
BUNDLE_BYTES: Final = 512 << 20
"""Of a whole file. Usual: 0.2 to 20 MiB."""
WAITING_BYTES: Final = 128 << 20
"""Of frames that the other side has not confirmed. Usual: 1 MiB. Beyond it the connection ends,
since the other side takes nothing."""
AWAY_S: Final = 30.0
"""A connection over the network that has broken may come back until then. Afterwards the host
ends its guests, and the server reports its runs as failed."""
JOIN_S: Final = 20.0
"""For one try of a host to reach the server. Usual: 10 ms."""
RETRY_S: Final = 0.5
"""Between two tries."""
FRAGMENT_BYTES: Final = 256 << 10
"""Of one message of a WebSocket; a longer frame travels in several."""
TICKET_S: Final = 300.0
"""A token for a host counts for this time: an engine may take long to start a program."""
FETCH_S: Final = 900.0
"""For all files of a kernel from the server. Usual: 150 MB, 1 to 15 s."""
FETCH_SILENT_S: Final = 30.0
"""A server that sends nothing of a file for so long is given up."""
FETCH_AGAIN_S: Final = 2.0
"""A server that gives files to as many hosts as it does at once is asked again after this."""
FETCH_PIECE_BYTES: Final = 1 << 20
"""Read at once of a file."""
KERNEL_FILE_BYTES: Final = 4 << 30
"""Of one file of a kernel. Usual: 140 MB, vmlinux with DWARF."""
KERNEL_LIST_BYTES: Final = 256 << 10
"""Of what a server says of a kernel. Usual: 3 KB."""
