# SPDX-License-Identifier: GPL-2.0-or-later
"""Records of the x-ray in transcripts: back as they were, refused if none, cut with events."""

from __future__ import annotations

import io
import struct
from dataclasses import replace

import msgpack
import pytest
from hypothesis import given
from hypothesis import strategies as st

from duet.base.errors import InputError
from duet.bundle.archive import pack_stream, read_stream
from duet.bundle.manifest import LENS, Record
from duet.bundle.writer import _lens
from duet.lenses import LensState, Sample, pack_record, probe_names, unpack_record
from duet.session.transcript import LENS_BYTES, Transcript

SAMPLE = Sample(
    probe="shrinker-maps",
    seq=3,
    at_ns=5_000_000,
    error_ns=2_000,
    clock="host",
    took_ns=900,
    torn=1,
    failed=0,
    n=2,
    columns={"map": b"\1\0\0\0" * 4, "ino": bytes(16)},
    dtypes={"map": "u4", "ino": "f8"},
    facts={"memcgs": 1.0},
    texts=["a", "b"],
)
STATE = LensState("failed", "memory", "It cannot.", "Do this.", 4, 1, 2, 0)


@pytest.mark.parametrize("record", [SAMPLE, STATE, LensState()])
def test_a_record_comes_back(record: Sample | LensState) -> None:
    body = pack_record(record)
    assert unpack_record(body) == record
    stream = pack_stream([Record(7, LENS, body)])
    assert list(read_stream(io.BytesIO(stream), len(stream), "x")) == [Record(7, LENS, body)]


@given(st.binary(max_size=200))
def test_rubbish_is_refused_in_a_sentence(body: bytes) -> None:
    with pytest.raises(InputError, match="x-ray record"):
        unpack_record(body)


@pytest.mark.parametrize(
    "wrong",
    [
        {"n": -1},
        {"at_ns": (1 << 64) - 1},
        {"columns": {"map": b"\1\0\0"}},
        {"dtypes": {"map": "u9", "ino": "f8"}},
        {"clock": "sun"},
        {"texts": [b"a"]},
        {"facts": {"memcgs": "many"}},
        {"facts": {"memcgs": float("nan")}},
        {"facts": {str(number): 1.0 for number in range(300)}},
        {"n": 1 << 40},
        {"texts": ["x" * 5000]},
        {"texts": ["x"] * 20_001},
        {"columns": {"map": bytes(5 << 20), "ino": b""}},
        {"extra": 1},
    ],
)
def test_a_sample_out_of_bounds_is_refused(wrong: dict[str, object]) -> None:
    tree = msgpack.unpackb(pack_record(SAMPLE)[8:])
    with pytest.raises(InputError):
        unpack_record(struct.pack("<Q", 1) + msgpack.packb(tree | wrong))


def test_a_cut_recording_keeps_its_samples_and_the_last_before() -> None:
    def record(at_ns: int) -> Record:
        return Record(at_ns, LENS, pack_record(replace(SAMPLE, at_ns=at_ns)))

    state = Record(1, LENS, pack_record(STATE))
    whole = [state, *map(record, (10, 20, 30, 40, 50)), Record(60, LENS, b"x")]
    assert _lens(whole, 25, 40) == [record(20), state, record(30), record(40)]


def test_samples_do_not_crowd_out_the_events_of_a_recording() -> None:
    transcript = Transcript(1 << 40, 0, {})
    half = bytes(LENS_BYTES // 2)
    for moment in range(4):
        transcript.lens(half, moment)
    transcript.pages(0, bytes(4096), 9)
    assert [record.stream for record in transcript.records()] == [LENS, LENS, 0]
    assert not transcript.truncated


def test_every_probe_of_every_lesson_exists() -> None:
    from duet.lessons import load

    assert {"shrinker-maps", "shrinker-list", "srcu-gp", "inodegc", "es-tree", "dentry"} <= set(
        probe_names()
    )
    for slug in load.slugs():
        wanted = {config.probe for config in load.load(slug).lesson.xray}
        assert wanted <= set(probe_names(slug, others=False)), slug
