# SPDX-License-Identifier: GPL-2.0-or-later
"""Control of a run: the owner's, an instructor's on demand, nobody's when idle."""

from __future__ import annotations

import pytest

from duet.base.access import Role, Visitor
from duet.base.errors import InputError
from duet.server.run_board import Control

OWNER, OTHER = Visitor("owner", Role.STUDENT), Visitor("other", Role.STUDENT)
TEACHER, GUEST = Visitor("teacher", Role.INSTRUCTOR), Visitor("guest", Role.VIEWER)


def test_the_owner_has_it_and_no_student_gets_it_from_him() -> None:
    control = Control("owner", 0, idle_s=10)
    control.use(OWNER, 1)
    for act in (control.use, control.take):
        with pytest.raises(InputError, match="somebody else controls") as refused:
            act(OTHER, 2)
        assert refused.value.code == "not-controller"
    assert control.holder == "owner" and not control.may_take(OTHER)


def test_an_instructor_gets_it_by_asking_and_not_by_acting() -> None:
    control = Control("owner", 0, idle_s=10)
    with pytest.raises(InputError, match="controls") as refused:
        control.use(TEACHER, 1)
    assert "take control" in refused.value.remedy
    control.take(TEACHER, 1)
    with pytest.raises(InputError, match="controls"):
        control.use(OWNER, 2)
    assert control.release("teacher") and not control.release("teacher")
    control.use(OWNER, 3)
    assert control.holder == "owner"


def test_idle_control_expires_and_each_command_renews_it() -> None:
    control = Control("owner", 0, idle_s=10)
    control.use(OWNER, 8)
    assert control.expires_in_s(9) == 9
    assert not control.expire(17.9)
    assert control.expire(18)
    assert (control.holder, control.expires_in_s(18), control.expire(99)) == (None, None, False)
    control.use(OTHER, 20)
    assert control.holder == "other"


def test_who_may_only_watch_gets_no_free_control() -> None:
    control = Control("owner", 0)
    control.release("owner")
    with pytest.raises(InputError) as refused:
        control.take(GUEST, 1)
    assert refused.value.code == "forbidden"
    assert not control.may_take(GUEST) and control.holder is None
