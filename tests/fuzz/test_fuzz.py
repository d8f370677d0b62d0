# SPDX-License-Identifier: GPL-2.0-or-later
"""Each fuzzer for some seconds, from its seeds and from what once crashed it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fuzz.run_fuzz import NO_CLANG, TARGETS, clang, fuzz

SECONDS = 2


@pytest.mark.parametrize("name", [target.name for target in TARGETS])
def test_nothing_is_found_in_a_short_while(name: str, tmp_path: Path) -> None:
    if clang() is None and not next(t for t in TARGETS if t.name == name).python:
        pytest.skip(NO_CLANG)
    assert fuzz(SECONDS, 1, tmp_path, name) == []
    assert any((tmp_path / name).iterdir()), "no input reached anything new: it did not fuzz"
