# SPDX-License-Identifier: GPL-2.0-or-later
"""Errors between processes: the kind and the code stay, and nothing else gets through."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from duet.base.errors import (
    DuetError,
    InfraError,
    InputError,
    KernelError,
    as_duet_error,
    printable,
)
from duet.base.failures import DETAIL, SENTENCE, pack_error, unpack_error

SOUND = {"exit_code": 2, "code": "input", "sentence": "no.", "remedy": "mend.", "detail": ""}


@pytest.mark.parametrize("kind", [DuetError, InputError, InfraError, KernelError])
def test_an_error_comes_as_it_was_raised(kind: type[DuetError]) -> None:
    error = kind("no such thing.", remedy="Choose another.", detail="one\n\ttwo")
    error.code = "special"
    found = unpack_error(pack_error(error))
    assert type(found) is kind
    assert vars(found) == vars(error)


def test_a_kind_of_a_kind_is_that_kind_with_its_code() -> None:
    class Busy(InfraError):
        code = "busy"

    found = unpack_error(pack_error(Busy("all hosts are busy.", remedy="Wait.")))
    assert type(found) is InfraError and found.code == "busy"


def test_an_unexpected_error_shows_its_type_and_text() -> None:
    error = as_duet_error(ZeroDivisionError("by zero"), "here")
    assert error.sentence == "something unexpected happened here (ZeroDivisionError: by zero)."
    found = unpack_error(pack_error(error))
    assert type(found) is DuetError and found.code == "unexpected"
    same = InputError("a.", remedy="b.")
    assert as_duet_error(same, "here") is same


@given(st.text(st.characters(), max_size=50), st.text(st.characters(), max_size=50))
def test_any_text_arrives_printable(sentence: str, detail: str) -> None:
    found = unpack_error(pack_error(KernelError(sentence, remedy=sentence, detail=detail)))
    assert found is not None
    assert found.sentence == found.remedy == printable(sentence)
    assert (found.sentence + found.detail.replace("\n", "").replace("\t", "")).isprintable()


def test_long_texts_are_cut_and_of_the_detail_the_end_is_left() -> None:
    found = unpack_error(
        pack_error(InputError("s" * 9999, remedy="r" * 9999, detail="d" * DETAIL + "end"))
    )
    assert found is not None
    assert (len(found.sentence), len(found.remedy)) == (SENTENCE, SENTENCE)
    assert len(found.detail) == DETAIL and found.detail.endswith("end")


@pytest.mark.parametrize(
    "bad",
    [
        *(b"", b"\xff", b"[]", b"{}", b"null", b"[" * 100_000, None, 5, [2, "a", "b", "c"]),
        *({**SOUND, "exit_code": code} for code in (0, 5, 9, -1, True, "2", 2.5, None)),
        *({**SOUND, name: None} for name in SOUND),
        *({**SOUND, name: 7} for name in ("code", "sentence", "remedy", "detail")),
        *({**SOUND, "sentence": "s" * (SENTENCE + 1)}, {**SOUND, "code": "c" * 41}),
        *({**SOUND, "detail": "d" * (DETAIL + 1)}, {**SOUND, "more": 1}),
    ],
    ids=lambda bad: f"{bad!r:.40}",
)
def test_what_is_no_error_is_none(bad: object) -> None:
    assert unpack_error(json.dumps(SOUND)) is not None
    assert unpack_error(json.dumps(bad) if isinstance(bad, dict) else bad) is None


def test_nothing_that_comes_reaches_a_terminal_as_it_is() -> None:
    found = unpack_error(json.dumps({**SOUND, "sentence": "bad \x1b[2J", "detail": "a\nb\x07"}))
    assert found is not None
    assert (found.sentence, found.detail) == ("bad ?[2J", "a\nb?")
