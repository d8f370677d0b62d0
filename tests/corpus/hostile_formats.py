# SPDX-License-Identifier: GPL-2.0-or-later
"""Format files as no kernel writes them.

libtraceevent parses a `print fmt` recursively: what comes deep enough overflows its stack. So
these must play (nobody needs the print format) and never end the process.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from duet.wire.frames import FrameType
from tests.corpus.hostile_case import Case, Expect, Good, case

EVENT = "events/duet/cleanup_ret/format"
UNUSED = "events/duet/lock/format"
PLAYS, REFUSED, EITHER = Expect.PLAYS, Expect.REFUSED, Expect.EITHER

PRINT: dict[str, bytes] = {
    "parens": b'"%d", ' + b"(" * 900_000 + b"1" + b")" * 100_000,
    "parens-open": b'"%d", ' + b"(" * 1_000_000,
    "minus": b'"%d", ' + b"- " * 500_000 + b"1",
    "not": b'"%d", ' + b"!" * 1_000_000 + b"1",
    "plus": b'"%d", 1' + b"+1" * 500_000,
    "ternary": b'"%d", ' + b"1?1:" * 250_000 + b"1",
    "symbolic": b'"%s", ' + b"__print_symbolic(" * 60_000,
    "flags": b'"%s", ' + b"__print_flags(" * 60_000,
    "array": b'"%s", REC->a' + b"[REC->a" * 100_000,
    "cast": b'"%d", ' + b"(int)" * 200_000 + b"1",
    "sizeof": b'"%d", ' + b"sizeof(" * 140_000,
    "string": b'"' + b"%s" * 500_000 + b'", REC->a',
    "quote": b'"' + b"\\" * 900_000,
    "quiet-minus": b'"%d", ' + b"- " * 32_000 + b"1",
}


def cases(good: Good) -> Iterator[Case]:
    """All of them."""

    def of(name: str, change: Callable[[bytes], bytes], file: str = EVENT) -> Callable[[], bytes]:
        def payload(whole: bytes) -> bytes | None:
            found, _, text = whole.partition(b"\0")
            return found + b"\0" + change(text) if found == file.encode() else None

        return lambda: good.file(good.swap(FrameType.FILE, payload))

    def one(name: str, expect: Expect, change: Callable[[bytes], bytes], **more: str) -> Case:
        finding = more.pop("finding", "")
        return case(f"format-{name}", expect, of(name, change, **more), finding=finding)

    for name, text in PRINT.items():
        yield one(f"print-{name}", PLAYS, printing(text), finding="H1")
    yield one("two-prints", PLAYS, lambda t: printing(PRINT["minus"])(t) + t, finding="H1")
    yield one(
        "print-early", EITHER, lambda t: b"print fmt: " + PRINT["minus"] + b"\n" + t, finding="H1"
    )
    yield one("no-print", PLAYS, lambda t: t.split(b"print fmt")[0])
    yield one("dimensions", EITHER, lambda t: t.replace(b"__probe_ret_ip", b"x" + b"[1]" * 150_000))
    yield one(
        "type-long",
        EITHER,
        lambda t: t.replace(b"unsigned long __probe_func", b"unsigned " * 110_000 + b"f"),
    )
    yield one(
        "type-parens",
        EITHER,
        lambda t: t.replace(b"unsigned long __probe_func", b"f(" * 400_000 + b" f"),
    )
    yield one(
        "type-angles",
        EITHER,
        lambda t: t.replace(b"unsigned long __probe_func", b"__attribute__((" * 60_000),
    )
    yield one("fields", EITHER, lambda t: more_fields(t, 9_000))
    yield one("field-fields", EITHER, lambda t: t.replace(b"\tfield:", b"\tfield:" * 50_000, 2))
    yield one("not-utf8", EITHER, lambda t: t.replace(b"__probe_func", b"caf\xc3\x28\xff"))
    yield one("not-utf8-drawn", EITHER, lambda t: t.replace(b"__probe_ip", b"x\xe9y"), file=UNUSED)
    yield one("size-negative", EITHER, lambda t: t.replace(b"size:8", b"size:-8"))
    yield one("offset-huge", EITHER, lambda t: t.replace(b"offset:8", b"offset:4294967290"))
    yield one("size-5000-digits", EITHER, lambda t: t.replace(b"size:8", b"size:" + b"9" * 5000))
    yield one("empty", REFUSED, lambda t: b"")
    yield one("nul", REFUSED, lambda t: b"\0" * 100)
    yield one("cut", REFUSED, lambda t: t[:20])
    yield one("id-negative", REFUSED, lambda t: t.replace(b"ID: ", b"ID: -"))
    yield one("id-5000-digits", EITHER, lambda t: re.sub(rb"ID: \d+", b"ID: " + b"9" * 5000, t))
    yield one("id-double", REFUSED, lambda t: re.sub(rb"ID: \d+", b"ID: 96", t))
    yield one(
        "header-5000-digits",
        REFUSED,
        file="header_page",
        change=lambda t: t.replace(b"offset:16", b"offset:" + b"1" * 5000),
        finding="L2",
    )
    yield one(
        "header-parens",
        EITHER,
        file="header_page",
        change=lambda t: t.replace(b"local_t commit", b"local_t" + b"(" * 500_000),
    )
    yield one("header-cut", REFUSED, file="header_page", change=lambda t: t[:70])
    yield one(
        "printk-huge",
        EITHER,
        file="printk_formats",
        change=lambda t: b"0x" + b"f" * 500_000 + b' : "x"\n',
    )
    yield one(
        "printk-many",
        EITHER,
        file="printk_formats",
        change=lambda t: b"".join(b'0x%x : "x"\n' % n for n in range(60_000)),
    )


def printing(text: bytes) -> Callable[[bytes], bytes]:
    """Another print format."""
    return lambda whole: whole.split(b"print fmt")[0] + b"print fmt: " + text + b"\n"


def more_fields(text: bytes, count: int) -> bytes:
    """So many fields."""
    head, mark, tail = text.partition(b"\nprint fmt")
    line = b"\tfield:int x%d;\toffset:8;\tsize:4;\tsigned:1;\n"
    return head + b"".join(line % n for n in range(count)) + mark + tail
