# SPDX-License-Identifier: GPL-2.0-or-later
"""Hypothesis strategies: recordings changed in ways that reach every layer that reads them.

A change may lie in the file's bytes, the zip's fields, the manifest, the transcript's records, the
agent's frames, the format files, the ring-buffer pages or the samples of a lens. Checksums are
right again after most changes below the zip, since else nothing behind them would be reached.
"""

from __future__ import annotations

import json
import re
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgpack
from hypothesis import strategies as st

from duet.base.errors import InputError
from duet.bundle import Record
from duet.bundle.manifest import CTL, LENS, RECORD_TIME
from duet.wire import pack_frame
from tests.support.bundle_parts import METHODS, Parts, frame_of, pack, take_apart

Draw = Callable[[st.SearchStrategy[Any]], Any]
NUMBERS = (0, 1, -1, 2, 7, 63, 64, 255, 4079, 4096, 65535, (1 << 31) - 1, 1 << 31, (1 << 32) - 1,
           1 << 32, (1 << 53) + 1, (1 << 62), (1 << 63) - 1, 1 << 63, (1 << 64) - 1, 1 << 64,
           10**30, -(1 << 63), 0.5, 1e308, float("nan"), float("inf"))  # fmt: skip
TEXTS = ("", "<script>alert(1)</script>", "../../evil", "/etc/passwd", "a\x00b", "\x1b[2J",
         "\u202egnp", "\ud800", "\x9b1m", "=cmd()", "x" * 5000, "9" * 5000, "%s%n", "con", ".",
         "a\nb", "\u0661\u0662", "1e9", "-1", "wall", "count", "stock")  # fmt: skip
NUMBER = re.compile(rb"-?\d+")
FACT = re.compile(rb"(?<= )\S+")
MEMBERS = ("../evil", "/tmp/evil", "lanes/../x/stream.bin", "patches/\N{SNOWMAN}", "patches/a",
           "lanes/none/stream.bin", "manifest.json/", "patches/" + "a" * 99)  # fmt: skip


def values() -> st.SearchStrategy[Any]:
    """What a manifest should not hold."""
    nested = st.sampled_from([[], {}, [[]], [None], {"": ""}, [0] * 5000])
    return st.sampled_from(NUMBERS) | st.sampled_from(TEXTS) | st.none() | st.booleans() | nested


def spots(tree: Any, found: list[tuple[Any, Any]] | None = None) -> list[tuple[Any, Any]]:
    """(holder, key) of everything in a tree."""
    found = [] if found is None else found
    keys = tree if isinstance(tree, dict) else range(len(tree)) if isinstance(tree, list) else ()
    for key in keys:
        found.append((tree, key))
        spots(tree[key], found)
    return found


def change_tree(draw: Draw, tree: Any) -> None:
    """One value replaced, dropped, doubled or renamed."""
    holder, key = draw(st.sampled_from(spots(tree) or [({}, 0)]))
    how = draw(st.sampled_from(["set", "set", "set", "drop", "rename", "copy"]))
    if how == "set":
        holder[key] = draw(values())
    elif how == "drop" and holder:
        del holder[key]
    elif how == "rename" and isinstance(holder, dict) and holder:
        holder[draw(st.sampled_from(TEXTS))] = holder.pop(key)
    elif holder:
        place = draw(st.sampled_from(spots(tree)))
        holder[key] = json.loads(json.dumps(place[0][place[1]]))


def manifest(draw: Draw, parts: Parts) -> None:
    """A value of the manifest."""
    change_tree(draw, parts.manifest)


def manifest_text(draw: Draw, parts: Parts) -> None:
    """What is no JSON, or JSON of a kind that parsers dislike."""
    text = json.dumps(parts.manifest).encode()
    deep = b"[" * 100_000
    parts.text = draw(st.sampled_from([deep, b"", b"[]", b"null", b"\xff" + text, text * 2,
                                       text.replace(b": 1,", b": 1e999,"), b'{"format": 3}',
                                       b'{"format": ' + b"9" * 5000 + b"}"]))  # fmt: skip


def member(draw: Draw, parts: Parts) -> None:
    """A member of an odd name."""
    parts.extra[draw(st.sampled_from(MEMBERS))] = b"x"


