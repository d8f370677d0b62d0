# SPDX-License-Identifier: GPL-2.0-or-later
"""`duet class`: the list, and the deletion of one member in a real database."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest
from sqlalchemy import Connection

from duet.base.errors import InputError
from duet.plugins.classroom import board, queries
from duet.plugins.classroom import queries as reading
from duet.plugins.classroom import queries as try_queries
from duet.plugins.classroom.records import (
    AnswerFacts,
    ClassFacts,
    MemberFacts,
    QuestionFacts,
    TryFacts,
)
from duet.plugins.classroom.routes import csv_of, report_of
from duet.plugins.classroom.verb import class_
from duet.store.database import open_transaction


@pytest.fixture
def ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A class of two that has ended; each has answered, asked and voted for the other."""
    monkeypatch.setenv("DUET_CLASSES_DB", f"sqlite:///{tmp_path / 'classes.sqlite'}")
    with open_transaction() as connection:
        fill(connection)
        queries.end_class(connection, "c1", time.time())
    return "c1"


def fill(connection: Connection) -> None:
    now_s = time.time()
    queries.start_class(connection, ClassFacts("c1", "", "Monday", "02", "teacher", now_s))
    queries.open_question(connection, "c1", QuestionFacts("s", "q"))
    for number, name in enumerate(("Ada", "Bo"), 1):
        member = f"m{number}"
        queries.add_member(connection, "c1", MemberFacts(member, name, "0" * 64, now_s))
        queries.put_answer(connection, "c1", AnswerFacts("s", "q", 1, member, choice=0))
        asked = board.RaisedFacts(number, "s", f"{name} asks?", board.hash_of("c1", member))
        assert board.add_raised(connection, "c1", member, asked)
        try_queries.put_try(connection, "c1", tried(number, member))
    try_queries.add_maker(connection, "c1", 2, "m1")
    for number in (1, 2):
        assert board.put_vote(connection, "c1", f"m{3 - number}", number, True)


def tried(number: int, member: str) -> TryFacts:
    """A run of one member's."""
    knobs = ({"hogs": number}, {"hogs": number})
    run = ("02", "s", "storm", "wall", ("srcu",), *knobs, "", f"kept:02:{number}", time.time())
    return TryFacts(number, *run, "done", makers=(member,))


def test_one_member_goes_with_all_that_it_left_and_the_report_follows(
    ended: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    class_("list", "", "", False, True)
    (entry,) = json.loads(capsys.readouterr().out)["classes"]
    assert (entry["class_id"], entry["members"], entry["open"]) == (ended, 2, False)
    class_("forget", ended, " ada ", False, True)
    # The member, its answer, its question with the vote on it, its own vote, and its own run.
    assert json.loads(capsys.readouterr().out)["deleted"] == 6
    with open_transaction() as connection:
        stored = reading.load(connection, ended)
    assert stored is not None
    report = report_of(stored)
    assert (report.members, report.questions[0].rounds[0].answers) == (1, 1)
    assert [(one.text, one.votes) for one in report.raised] == [("Bo asks?", 0)]
    assert [(one.number, one.makers) for one in report.tries] == [(2, 1)]
    assert "Ada" not in csv_of(report)
    assert b"Ada asks?" not in (tmp_path / "classes.sqlite").read_bytes()
    class_("list", "", "", False, False)
    assert "Monday" in capsys.readouterr().out


def test_a_mistake_is_one_sentence(ended: str) -> None:
    for given, said in (
        (("forgot", "", ""), "no action"),
        (("forget", ended, ""), "needs a class and a nickname"),
        (("forget", "c9", "Ada"), "no class 'c9'"),
        (("forget", ended, "Eve"), "nobody in that class"),
    ):
        with pytest.raises(InputError, match=said):
            class_(*given, server_stopped=False, as_json=False)


def test_a_class_that_goes_on_is_left_to_its_instructor(
    ended: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with open_transaction() as connection:
        facts = ClassFacts("c2", "", "On", "02", "teacher", time.time())
        queries.start_class(connection, facts)
        queries.add_member(connection, "c2", MemberFacts("m1", "Ada", "0" * 64, time.time()))
    with pytest.raises(InputError, match="has not ended"):
        class_("forget", "c2", "Ada", server_stopped=False, as_json=False)
    assert class_("forget", "c2", "Ada", server_stopped=True, as_json=False) == 0
    assert "Deleted" in capsys.readouterr().out
