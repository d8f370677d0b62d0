# SPDX-License-Identifier: GPL-2.0-or-later
"""The decoder agrees with an independent reader, and refuses broken pages by name."""

from __future__ import annotations

import struct

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from duet.base.errors import InputError
from duet.decode import DecodeError, Decoder
from tests.support import ring
from tests.support.ring import EXP_GP, PAGE, PRINT, SRCU_GP, STRINGS, SWITCH, WAKING, CpuBuffer

NUMBERS = ring.Event(
    "duet/numbers",
    900,
    (("u8", "small"), ("s16", "negative"), ("u64", "big"), ("int", "plain"), ("long", "wide")),
)
NAMED = ring.Event(
    "fs/named", 901, (("int", "before"), ("__data_loc char[]", "path"), ("long", "after"))
)
ALL = (NAMED, SWITCH, WAKING, PRINT, EXP_GP, SRCU_GP, NUMBERS)
COMM = st.text("abcdefgh-0123", max_size=15)
PID = st.integers(0, 32768)
RECORDS = st.one_of(
    st.tuples(st.just(SWITCH), st.tuples(COMM, PID, PID, st.integers(0, 512), COMM, PID, PID)),
    st.tuples(st.just(WAKING), st.tuples(COMM, PID, PID, st.integers(0, 3))),
    st.tuples(
        st.just(PRINT), st.tuples(st.integers(0, 2**64 - 1), st.text("duet: storm", max_size=200))
    ),
    st.tuples(st.just(NAMED), st.tuples(PID, st.text("abc/", max_size=90), PID)),
    st.tuples(
        st.just(NUMBERS),
        st.tuples(
            st.integers(0, 255),
            st.integers(-(2**15), 2**15 - 1),
            st.integers(0, 2**64 - 1),
            st.integers(-(2**31), 2**31 - 1),
            st.integers(-(2**63), 2**63 - 1),
        ),
    ),
)


def decoder(*events: ring.Event) -> Decoder:
    return Decoder(ring.files(*(events or ALL)))


def as_rows(
    found: Decoder, pages: bytes, cpu: int = 0
) -> list[tuple[int, int, str, tuple[object, ...]]]:
    """Decoded columns back to (time, pid, event, values) in the order of writing."""
    rows = []
    for name, table in found.decode(cpu, pages).tables.items():
        cells = []
        for field in found.by_name[name].fields:
            column = table.columns[field.name]
            if column.dtype.kind == "S":
                cells.append([cell.decode() for cell in column.tolist()])
            elif not field.signed and field.size == 8:
                cells.append(column.astype(np.uint64).tolist())
            else:
                cells.append(column.tolist())
        values = list(zip(*cells, strict=True)) if cells else [()] * len(table)
        rows += [
            (seq, ts, pid, name, value)
            for seq, ts, pid, value in zip(
                table.seq.tolist(), table.ts_ns.tolist(), table.pid.tolist(), values, strict=True
            )
        ]
    return [row[1:] for row in sorted(rows)]


@settings(max_examples=150, deadline=None)
@given(
    st.integers(0, 2**60),
    st.lists(
        st.tuples(
            st.one_of(st.integers(0, 5000), st.integers(0, 2**31)),
            PID,
            RECORDS,
            st.sampled_from(["short", "long", "absolute", "after padding"]),
        ),
        min_size=1,
        max_size=120,
    ),
)
def test_columns_equal_what_an_independent_reader_finds(start: int, events: list) -> None:
    buffer, now, by_id = CpuBuffer(), start % 2**58, {e.id: e for e in ALL}
    for delta, pid, (event, values), form in events:
        now += delta
        if form == "after padding" and buffer.body and len(buffer.body) < 3000:
            buffer.pad(12)
            now += 1
        now = max(now, buffer.last_ts)
        buffer.add(
            now, event.pack(pid, *values), absolute=form == "absolute", long_form=form == "long"
        )
    pages = buffer.take()
    wanted = []
    for at in range(0, len(pages), PAGE):
        for ts, record in ring.read_page(pages[at : at + PAGE]):
            number, _, _, pid = ring.COMMON.unpack_from(record)
            wanted.append((ts, pid, by_id[number].name, by_id[number].unpack(record)))
    assert len(wanted) == len(events)
    assert as_rows(decoder(), pages) == wanted


def test_order_and_time_go_on_over_calls_and_are_kept_apart_per_cpu() -> None:
    found, first, second = decoder(), CpuBuffer(), CpuBuffer()
    first.add(100, WAKING.pack(1, "a", 7, 0, 0))
    second.add(90, WAKING.pack(2, "b", 8, 0, 1))
    assert found.decode(0, first.take()).tables["sched/sched_waking"].seq.tolist() == [0]
    assert found.decode(1, second.take()).tables["sched/sched_waking"].seq.tolist() == [0]
    first.add(110, WAKING.pack(1, "a", 7, 0, 0))
    assert found.decode(0, first.take()).tables["sched/sched_waking"].seq.tolist() == [1]


def test_pointers_to_text_become_interned_words() -> None:
    found, buffer = decoder(), CpuBuffer()
    for word in ("start", "end", "start"):
        buffer.add(5, EXP_GP.pack(1, STRINGS["rcu_preempt"], 4, STRINGS[word]))
    buffer.add(6, EXP_GP.pack(1, STRINGS["rcu_preempt"], 4, 0xFFFFFFFF00000001))
    words = found.decode(0, buffer.take()).tables["rcu/rcu_exp_grace_period"].columns["gpevent"]
    assert [found.strings[i] for i in words.tolist()] == [
        "start",
        "end",
        "start",
        "0xffffffff00000001",
    ]