def place(draw: Draw, parts: Parts, stream: Callable[[int], bool]) -> tuple[list[Record], int]:
    """One record of a lane, of a kind of stream; ([], 0) where there is none."""
    records = parts.lanes[draw(st.sampled_from(sorted(parts.lanes)))]
    found = [at for at, record in enumerate(records) if stream(record.stream)]
    return (records, draw(st.sampled_from(found))) if found else ([], 0)


def record(draw: Draw, parts: Parts) -> None:
    """A record dropped, doubled, moved, cut, or given another port or time."""
    records, at = place(draw, parts, lambda _: True)
    if not records:
        return
    one = records[at]
    how = draw(st.sampled_from(["drop", "double", "move", "cut", "port", "time", "end", "grow"]))
    if how == "drop":
        del records[at]
    elif how == "double":
        records[at:at] = [one] * draw(st.sampled_from([1, 3, 50]))
    elif how == "move":
        records.insert(draw(st.integers(0, len(records) - 1)), records.pop(at))
    elif how == "cut":
        records[at] = one._replace(payload=one.payload[: draw(st.integers(0, len(one.payload)))])
    elif how == "port":
        records[at] = one._replace(stream=draw(st.sampled_from([-3, -2, -1, 0, 1, 2, 63, 64])))
    elif how == "time":
        records[at] = one._replace(host_ns=draw(st.sampled_from([0, 1 << 62, (1 << 64) - 1])))
    elif how == "end":
        del records[at:]
    else:
        records[at] = one._replace(payload=one.payload * draw(st.sampled_from([2, 9])))


def frame(draw: Draw, parts: Parts) -> None:
    """A frame of the agent: its type, length, or bytes of its payload."""
    records, at = place(draw, parts, lambda stream: stream == CTL)
    if not records:
        return
    raw = records[at].payload
    try:
        one = frame_of(records[at])
    except (ValueError, InputError):
        return  # changed before
    how = draw(st.sampled_from(["bytes", "type", "numbers", "text", "head"]))
    if how == "type":
        raw = pack_frame(draw(st.integers(0, 70)), one.payload)
    elif how == "head":
        raw = poke(draw, raw, 12)
    elif how == "text":
        text = draw(st.sampled_from(TEXTS)).encode(errors="surrogatepass")
        words = list(FACT.finditer(one.payload))
        cut = draw(st.sampled_from([word.span() for word in words] or [(0, 0)]))
        raw = pack_frame(one.type, one.payload[: cut[0]] + text + one.payload[cut[1] :])
    elif how == "numbers":
        raw = pack_frame(one.type, renumber(draw, one.payload))
    else:
        raw = pack_frame(one.type, poke(draw, one.payload, len(one.payload)))
    records[at] = records[at]._replace(payload=raw)


def renumber(draw: Draw, text: bytes) -> bytes:
    """One decimal number of a text replaced; format files are full of them."""
    found = list(NUMBER.finditer(text))
    if not found:
        return text
    one = draw(st.sampled_from(found))
    number = draw(st.sampled_from(NUMBERS) | st.integers(0, 5000))
    return text[: one.start()] + str(number).encode() + text[one.end() :]


def poke(draw: Draw, whole: bytes, below: int) -> bytes:
    """Some bytes below an offset replaced: by any byte, or by a number at the edge."""
    if not whole or not below:
        return whole
    changed = bytearray(whole)
    for _ in range(draw(st.sampled_from([1, 1, 2, 8]))):
        at = draw(st.integers(0, min(below, len(whole)) - 1))
        width = draw(st.sampled_from([1, 1, 2, 4, 8]))
        edge = [0, 1, 1 << (8 * width - 1), (1 << 8 * width) - 1, 29, 30, 4080, 4096]
        number = draw(st.sampled_from(edge) | st.integers(0, (1 << 8 * width) - 1))
        number &= (1 << 8 * width) - 1
        changed[at : at + width] = number.to_bytes(width, "little")[: len(whole) - at]
    return bytes(changed)


