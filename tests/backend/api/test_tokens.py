# SPDX-License-Identifier: GPL-2.0-or-later
"""Tokens at rest, signed sessions, and the bound on wrong tokens."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import pytest

from duet.api.class_codes import CodeTurns, network_of
from duet.api.identity import split_token
from duet.api.sessions import Sessions
from duet.api.tokens import AccessFile
from duet.base.access import Action, Role, Visitor
from duet.base.budgets import (
    CODE_WAIT_S,
    CODES_OF_ADDRESS,
    CODES_OF_ALL,
    CODES_OF_BROWSER,
    SESSION_S,
)
from duet.base.errors import DuetError, InputError


class Clock:
    def __init__(self) -> None:
        self.now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def file(tmp_path: Path) -> AccessFile:
    return AccessFile(tmp_path / "data" / "access.json")


def test_a_role_may_what_those_below_it_may_and_a_refusal_names_the_link() -> None:
    student, operator = Visitor("a", Role.STUDENT), Visitor("b", Role.OPERATOR)
    assert student.may(Action.RUN) and not student.may(Action.MEASURE)
    assert all(operator.may(action) for action in Action)
    assert not Visitor("c", Role.VIEWER).may(Action.RUN)
    with pytest.raises(InputError, match=r"may not measure; .* role instructor or") as error:
        student.require(Action.MEASURE)
    assert (error.value.code, "instructor link" in error.value.remedy) == ("forbidden", True)


def test_a_saved_run_is_its_owners_and_one_without_owner_the_operators() -> None:
    student = Visitor("a", Role.STUDENT)
    assert student.may_delete("a") and not student.may_delete("b")
    assert not Visitor("", Role.INSTRUCTOR).may_delete("")
    assert Visitor("x", Role.OPERATOR).may_delete("") and Visitor("x", Role.OPERATOR).may_delete(
        "a"
    )


def test_only_hashes_reach_the_disk_and_only_the_user_reads_them(file: AccessFile) -> None:
    made = file.make(Role, again=False)
    assert set(made) == set(Role)
    text = file.path.read_text()
    assert not any(token in text for token in made.values())
    assert stat.S_IMODE(file.path.stat().st_mode) == 0o600
    assert list(file.path.parent.iterdir()) == [file.path]
    for role, token in made.items():
        found = AccessFile(file.path).load().token(token)
        assert found is not None and found.role is role
    assert file.load().token("x" * 43) is None and file.load().token("\udcff") is None


def test_create_leaves_what_there_is_and_rotate_and_revoke_end_it(file: AccessFile) -> None:
    made = file.make([Role.STUDENT], again=False)
    assert file.make(Role, again=False).keys() == set(Role) - {Role.STUDENT}
    assert file.load().token(made[Role.STUDENT]) is not None
    again = file.make([Role.STUDENT], again=True)
    assert file.load().token(made[Role.STUDENT]) is None
    assert file.load().token(again[Role.STUDENT]) is not None
    assert file.revoke([Role.STUDENT]) == {Role.STUDENT} and file.revoke([Role.STUDENT]) == set()
    assert file.load().roles() == set(Role) - {Role.STUDENT}


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"[]",
        b"{}",
        b"\xff",
        b"[" * 5000,
        b'{"format": 2}',
        b'{"format": 1, "key": "00", "tokens": []}',
        json.dumps({"format": 1, "key": "00" * 32, "tokens": [{"role": "root"}]}).encode(),
        b" " * 100_000,
    ],
)
def test_a_file_that_is_none_lets_nobody_in_and_says_so(file: AccessFile, content: bytes) -> None:
    file.path.parent.mkdir()
    file.path.touch(mode=0o600)
    file.path.write_bytes(content)
    with pytest.raises(InputError, match="not a token file"):
        file.load()
    sessions = Sessions(file)
    assert sessions.token("x") is None and sessions.visitor("a.b.1.c") is None


def test_a_file_that_others_may_read_is_refused(file: AccessFile) -> None:
    file.make(Role, again=False)
    file.path.chmod(0o640)
    with pytest.raises(DuetError, match="open to other users"):
        AccessFile(file.path).load()


def session(file: AccessFile, role: Role, clock: Clock, former: str = "") -> tuple[Sessions, str]:
    made = file.make([role], again=role in file.load().roles())
    sessions = Sessions(file, clock)
    token = sessions.token(made[role])
    assert token is not None
    return sessions, sessions.begin(token, former)


def test_a_session_has_the_role_of_its_token_and_ends_at_its_time(file: AccessFile) -> None:
    clock = Clock()
    sessions, cookie = session(file, Role.STUDENT, clock)
    visitor = sessions.visitor(cookie)
    assert visitor is not None and visitor.role is Role.STUDENT and sessions.holds(visitor)
    assert visitor.ident not in cookie
    clock.now += SESSION_S - 1
    assert sessions.visitor(cookie) == visitor
    clock.now += 2
    assert sessions.visitor(cookie) is None and not sessions.holds(visitor)


def test_a_rotated_token_ends_its_sessions_alone_and_the_browser_keeps_its_name(
    file: AccessFile,
) -> None:
    clock = Clock()
    sessions, student = session(file, Role.STUDENT, clock)
    _, teacher = session(file, Role.INSTRUCTOR, clock)
    before = sessions.visitor(student)
    _, renewed = session(file, Role.STUDENT, clock, former=student)
    assert before is not None and not sessions.holds(before) and sessions.visitor(student) is None
    after = sessions.visitor(renewed)
    assert after is not None and after.ident == before.ident
    assert sessions.visitor(teacher) is not None


def test_a_cookie_that_was_changed_is_none(file: AccessFile) -> None:
    sessions, cookie = session(file, Role.STUDENT, Clock())
    teacher = file.make([Role.INSTRUCTOR], again=False)
    other = file.load().token(teacher[Role.INSTRUCTOR])
    assert other is not None
    secret, token, until, mark = cookie.split(".")
    for forged in (
        f"{secret}.{other.ident}.{until}.{mark}",
        f"{secret}.{token}.{int(until) + 1}.{mark}",
        f"{'A' * 22}.{token}.{until}.{mark}",
        f"{secret}.{token}.{until}.",
        f"{secret}.{token}.{until}.é",
        cookie[:-1],
        "...",
        "",
    ):
        assert sessions.visitor(forged) is None, forged


def test_codes_cost_their_browser_their_address_and_all_and_right_ones_cost_nothing() -> None:
    clock = Clock()
    turns = CodeTurns(clock)
    for pace, browser, address in (
        (CODES_OF_BROWSER, "b", "10.0.0.{}"),
        (CODES_OF_ADDRESS, "", "10.0.1.1"),
        (CODES_OF_ALL, "", "10.{0}.2.{0}"),
    ):
        clock.now += 3600

        def wait_s(n: int = 0, browser: str = browser, address: str = address) -> float | None:
            turn = turns.take(browser, address.format(n))
            return None if turn is None else turn.wait_s

        assert {wait_s(n) for n in range(pace.free)} == {0.0}
        assert wait_s() == pytest.approx(pace.every_s)
        clock.now += 2 * pace.every_s
        assert wait_s() == pytest.approx(0.0)
        later = [wait_s(n % 250) for n in range(round(CODE_WAIT_S / pace.every_s) + 5)]
        assert later[-1] is None and max(filter(None, later)) <= CODE_WAIT_S
        clock.now += CODE_WAIT_S
        assert wait_s() is not None
    clock.now += 3600
    for _ in range(3 * CODES_OF_ADDRESS.free):
        turn = turns.take("", "10.0.0.1")
        assert turn is not None and turn.wait_s == 0.0
        turns.was_right(turn)


def test_nothing_is_stored_of_who_waits_no_more() -> None:
    clock = Clock()
    turns = CodeTurns(clock)
    for n in range(1000):
        turns.take(f"browser {n}", f"10.0.{n // 250}.{n % 250}")
    bound = CODES_OF_ALL.free + CODE_WAIT_S / CODES_OF_ALL.every_s
    assert len(turns._used_until_s) <= 2 * bound + 3
    clock.now += 3600
    turns.take("", "10.0.0.1")
    assert len(turns._used_until_s) == 2


def test_addresses_of_one_host_count_as_one() -> None:
    assert network_of("2001:db8::1") == network_of("2001:db8::ffff:1")
    assert network_of("2001:db8::1") != network_of("2001:db8:0:1::1")
    assert network_of("::ffff:10.0.0.1") == network_of("10.0.0.1")
    assert network_of("\x00" * 500) == "\x00" * 64


@pytest.mark.parametrize(
    ("query", "token", "rest"),
    [
        ("token=a%2Db", "a-b", ""),
        ("lesson=x%20y&token=a&step=%C3%A9", "a", "lesson=x%20y&step=%C3%A9"),
        ("token=a&token=b&x=token=c", "a", "x=token=c"),
        ("tokens=a&atoken=b", None, "tokens=a&atoken=b"),
        ("token", "", ""),
    ],
)
def test_the_token_leaves_the_address_and_the_rest_stays(
    query: str, token: str | None, rest: str
) -> None:
    assert split_token({"query_string": query.encode()}) == (token, rest)
