# SPDX-License-Identifier: GPL-2.0-or-later
"""Whose change is built when, and what the compiler said of which line."""

from __future__ import annotations

import pytest

from duet.base.budgets import CHANGES_WAITING
from duet.base.errors import InfraError
from duet.kernels import Change
from duet.lessons.load import LessonFolder, load
from duet.server.own_arms import OwnQueue, compiler_messages


@pytest.fixture
def folder() -> LessonFolder:
    return load("02-grace-periods")


def change(text: str) -> Change:
    return Change("02-grace-periods", "srcu", text, ("mm/vmscan.c",))


def test_equal_changes_are_one_build(folder: LessonFolder) -> None:
    queue = OwnQueue()
    first, _ = queue.ask("a", change("one"), folder)
    again, _ = queue.ask("b", change("one"), folder)
    assert again is first and first.owners == {"a", "b"}
    assert queue.next() is first
    assert queue.ask("c", change("one"), folder)[0] is first, "also while it is built"


def test_a_visitor_waits_for_one_change(folder: LessonFolder) -> None:
    queue = OwnQueue()
    queue.ask("a", change("one"), folder)
    other, _ = queue.ask("b", change("two"), folder)
    third, ended = queue.ask("a", change("three"), folder)
    assert queue.waiting == [other, third] and not ended
    assert [queue.ahead(one) for one in queue.waiting] == [0, 1]
    queue.next()
    assert queue.ahead(third) == 1
    _, ended = queue.ask("b", change("four"), folder)
    assert ended, "nobody waits for the build that goes on"


def test_what_nobody_waits_for_goes(folder: LessonFolder) -> None:
    queue = OwnQueue()
    one, _ = queue.ask("a", change("one"), folder)
    queue.ask("b", change("one"), folder)
    assert not queue.drop("a", one.change.name) and queue.waiting == [one]
    assert not queue.drop("b", "own-srcu-0123456789") and queue.waiting == [one]
    queue.drop("b", one.change.name)
    assert queue.waiting == [] and queue.next() is None


def test_too_many_are_refused(folder: LessonFolder) -> None:
    queue = OwnQueue()
    for number in range(CHANGES_WAITING):
        queue.ask(f"v{number}", change(str(number)), folder)
    with pytest.raises(InfraError, match=f"{CHANGES_WAITING} changes are already waiting"):
        queue.ask("late", change("late"), folder)


def test_what_gcc_says_is_found_by_line() -> None:
    text = """  CC      mm/vmscan.o
mm/vmscan.c: In function 'shrink_slab':
mm/vmscan.c:17:9: error: expected ';' before 'return'
   17 |         return 0
mm/vmscan.c:20:2: warning: unused variable 'x' [-Wunused-variable]
mm/vmscan.c:20:2: warning: unused variable 'x' [-Wunused-variable]
./include/linux/fs.h:3: fatal error: no such file
make[1]: *** [scripts/Makefile.build:250: mm/vmscan.o] Error 1
"""
    found = [(p.file, p.line, p.column, p.severity) for p in compiler_messages(text)]
    assert found == [
        ("mm/vmscan.c", 17, 9, "error"),
        ("mm/vmscan.c", 20, 2, "warning"),
        ("include/linux/fs.h", 3, 0, "error"),
    ]
