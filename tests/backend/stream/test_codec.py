# SPDX-License-Identifier: GPL-2.0-or-later
"""Client messages are untrusted; server messages carry raw little-endian columns."""

from __future__ import annotations

import msgpack
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from duet import messages as m
from duet.base.errors import InfraError, InputError
from duet.messages.codec import MAX_CLIENT_BYTES, batch, failure, pack, unpack_client

GOOD = {"type": "start", "lesson": "02-grace-periods", "arms": ["srcu"], "params": {"hogs": 3}}


def test_a_good_start_is_read() -> None:
    read = unpack_client(msgpack.packb(GOOD))
    assert read == m.Start(
        type="start", lesson="02-grace-periods", arms=["srcu"], params={"hogs": 3}
    )


@pytest.mark.parametrize(
    ("body", "word"),
    [
        (b"", "msgpack"),
        (b"\xc1", "msgpack"),
        (b"\x91" * 5000, "msgpack"),
        (b"\x00" * (MAX_CLIENT_BYTES + 1), "65536 are allowed"),
        (msgpack.packb(GOOD) + b"x", "msgpack"),
        (msgpack.packb({**GOOD, "colour": 1}), "colour"),
        (msgpack.packb({**GOOD, "params": {"hogs": "9"}}), "hogs"),
        (msgpack.packb({**GOOD, "params": {"hogs": True}}), "hogs"),
        (msgpack.packb({**GOOD, "arms": []}), "arms"),
        (msgpack.packb({**GOOD, "arms": ["a"] * 300}), "msgpack"),
        (msgpack.packb({"type": "reboot"}), "reboot"),
        (msgpack.packb([1, 2]), "dictionary"),
        (msgpack.packb({"type": "control", "take": 1}), "take"),
        (msgpack.packb({1: 2}), "msgpack"),
    ],
)
def test_malformed_messages_are_refused_in_a_sentence(body: bytes, word: str) -> None:
    with pytest.raises(InputError) as caught:
        unpack_client(body)
    assert caught.value.code == "malformed"
    assert word in caught.value.sentence
    assert caught.value.remedy == "Reload the page."


@given(st.binary(max_size=300))
def test_no_bytes_raise_anything_but_an_input_error(body: bytes) -> None:
    try:
        unpack_client(body)
    except InputError as error:
        assert error.code == "malformed"


def test_columns_are_raw_little_endian() -> None:
    columns = {"t_ns": np.array([1.5, 2.5]), "row": np.array([3, -1], dtype="<i4")}
    tree = msgpack.unpackb(pack(batch("r", "a", "spans", 0, 9.0, columns)).body)
    assert tree["dtypes"] == {"t_ns": "f8", "row": "i4"}
    assert tree["n"] == 2
    assert np.frombuffer(tree["columns"]["t_ns"], "<f8").tolist() == [1.5, 2.5]
    assert np.frombuffer(tree["columns"]["row"], "<i4").tolist() == [3, -1]


@pytest.mark.parametrize(
    "columns",
    [
        {"a": np.zeros(2), "b": np.zeros(3)},
        {"a": np.zeros(2, dtype=">f8")},
        {"a": np.zeros(2, dtype="i8")},
    ],
)
def test_columns_outside_the_contract_are_a_bug(columns: dict[str, np.ndarray]) -> None:
    with pytest.raises(ValueError, match=r"columns|dtype"):
        batch("r", "a", "spans", 0, 0.0, columns)


def test_failures_keep_sentence_and_remedy_and_hide_tracebacks() -> None:
    reported = failure(InfraError("no disk.", remedy="free some.", detail="tail"))
    assert (reported.code, reported.sentence, reported.remedy, reported.detail) == (
        "infra", "no disk.", "free some.", "tail",
    )  # fmt: skip
    assert failure(KeyError("x")).code == "unexpected"
