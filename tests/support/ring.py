# SPDX-License-Identifier: GPL-2.0-or-later
"""Test helper: writes ring-buffer pages and format files as Linux 6.1 does, and reads them back.

The reader is the oracle of the decoder tests: pure Python, written from the comments in
kernel/trace/ring_buffer.c (v6.1), sharing nothing with libtraceevent.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass, field

PAGE = 4096
ROOM = PAGE - 16
COMMON = struct.Struct("<HBBi")
MISSED = 1 << 31
SIGN_EXTENDED_MISSED = 0xFFFF_FFFF_8000_0000
"""Missed-events flag with sign extension: the kernel adds an int to a long."""
STORED = 1 << 30

HEADER_PAGE = (
    b"\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
    b"\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n"
    b"\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n"
    b"\tfield: char data;\toffset:16;\tsize:4080;\tsigned:0;\n"
)
TYPES = {  # C type -> struct code, signed
    "int": ("i", 1),
    "unsigned int": ("I", 0),
    "pid_t": ("i", 1),
    "long": ("q", 1),
    "unsigned long": ("Q", 0),
    "u64": ("Q", 0),
    "u8": ("B", 0),
    "s16": ("h", 1),
    "const void *": ("Q", 0),
    "const char *": ("Q", 0),
}


@dataclass(frozen=True)
class Event:
    """Layout of an event: fields of (C type, name).

    Besides C types: `char[16]` for comm, `text` for a string at the end, `__data_loc char[]`.
    """

    name: str
    id: int
    fields: tuple[tuple[str, str], ...]

    def layout(self) -> list[tuple[str, str, int, int, int]]:
        rows, at = [], 8
        for kind, name in self.fields:
            if kind == "char[16]":
                rows.append((kind, name, at, 16, 1))
                at += 16
            elif kind == "text":
                rows.append((kind, name, at, 0, 0))
            elif kind == "__data_loc char[]":
                rows.append((kind, name, at, 4, 0))
                at += 4
            else:
                code, signed = TYPES[kind]
                size = struct.calcsize(code)
                at = -(-at // size) * size
                rows.append((kind, name, at, size, signed))
                at += size
        return rows

    @property
    def file(self) -> str:
        return f"events/{self.name}/format"

    def format(self) -> bytes:
        lines = [f"name: {self.name.split('/')[1]}", f"ID: {self.id}", "format:"]
        lines += [
            "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;",
            "\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;",
            "\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;",
            "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;",
            "",
        ]
        for kind, name, at, size, signed in self.layout():
            declared = {"char[16]": f"char {name}[16]", "text": f"char {name}[]"}.get(
                kind, f"{kind} {name}"
            )
            lines.append(f"\tfield:{declared};\toffset:{at};\tsize:{size};\tsigned:{signed};")
        lines += ["", f'print fmt: "x %d", REC->{self.fields[0][1]}', ""]
        return "\n".join(lines).encode()

    def pack(self, pid: int, *values: int | str) -> bytes:
        body = bytearray(COMMON.pack(self.id, 0, 0, pid))
        tails: list[tuple[int, bytes]] = []
        for (kind, _, at, size, _), value in zip(self.layout(), values, strict=True):
            body += bytes(at - len(body))
            if kind == "__data_loc char[]":
                assert isinstance(value, str)
                tails.append((at, value.encode() + b"\0"))
                body += bytes(4)
            elif isinstance(value, str):
                body += value.encode().ljust(size, b"\0") + (b"\0" if kind == "text" else b"")
            else:
                body += struct.pack("<" + TYPES[kind][0], value)
        for at, tail in tails:
            struct.pack_into("<I", body, at, len(tail) << 16 | len(body))
            body += tail
        return bytes(body)

    def unpack(self, record: bytes) -> tuple[int | str, ...]:
        values: list[int | str] = []
        for kind, _, at, size, _ in self.layout():
            cell = record[at : at + size] if size else record[at:]
            if kind == "__data_loc char[]":
                (loc,) = struct.unpack("<I", cell)
                cell = record[loc & 0xFFFF :][: loc >> 16]
                values.append(cell.split(b"\0")[0].decode())
            elif kind in ("char[16]", "text"):
                values.append(cell.split(b"\0")[0].decode())
            else:
                values.append(struct.unpack("<" + TYPES[kind][0], cell)[0])
        return tuple(values)


@dataclass
class CpuBuffer:
    """Writer of one CPU's pages: call `add` with rising times, then `pages`."""

    done: list[bytes] = field(default_factory=list)
    body: bytearray = field(default_factory=bytearray)
    first_ts: int = 0
    last_ts: int = 0
    missed: int | None = None

    def add(
        self, ts: int, record: bytes, *, absolute: bool = False, long_form: bool = False
    ) -> None:
        size = -(-len(record) // 4) * 4
        record = record.ljust(size, b"\0")
        if not self.body:
            self.first_ts = self.last_ts = ts
        delta = ts - self.last_ts
        assert delta >= 0, "time goes backwards"
        head = b""
        if absolute:
            head = struct.pack("<II", 31 | (ts & (2**27 - 1)) << 5, ts >> 27)
            delta = 0
        elif delta >= 1 << 27:
            head = struct.pack("<II", 30 | (delta & (2**27 - 1)) << 5, delta >> 27)
            delta = 0
        if size > 28 * 4 or long_form:
            entry = struct.pack("<II", delta << 5, size + 4) + record
        else:
            entry = struct.pack("<I", size // 4 | delta << 5) + record
        if len(self.body) + len(head) + len(entry) > ROOM:
            self.flush()
            self.add(ts, record, absolute=absolute, long_form=long_form)
            return
        self.body += head + entry
        self.last_ts = ts

    def pad(self, size: int, delta: int = 1) -> None:
        """Add a discarded event: padding with a length, whose time delta counts."""
        self.body += struct.pack("<II", 29 | delta << 5, size) + bytes(size - 4)
        self.last_ts += delta

    def lose(self, count: int) -> None:
        """Mark events as lost before the next page.

        Args:
            count: number of lost events; 0 if unknown.
        """
        self.flush()
        self.missed = count

    def flush(self) -> None:
        if not self.body and self.missed is None:
            return
        commit, tail = len(self.body), b""
        if self.missed is not None:
            commit += SIGN_EXTENDED_MISSED
            if self.missed and len(self.body) + 8 <= ROOM:
                commit |= STORED
                tail = struct.pack("<Q", self.missed)
        page = struct.pack("<QQ", self.first_ts, commit) + bytes(self.body) + tail
        self.done.append(page.ljust(PAGE, b"\0"))
        self.body, self.missed = bytearray(), None

    def take(self) -> bytes:
        """Return all pages so far, including the last, partly filled one."""
        self.flush()
        pages, self.done = b"".join(self.done), []
        return pages


def read_page(page: bytes) -> list[tuple[int, bytes]]:
    """Return (time, record) of every event of one page: the oracle of the tests."""
    ts, commit = struct.unpack_from("<QQ", page)
    end = 16 + (commit & (STORED - 1))
    at, found = 16, []
    while at < end:
        (head,) = struct.unpack_from("<I", page, at)
        kind, delta = head & 31, head >> 5
        if kind == 31:
            ts = struct.unpack_from("<I", page, at + 4)[0] << 27 | delta
            at += 8
        elif kind == 30:
            ts += struct.unpack_from("<I", page, at + 4)[0] << 27 | delta
            at += 8
        elif kind == 29:
            if not delta:
                break
            ts += delta
            at += 4 + struct.unpack_from("<I", page, at + 4)[0]
        elif kind == 0:
            ts += delta
            size = struct.unpack_from("<I", page, at + 4)[0]
            found.append((ts, page[at + 8 : at + 4 + size]))
            at += 4 + -(-size // 4) * 4
        else:
            ts += delta
            found.append((ts, page[at + 4 : at + 4 + kind * 4]))
            at += 4 + kind * 4
    return found


SWITCH = Event(
    "sched/sched_switch",
    314,
    (
        ("char[16]", "prev_comm"),
        ("pid_t", "prev_pid"),
        ("int", "prev_prio"),
        ("long", "prev_state"),
        ("char[16]", "next_comm"),
        ("pid_t", "next_pid"),
        ("int", "next_prio"),
    ),
)
WAKING = Event(
    "sched/sched_waking",
    317,
    (("char[16]", "comm"), ("pid_t", "pid"), ("int", "prio"), ("int", "target_cpu")),
)
PRINT = Event("ftrace/print", 5, (("unsigned long", "ip"), ("text", "buf")))
EXP_GP = Event(
    "rcu/rcu_exp_grace_period",
    400,
    (("const char *", "rcuname"), ("long", "gpseq"), ("const char *", "gpevent")),
)
SRCU_GP = Event(
    "rcu/srcu_gp_state",
    401,
    (
        ("const void *", "ssp"),
        ("unsigned long", "seq"),
        ("unsigned int", "stage"),
        ("unsigned int", "ncbs"),
    ),
)


def probe(name: str, number: int, *fields: tuple[str, str]) -> Event:
    """Return the layout of a kprobe event."""
    return Event(f"duet/{name}", number, (("unsigned long", "__probe_ip"), *fields))


def ret_probe(name: str, number: int) -> Event:
    """Return the layout of a kretprobe event."""
    return Event(
        f"duet/{name}",
        number,
        (("unsigned long", "__probe_func"), ("unsigned long", "__probe_ret_ip")),
    )


STRINGS = {
    "rcu_preempt": 0xFFFFFFFF81A00000,
    "start": 0xFFFFFFFF81A00010,
    "end": 0xFFFFFFFF81A00020,
}


def files(*events: Event) -> dict[str, bytes]:
    """Return the tracefs files that an agent would send for these events."""
    printk = "".join(f'0x{at:x} : "{text}"\n' for text, at in STRINGS.items())
    return {
        "header_page": HEADER_PAGE,
        "printk_formats": printk.encode(),
        **{event.file: event.format() for event in events},
    }