def page(draw: Draw, parts: Parts) -> None:
    """Bytes of a ring-buffer page, its head and first events above all."""
    records, at = place(draw, parts, lambda stream: stream >= 0)
    if not records:
        return
    payload = records[at].payload
    start = draw(st.integers(0, max(len(payload) - 1, 0) // 4096)) * 4096
    below = draw(st.sampled_from([16, 64, 4096]))
    payload = payload[:start] + poke(draw, payload[start : start + 4096], below) + (
        payload[start + 4096 :]
    )  # fmt: skip
    records[at] = records[at]._replace(payload=payload)


def sample(draw: Draw, parts: Parts) -> None:
    """A sample of a lens: its bytes or its tree."""
    records, at = place(draw, parts, lambda stream: stream == LENS)
    if not records:
        return
    payload = records[at].payload
    if draw(st.booleans()):
        payload = poke(draw, payload, len(payload))
    else:
        try:
            tree = msgpack.unpackb(payload[RECORD_TIME.size :])
            change_tree(draw, tree)
            payload = payload[: RECORD_TIME.size] + msgpack.packb(tree, unicode_errors="replace")
        except (ValueError, TypeError, OverflowError, msgpack.UnpackException):
            return  # changed before, or what msgpack cannot say
    records[at] = records[at]._replace(payload=payload)


def stream(draw: Draw, parts: Parts) -> None:
    """Bytes of a lane's stream, without care for its records."""
    arm = draw(st.sampled_from(sorted(parts.lanes)))
    whole = parts.raw.get(arm, pack(parts.lanes[arm]))
    if draw(st.booleans()):
        parts.raw[arm] = whole[: draw(st.integers(0, len(whole)))]
    else:
        parts.raw[arm] = poke(draw, whole, draw(st.sampled_from([16, len(whole)])))


def file_bytes(draw: Draw, whole: bytes) -> bytes:
    """Bytes of the file: cut, replaced, moved."""
    how = draw(st.sampled_from(["cut", "poke", "splice", "front"]))
    if how == "cut":
        return whole[: draw(st.integers(0, len(whole)))]
    if how == "poke":
        return poke(draw, whole, len(whole))
    a, b = draw(st.integers(0, len(whole))), draw(st.integers(0, len(whole)))
    return whole[:a] + whole[b:] if how == "splice" else b"x" * (a % 5000) + whole


def zip_field(draw: Draw, whole: bytes) -> bytes:
    """A field of a local head, a directory entry or the end: flags, method, sizes, lengths."""
    marks = [m.start() for m in re.finditer(rb"PK(?:\x01\x02|\x03\x04|\x05\x06)", whole)]
    if not marks:
        return whole  # cut away before
    at = draw(st.sampled_from(marks))
    off = draw(st.sampled_from(range(4, 46, 2)))
    form = draw(st.sampled_from(["<H", "<I"]))
    most = (1 << 8 * struct.calcsize(form)) - 1
    number = draw(st.sampled_from([0, 1, 8, 14, 99, most >> 1, most]) | st.integers(0, most))
    changed = bytearray(whole)
    if at + off + 4 <= len(changed):
        struct.pack_into(form, changed, at + off, number)
    return bytes(changed)


INSIDE = (manifest, manifest, manifest_text, member, record, record, frame, frame, frame, page,
          page, page, sample, sample, stream)  # fmt: skip
OUTSIDE = (file_bytes, zip_field, zip_field)


@st.composite
def changed(draw: Draw, files: tuple[Path, ...], most_records: int) -> tuple[str, bytes]:
    """(what was done, the file)."""
    parts = take_apart(files[draw(st.integers(0, len(files) - 1))], most_records).copy()
    outside = draw(st.integers(0, 5)) == 0
    steps = [] if outside else draw(st.lists(st.sampled_from(INSIDE), min_size=1, max_size=4))
    for step in steps:
        step(draw, parts)
    honest = draw(st.integers(0, 15)) > 0
    whole = parts.file(draw(st.sampled_from(METHODS)), honest=honest)
    names = [step.__name__ for step in steps]
    for step in draw(st.lists(st.sampled_from(OUTSIDE), min_size=1, max_size=3)) if outside else ():
        whole = step(draw, whole)
        names.append(step.__name__)
    return ", ".join(names), whole
