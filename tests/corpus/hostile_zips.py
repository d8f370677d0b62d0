# SPDX-License-Identifier: GPL-2.0-or-later
"""Zip files, and streams of records in them, as no writer writes them."""

from __future__ import annotations

import io
import random
import struct
import warnings
import zipfile
from collections.abc import Callable, Iterator
from typing import Any

import msgpack

from duet.bundle import Record
from duet.bundle.archive import HEAD
from duet.bundle.manifest import LENS, RECORD_TIME
from tests.corpus.hostile_case import STREAM, Case, Expect, Good, case, pack

PLAYS, REFUSED, EITHER = Expect.PLAYS, Expect.REFUSED, Expect.EITHER
ESC = "\x1b]0;owned\x07"


def cases(good: Good) -> Iterator[Case]:
    """All of them."""
    yield from members(good)
    yield from archives(good)
    yield from records(good)
    yield from samples(good)


def members(good: Good) -> Iterator[Case]:
    """Further members, of odd names and sizes."""

    def one(name: str, extra: dict[str, bytes], expect: Expect = REFUSED) -> Case:
        return case(f"zip-{name}", expect, lambda: good.file(extra=extra))

    yield one("climbs", {"../../../tmp/owned": b"x"})
    yield one("absolute", {"/tmp/owned": b"x"})
    yield one("patch-climbs", {"patches/../../owned": b"x"})
    yield one("patch-newline", {"patches/foo\n": b"x"})
    yield one("patch-hidden", {"patches/.hidden": b"x"})
    yield one("patch-escapes", {"patches/ok.patch": f"{ESC}\n".encode()}, PLAYS)
    yield one("patch-large", {"patches/p": bytes((1 << 20) + 1)})
    yield one("lane-more", {"lanes/srcu/stream.bin": b""}, EITHER)
    yield one("lane-newline", {"lanes/x/stream.bin\n": b""})
    yield one("members-70", {f"patches/p{n}": b"x" for n in range(70)})


