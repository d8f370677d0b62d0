# SPDX-License-Identifier: GPL-2.0-or-later
"""Export a lane as trace.dat version 6 (trace-cmd.dat.v6(5)) for trace-cmd and KernelShark.

The file contains the guest's ring-buffer pages unchanged, so the export loses nothing.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import BinaryIO

from duet.base.errors import InputError
from duet.bundle import ArmEntry
from duet.bundle.reader import LaneContents
from duet.decode.decoder import FORMAT_FILE
from duet.session.program import SWITCH_EVENT

MAGIC = b"\x17\x08\x44tracing6\0"
U16, U32, U64 = struct.Struct("<H"), struct.Struct("<I"), struct.Struct("<Q")
OPTION_CLOCK, OPTION_UNAME, OPTION_DONE = 4, 5, 0
HEADER_EVENT = b"""# compressed entry header
\ttype_len    :    5 bits
\ttime_delta  :   27 bits
\tarray       :   32 bits

\tpadding     : type == 29
\ttime_extend : type == 30
\ttime_stamp : type == 31
\tdata max type_len  == 28
"""
"""Content of header_event, used for recordings that lack that file."""


def write(file: BinaryIO, entry: ArmEntry, lane: LaneContents) -> None:
    """Write one lane.

    Raises:
        InputError: format files or pages of the lane are malformed.
    """
    files = lane.files
    if "header_page" not in files:
        raise InputError(
            f"lane {lane.arm} of the recording has no header_page, so its layout is unknown.",
            remedy="Record it again.",
        )
    file.write(MAGIC + bytes((0, 8)) + U32.pack(lane.page_bytes))
    for name, text in (
        (b"header_page\0", files["header_page"]),
        (b"header_event\0", files.get("header_event", HEADER_EVENT)),
    ):
        file.write(name + U64.pack(len(text)) + text)
    file.write(b"".join(_formats(files)))
    symbols = "".join(f"{at:016x} T {name}\n" for name, at in sorted(entry.symbols.items()))
    printk = files.get("printk_formats", b"")
    names = command_lines(lane)
    file.write(U32.pack(len(symbols)) + symbols.encode())
    file.write(U32.pack(len(printk)) + printk)
    file.write(U64.pack(len(names)) + names)
    cpus = max(lane.pages, default=0) + 1
    file.write(U32.pack(cpus) + b"options  \0")
    clock = lane.facts.get("trace_clock", "[mono]") + "\n"
    kernel = entry.kernel_version or lane.facts.get("kernel", "")
    for number, value in ((OPTION_CLOCK, clock), (OPTION_UNAME, f"Linux {lane.arm} {kernel}")):
        text = value.encode() + b"\0"
        file.write(U16.pack(number) + U32.pack(len(text)) + text)
    file.write(U16.pack(OPTION_DONE) + b"flyrecord\0")
    _pages(file, lane, cpus)


def _formats(files: dict[str, bytes]) -> Iterator[bytes]:
    """Encode first the formats of ftrace's own events, then the formats of each event system."""
    systems: dict[str, list[bytes]] = {}
    for name, text in sorted(files.items()):
        if match := FORMAT_FILE.match(name):
            systems.setdefault(match[1], []).append(text)
    own = systems.pop("ftrace", [])
    yield U32.pack(len(own))
    for text in own:
        yield U64.pack(len(text)) + text
    yield U32.pack(len(systems))
    for system, texts in systems.items():
        yield system.encode() + b"\0" + U32.pack(len(texts))
        for text in texts:
            yield U64.pack(len(text)) + text


def _pages(file: BinaryIO, lane: LaneContents, cpus: int) -> None:
    """Write the offset and size of each CPU's pages, then the pages, aligned."""
    begin = file.tell() + cpus * 2 * U64.size
    at = (begin + lane.page_bytes - 1) // lane.page_bytes * lane.page_bytes
    gap = at - begin
    for cpu in range(cpus):
        size = len(lane.pages.get(cpu, b""))
        file.write(U64.pack(at) + U64.pack(size))
        at += size
    file.write(bytes(gap))
    for cpu in range(cpus):
        file.write(lane.pages.get(cpu, b""))


def command_lines(lane: LaneContents) -> bytes:
    """Return lines `pid name` for saved_cmdlines. Each name is from the task's last switch event.

    Raises:
        InputError: formats or pages are malformed.
    """
    if not lane.pages:
        return b""
    decoder = lane.decoder()
    found: dict[int, bytes] = {}
    for part in lane.decoded(decoder):
        table = part.tables.get(SWITCH_EVENT)
        if table is None or not {"prev_pid", "prev_comm"} <= set(table.columns):
            continue
        for side in ("prev", "next"):
            pids, names = table.columns[f"{side}_pid"], table.columns[f"{side}_comm"]
            found.update(zip(pids.tolist(), names.tolist(), strict=True))
    lines = []
    for pid, name in sorted(found.items()):
        value = bytes(c if 32 < c < 127 else ord("_") for c in name)
        if pid > 0 and value:
            lines.append(b"%d %s\n" % (pid, value))
    return b"".join(lines)
