# SPDX-License-Identifier: GPL-2.0-or-later
"""No statement that was found false is made again, and the page that lists them is up to date."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.support.statements import PAGE, ROOT, Statement, faults, page, statements

ALL = statements()
LOOKED_FOR = [one for one in ALL if not one.elsewhere]


def test_every_row_has_a_check_or_belongs_to_another_test() -> None:
    assert [one.row for one in ALL] == list(range(1, len(ALL) + 1))
    assert all(one.absent or one.present for one in LOOKED_FOR)


@pytest.mark.parametrize("one", LOOKED_FOR, ids=lambda one: str(one.row))
def test_it_is_not_said_again(one: Statement) -> None:
    assert list(faults(one)) == []


@pytest.mark.parametrize("one", LOOKED_FOR, ids=lambda one: str(one.row))
def test_a_sentence_that_comes_back_is_found(one: Statement, tmp_path: Path) -> None:
    for name in one.where:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    first = tmp_path / one.where[0]
    if one.absent:
        first.write_text(first.read_text() + "\n" + one.absent[0].replace(" ", "\n") + "\n")
    else:
        for name in one.where:
            (tmp_path / name).write_text("")
    assert list(faults(one, tmp_path)) != []


def test_the_page_is_what_the_data_say() -> None:
    assert PAGE.read_text() == page(), "Run make statements and commit docs/STATEMENTS.md."