def archives(good: Good) -> Iterator[Case]:
    """The zip itself."""

    def stored() -> bytearray:
        return bytearray(good.file(method=zipfile.ZIP_STORED))

    def poked(find: bytes, offset: int, form: str, value: int) -> Callable[[], bytes]:
        def content() -> bytes:
            whole = stored()
            struct.pack_into(form, whole, whole.rfind(find) + offset, value)
            return bytes(whole)

        return content

    def added(name: str, content: bytes | str, mode: int = 0) -> Callable[[], bytes]:
        def made() -> bytes:
            out = io.BytesIO(good.file())
            with zipfile.ZipFile(out, "a") as archive, warnings.catch_warnings():
                warnings.simplefilter("ignore")  # zipfile warns of names that occur twice
                member = zipfile.ZipInfo(name)
                member.external_attr = mode << 16
                archive.writestr(member, content)
            return out.getvalue()

        return made

    def flipped() -> bytes:
        whole = stored()
        whole[5000] ^= 1
        return bytes(whole)

    entry, end = b"PK\1\2", b"PK\5\6"
    yield case("zip-symlink", REFUSED, added("patches/link", "/etc/passwd", 0o120777))
    yield case("zip-twice", REFUSED, added("manifest.json", "{}"))
    yield case("zip-bit", REFUSED, flipped)
    yield case("zip-cut", REFUSED, lambda: bytes(stored()[:-30]))
    yield case("zip-half", REFUSED, lambda: bytes(stored()[: len(stored()) // 2]))
    yield case("zip-empty", REFUSED, lambda: b"")
    yield case("zip-noise", REFUSED, lambda: random.Random(1).randbytes(5000))
    yield case("zip-end-alone", REFUSED, lambda: end + bytes(18))
    yield case("zip-bzip2", REFUSED, lambda: good.file(method=zipfile.ZIP_BZIP2))
    yield case("zip-locked", REFUSED, poked(entry, 8, "<H", 1))
    yield case("zip-size-0", REFUSED, poked(entry, 24, "<I", 0))
    yield case("zip-size-most", REFUSED, poked(entry, 24, "<I", 0xFFFFFFFE))
    yield case("zip-offset-most", REFUSED, poked(entry, 42, "<I", 0xFFFFFFFE))
    yield case("zip-crc", REFUSED, poked(entry, 16, "<I", 1))
    yield case("zip-entries-most", EITHER, poked(end, 10, "<H", 0xFFFF))
    yield case("zip-zeros", REFUSED, zeros)
    yield case("zip-lzma-dictionary", EITHER, lambda: lzma_dictionary(good))


def zeros() -> bytes:
    """96 MiB of nothing, which unpack from a tenth of a megabyte."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        with archive.open(_deflated("manifest.json"), "w") as member:
            for _ in range(32):
                member.write(bytes(1 << 20))
        with archive.open(_deflated(STREAM), "w") as member:
            for _ in range(64):
                member.write(bytes(1 << 20))
    return out.getvalue()


def _deflated(name: str) -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo(name)
    entry.compress_type = zipfile.ZIP_DEFLATED
    return entry


def lzma_dictionary(good: Good) -> bytes:
    """An LZMA member that says it needs a dictionary of 4 GiB."""
    whole = bytearray(good.file(method=zipfile.ZIP_LZMA))
    at = whole.find(b"PK\3\4")
    name, extra = struct.unpack_from("<HH", whole, at + 26)
    struct.pack_into("<I", whole, at + 30 + name + extra + 4 + 1, 0xFFFFFFFF)
    return bytes(whole)


def records(good: Good) -> Iterator[Case]:
    """Heads of records."""

    def one(name: str, expect: Expect, content: Callable[[], bytes]) -> Case:
        return case(f"record-{name}", expect, lambda: good.file(content()))

    def record(stream: int, payload: bytes) -> bytes:
        return HEAD.pack(0, stream, 0, len(payload)) + payload

    yield one("stream-64", REFUSED, lambda: record(64, b"x") + good.stream())
    yield one("stream-negative", REFUSED, lambda: record(-3, b"x"))
    yield one("length", REFUSED, lambda: HEAD.pack(0, 0, 0, 0xFFFFFFFF) + bytes(100))
    yield one("cut", REFUSED, lambda: good.stream()[:-1])
    yield one("none", EITHER, lambda: b"")
    yield one("empty-pages", EITHER, lambda: record(0, b"") * 100_000 + good.stream())
    yield one("byte-by-byte", EITHER, lambda: pack(single_bytes(good)))
    yield one(
        "time-most", EITHER, lambda: pack([r._replace(host_ns=(1 << 64) - 1) for r in good.records])
    )
    yield one(
        "time-back",
        EITHER,
        lambda: pack([r._replace(host_ns=(1 << 40) - n) for n, r in enumerate(good.records)]),
    )


def single_bytes(good: Good) -> list[Record]:
    """The control port came byte by byte, and so did the first pages."""
    found: list[Record] = []
    for at, record in enumerate(good.records):
        whole = record.stream >= 0 and at > 60
        step = len(record.payload) or 1
        for start in range(0, len(record.payload), step if whole else 1):
            piece = record.payload[start : start + (step if whole else 1)]
            found.append(record._replace(payload=piece))
    return found


def samples(good: Good) -> Iterator[Case]:
    """Records of a lens."""

    def one(name: str, payload: Callable[[], list[bytes]], expect: Expect = EITHER) -> Case:
        return case(
            f"lens-{name}",
            expect,
            lambda: good.file([*(Record(0, LENS, one) for one in payload()), *good.records]),
        )

    noise = random.Random(2)
    yield one("noise", lambda: [noise.randbytes(50) for _ in range(200)])
    yield one("short", lambda: [b"", b"\0"])
    yield one("n-most", lambda: [sample(n=(1 << 63) - 1)])
    yield one("n-negative", lambda: [sample(n=-1)])
    yield one("nan", lambda: [sample(facts={"x": float("nan"), "y": float("inf"), "z": 1 << 63})])
    yield one("texts", lambda: [sample(texts=[f"{ESC}<img src=x onerror=alert(1)>"] * 100)])
    yield one("probe-escapes", lambda: [sample(probe=f"{ESC}\u202e")])
    yield one("dtype", lambda: [sample(dtypes={"a": "O"}), sample(dtypes={"a": "V99999999"})])
    yield one("time-most", lambda: [sample(at_ns=(1 << 64) - 1, error_ns=-(1 << 63))])
    yield one("deep", lambda: [RECORD_TIME.pack(1) + b"\x91" * 60_000 + b"\xc0"])
    yield one("length-lies", lambda: [RECORD_TIME.pack(1) + b"\xdf\xff\xff\xff\xff"])


def sample(**changes: Any) -> bytes:
    """A sample's record."""
    usual = {
        "kind": "Sample",
        "probe": "srcu",
        "seq": 0,
        "at_ns": 1,
        "error_ns": 0,
        "clock": "host",
        "took_ns": 1,
        "torn": 0,
        "failed": 0,
        "n": 1,
        "facts": {},
        "columns": {"a": bytes(8)},
        "dtypes": {"a": "f8"},
        "texts": [],
    }
    packed: bytes = msgpack.packb({**usual, **changes})
    return RECORD_TIME.pack(1) + packed
