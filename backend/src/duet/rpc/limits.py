# SPDX-License-Identifier: GPL-2.0-or-later
"""Timeouts and sizes of the connection between a server and its host processes."""

from __future__ import annotations

from typing import Final

READY_S: Final = 30.0
"""Timeout for a new host process to accept requests. Usual: 1.5 s, mostly for imports."""
CALL_S: Final = 30.0
"""Timeout of a short request. Usual: 2 ms."""
CALLS: Final = 256
"""Largest number of calls that one side handles at the same time; the connection is closed if there
are more. Usual: 1 to 10."""
RAW_S: Final = 10.0
"""Timeout of a request for the raw records around a moment. Usual: 30 ms."""
BUNDLE_S: Final = 120.0
"""Timeout for packing a finished run into a file. Usual: 1 s."""
TOGETHER_S: Final = 120.0
"""The longest time that ready lanes wait for the other lanes of a run on several hosts. Usual: 1 s.
A host gives up a guest that does not boot within 30 s."""
END_S: Final = 3.0
"""Timeout for a cancelled long request to end its guests. Usual: 0.3 s."""
LEAVE_S: Final = 3.0
"""Timeout for a host process and its guests to end after the connection has closed. Usual:
0.3 s."""
HEARTBEAT_S: Final = 2.0
"""An idle side sends a heartbeat at this interval."""
ACK_S: Final = 0.25
"""The longest delay of a confirmation. Confirmed frames are not sent again."""
SILENT_S: Final = 30.0
"""A connection on which no frame arrives for this long is closed. The time is long because both
sides share their CPUs with guests."""
RESTART_S: Final = 1.0
"""Delay before a host process that died is restarted."""
RESTARTS: Final = 5
RESTARTS_WITHIN_S: Final = 60.0
"""A host process that dies more often than RESTARTS in this time is restarted only when the next
run is requested."""
FRAME_BYTES: Final = 16 << 20
"""Largest frame. Usual: 1 to 200 KiB. A larger frame closes the connection."""
PIECE_BYTES: Final = 256 << 10
"""Part of a file that is sent as one frame."""
AHEAD_BYTES: Final = 1 << 20
"""Unconfirmed bytes at which sending a file pauses, so that live messages are delayed by at most
this much data."""
BUNDLE_BYTES: Final = 512 << 20
"""Largest file of a finished run. Usual: 0.2 to 20 MiB."""
WAITING_BYTES: Final = 128 << 20
"""Largest total size of unconfirmed frames. Usual: 1 MiB. Above the limit, the connection is
closed, because the peer evidently receives nothing."""
AWAY_S: Final = 30.0
"""Time within which a broken network connection must be restored. Afterwards the host ends its
guests, and the server reports its runs as failed."""
JOIN_S: Final = 20.0
"""Timeout of a host's single attempt to connect to the server. Usual: 10 ms."""
RETRY_S: Final = 0.5
"""Delay between two attempts to connect."""
FRAGMENT_BYTES: Final = 256 << 10
"""Largest WebSocket message. A longer frame is split into several messages."""
TICKET_S: Final = 300.0
"""Lifetime of a host's token. The lifetime is long because a container engine may take minutes to
start a program."""
FETCH_S: Final = 900.0
"""Timeout for fetching all files of a kernel from the server. Usual: 150 MB, 1 to 15 s."""
FETCH_SILENT_S: Final = 30.0
"""Timeout for the next bytes of a file from the server."""
FETCH_AGAIN_S: Final = 2.0
"""Delay before a host retries a server that already serves files to its maximum number of hosts."""
FETCH_PIECE_BYTES: Final = 1 << 20
"""Bytes of a file that are read at once."""
KERNEL_FILE_BYTES: Final = 4 << 30
"""Largest file of a kernel. Usual: 140 MB, a vmlinux with DWARF."""
KERNEL_LIST_BYTES: Final = 256 << 10
"""Largest file list of a kernel from the server. Usual: 3 KB."""
