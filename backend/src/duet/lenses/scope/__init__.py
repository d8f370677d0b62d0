# SPDX-License-Identifier: GPL-2.0-or-later
"""The microscope: a QEMU plugin that observes the loads and stores of chosen kernel functions.

`wire` parses its stream. `client` compiles the plugin (vm-images/microscope) and talks to it.
`symbols` finds the functions in a kernel. The session connects to GuestFacts.scope_socket.
"""

from duet.lenses.scope.client import plugin_library
from duet.lenses.scope.symbols import functions_text
from duet.lenses.scope.wire import (
    CELL,
    NO_FUNCTION,
    READ,
    RECORD,
    RESET,
    RMW,
    SNAPSHOT,
    WRITE,
    Cells,
    Hello,
    Log,
    Message,
    Reply,
    ScopeReader,
    watch_line,
)

__all__ = [
    "CELL",
    "NO_FUNCTION",
    "READ",
    "RECORD",
    "RESET",
    "RMW",
    "SNAPSHOT",
    "WRITE",
    "Cells",
    "Hello",
    "Log",
    "Message",
    "Reply",
    "ScopeReader",
    "functions_text",
    "plugin_library",
    "watch_line",
]