@pytest.mark.parametrize(("count", "reported"), [(41, 41), (0, None)])
def test_missed_events_become_a_loss_record(count: int, reported: int | None) -> None:
    found, buffer = decoder(), CpuBuffer()
    buffer.add(1000, WAKING.pack(1, "a", 7, 0, 0))
    buffer.lose(count)
    buffer.add(9000, WAKING.pack(1, "a", 7, 0, 0))
    (loss,) = found.decode(3, buffer.take()).losses
    assert (loss.cpu, loss.t0_ns, loss.t1_ns, loss.count) == (3, 1000, 9000, reported)
    buffer.add(9100, WAKING.pack(1, "a", 7, 0, 0))
    assert found.decode(3, buffer.take()).losses == ()


def test_events_without_a_format_are_counted_not_fatal() -> None:
    found, buffer = decoder(WAKING), CpuBuffer()
    for at in range(3):
        buffer.add(at, SWITCH.pack(1, "a", 1, 0, 0, "b", 2, 0))
    buffer.add(4, WAKING.pack(1, "a", 7, 0, 0))
    columns = found.decode(0, buffer.take())
    assert found.unknown == {SWITCH.id: 3}
    assert columns.events == 1
    assert columns.tables["sched/sched_waking"].seq.tolist() == [3]


def test_a_cut_page_names_the_missing_bytes() -> None:
    with pytest.raises(DecodeError, match="last page of CPU 2 lacks 96 of 4096 bytes"):
        decoder().decode(2, bytes(4000))


def test_a_record_past_the_page_names_the_missing_bytes() -> None:
    buffer = CpuBuffer()
    buffer.add(5, WAKING.pack(1, "a", 7, 0, 0))
    page = bytearray(buffer.take())
    struct.pack_into("<Q", page, 8, 20)
    with pytest.raises(DecodeError, match="event at byte 16 lacks 20 of 40 bytes") as caught:
        decoder().decode(0, bytes(page))
    assert isinstance(caught.value, InputError)


def test_a_length_beyond_the_page_is_refused() -> None:
    page = struct.pack("<QQ", 1, 5000).ljust(PAGE, b"\0")
    with pytest.raises(DecodeError, match="says 5000 bytes, but a page holds 4080"):
        decoder().decode(0, page)


def test_an_event_shorter_than_its_format_is_refused() -> None:
    buffer = CpuBuffer()
    buffer.add(5, SWITCH.pack(1, "a", 1, 0, 0, "b", 2, 0)[:20])
    with pytest.raises(DecodeError, match="event 314 has 20 bytes, but its format needs 64"):
        decoder().decode(0, buffer.take())


def test_a_string_that_runs_past_its_event_is_refused() -> None:
    record = bytearray(NAMED.pack(1, 5, "abc", 6))
    struct.pack_into("<I", record, 12, 400 << 16 | 24)
    buffer = CpuBuffer()
    buffer.add(5, bytes(record))
    with pytest.raises(DecodeError, match="text path runs past its event"):
        decoder().decode(0, buffer.take())


def test_padding_without_length_ends_the_page() -> None:
    buffer = CpuBuffer()
    buffer.add(5, WAKING.pack(1, "a", 7, 0, 0))
    buffer.body += struct.pack("<I", 29) + bytes(40)
    assert len(as_rows(decoder(), buffer.take())) == 1


@settings(max_examples=300, deadline=None)
@given(st.binary(max_size=PAGE), st.integers(0, 4080), st.booleans())
def test_garbage_never_crashes(body: bytes, commit: int, missed: bool) -> None:
    page = struct.pack("<QQ", 1, commit | (ring.MISSED | ring.STORED if missed else 0)) + body
    try:
        decoder(WAKING, SWITCH).decode(0, page[:PAGE].ljust(PAGE, b"\0"))
    except DecodeError as error:
        assert "page 0 of CPU 0" in error.sentence


def test_a_missing_or_foreign_header_page_is_refused() -> None:
    with pytest.raises(DecodeError, match="no header_page"):
        Decoder({})
    with pytest.raises(DecodeError, match="4080 data bytes at offset 16, but says 65520 at 16"):
        Decoder({"header_page": ring.HEADER_PAGE.replace(b"4080", b"65520")})


@pytest.mark.parametrize("length", [b"[\1\0\0\0\17", b"[\xff]", b"[\n", b"[;", b"["])
def test_a_format_that_no_kernel_writes_is_refused(length: bytes) -> None:
    """libtraceevent looks for the end of an array's length beyond the last token."""
    name = "events/sched/sched_switch/format"
    files = ring.files(ring.SWITCH)
    broken = files[name].replace(b"[16]", length + b"16", 1)
    assert broken != files[name]
    with pytest.raises(DecodeError, match="format of sched is not the text of a format file"):
        Decoder({**files, name: broken})


def test_a_format_that_is_none_is_refused() -> None:
    with pytest.raises(DecodeError, match="format of duet/x could not be parsed"):
        Decoder({**ring.files(), "events/duet/x/format": b"not a format"})
