# SPDX-License-Identifier: GPL-2.0-or-later
"""Who starts next: turns, replacement, shared runs, measurements, bounds, estimates."""

from __future__ import annotations

import itertools
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from duet.base.errors import InputError
from duet.server.queue import Request, Scheduler, Slots

NUMBERS = itertools.count()


def request(
    owner: str,
    key: object = None,
    *,
    alone: bool = False,
    seconds: float = 10,
    judges: bool = False,
    tries: bool = False,
) -> Request:
    number = next(NUMBERS)
    unlike_all = ("run", number) if key is None else key
    sort = ("try", number) if tries else judges
    return Request(
        f"r{number}", owner, unlike_all, "kind", seconds, alone or judges, judges, sort=sort
    )


def asked(scheduler: Scheduler, *requests: Request) -> list[Request]:
    return [scheduler.ask(each)[0] for each in requests]


def test_first_come_first_served_and_a_visitor_who_ran_goes_behind() -> None:
    queue = Scheduler(1)
    first, other = asked(queue, request("a"), request("b"))
    assert queue.next(0) is first
    again, third = asked(queue, request("a"), request("c"))
    for expected in (other, again, third):
        assert queue.next(0) is None
        queue.over(queue.running[0].run_id, 0)
        assert queue.next(0) is expected


def test_a_visitor_has_one_run_at_once_though_slots_are_free() -> None:
    queue = Scheduler(3)
    asked(queue, request("a"))
    assert queue.next(0) is not None
    (mine, his) = asked(queue, request("a"), request("b"))
    assert queue.next(0) is his
    assert queue.next(0) is None
    assert queue.waiting == (mine,)


def test_a_newer_request_takes_the_place_of_the_older_one() -> None:
    queue = Scheduler(1)
    asked(queue, request("x"))
    queue.next(0)
    old, other = asked(queue, request("a"), request("b"))
    new = request("a")
    chosen, withdrawn = queue.ask(new)
    assert chosen is new and withdrawn is old
    assert queue.waiting == (new, other)


def test_equal_requests_share_one_run_and_outlive_who_asked_first() -> None:
    queue = Scheduler(1)
    running, mine = asked(queue, request("x", "same"), request("a", "wanted"))
    queue.next(0)
    assert queue.ask(request("b", "same")) == (running, None)
    assert queue.ask(request("c", "wanted")) == (mine, None)
    assert queue.withdraw("a") is None
    assert queue.waiting == (mine,) and mine.owner == "c"
    assert queue.withdraw("c") is mine
    assert queue.waiting == ()


def test_ones_own_run_gives_way_only_where_nobody_else_loses() -> None:
    queue = Scheduler(1)
    (run,) = asked(queue, request("a", "mine"))
    queue.next(0)
    asked(queue, request("a"))
    assert queue.gives_way("a") is run
    asked(queue, request("b"))
    assert queue.gives_way("a") is None, "b would wait behind two runs of a"
    queue.withdraw("b")
    queue.ask(request("b", "mine"))
    assert queue.gives_way("a") is None, "b asked for it as well"


def test_a_measurement_has_the_machine_alone_and_is_not_passed() -> None:
    queue = Scheduler(2)
    (first,) = asked(queue, request("a"))
    assert queue.next(0) is first
    alone, later = asked(queue, request("b", alone=True), request("c"))
    assert queue.next(0) is None, "nothing later starts before it, though a slot is free"
    queue.over(first.run_id, 0)
    assert queue.next(0) is alone
    assert queue.next(0) is None
    queue.over(alone.run_id, 0)
    assert queue.next(0) is later


def test_a_judgement_comes_after_the_run_of_its_visitor_and_overtakes_nobody() -> None:
    queue = Scheduler(1)
    (other,) = asked(queue, request("x"))
    queue.next(0)
    run, judge = request("a"), request("a", judges=True)
    assert queue.ask(run) == (run, None) and queue.ask(judge) == (judge, None)
    assert queue.waiting == (run,) and queue.comes_behind("a") is judge
    (stranger,) = asked(queue, request("b"))
    for expected in (run, stranger, judge):
        queue.over(queue.running[0].run_id, 0)
        assert queue.next(0) is expected
    assert other.began_s == 0 and queue.comes_behind("a") is None


def test_a_run_does_not_give_way_to_a_judgement_nor_a_judgement_to_a_run() -> None:
    queue = Scheduler(1)
    (run,) = asked(queue, request("a"))
    queue.next(0)
    (judge,) = asked(queue, request("a", judges=True))
    assert queue.gives_way("a") is None
    queue.over(run.run_id, 0)
    assert queue.next(0) is judge
    asked(queue, request("a"))
    assert queue.gives_way("a") is None
    again = request("a")
    assert queue.ask(again)[1] is not None, "a run replaces a run"
    assert queue.waiting == (again,)


def test_five_tries_of_one_member_hold_nobody_back_and_replace_nothing() -> None:
    queue = Scheduler(1)
    five = asked(queue, *(request("greedy", tries=True) for _ in range(5)))
    others = asked(queue, *(request(owner, tries=True) for owner in "abc"))
    assert queue.waiting == (five[0], *others), "one place a member, whatever waits behind it"
    served = []
    for now in range(8):
        found = queue.next(now)
        assert found is not None
        served.append(found.owner)
        if now == 0:
            place = queue.place(others[2].run_id, 0)
            assert place is not None and (place.place, place.estimate_s) == (3, 30)
        queue.over(found.run_id, now)
    assert served == ["greedy", "a", "b", "c", *["greedy"] * 4]
    assert queue.next(9) is None


def test_a_try_and_a_run_of_its_visitor_leave_each_other_alone() -> None:
    queue = Scheduler(1)
    (run,) = asked(queue, request("a"))
    queue.next(0)
    (tried,) = asked(queue, request("a", tries=True))
    assert queue.gives_way("a") is None, "the run goes on"
    (newer,) = asked(queue, request("a"))
    assert queue.asked_by("a") == (tried, newer)
    assert queue.withdraw("a", newer.run_id) is newer
    queue.over(run.run_id, 1)
    assert queue.next(1) is tried


def test_what_waits_behind_keeps_no_place_from_others() -> None:
    queue = Scheduler(1, most_waiting=3)
    asked(queue, request("x"))
    queue.next(0)
    asked(queue, *(request("greedy", tries=True) for _ in range(4)))
    asked(queue, request("a"), request("b"))
    for owner in ("c", "greedy"):
        with pytest.raises(InputError, match="3 runs are already waiting"):
            queue.ask(request(owner, tries=True))


def test_either_of_two_can_be_taken_back() -> None:
    queue = Scheduler(1)
    asked(queue, request("x"))
    queue.next(0)
    run, judge = asked(queue, request("a"), request("a", "same", judges=True))
    newer = request("a", judges=True)
    assert queue.ask(newer) == (newer, judge) and queue.comes_behind("a") is newer
    assert queue.withdraw("a", newer.run_id) is newer and queue.waiting == (run,)
    (judge,) = asked(queue, request("a", "same", judges=True))
    (shared,) = asked(queue, request("b", "same", judges=True))
    assert shared is judge and queue.waiting == (run, judge), "b has waited for nothing else"
    assert queue.withdraw("a", run.run_id) is run
    assert queue.withdraw("a") is None and judge.owners == ("b",)


def test_more_than_may_wait_is_refused_and_a_replacement_is_not() -> None:
    queue = Scheduler(1, most_waiting=2)
    asked(queue, request("x"))
    queue.next(0)
    asked(queue, request("a"), request("b"))
    with pytest.raises(InputError, match="2 runs are already waiting") as refused:
        queue.ask(request("c"))
    assert refused.value.code == "queue-full"
    asked(queue, request("a"))
    assert len(queue.waiting) == 2


def test_place_and_estimate_and_what_past_runs_teach() -> None:
    queue = Scheduler(1)
    run, first, second = asked(queue, request("a"), request("b"), request("c", seconds=20))
    queue.next(100)
    place = queue.place(second.run_id, 104)
    assert place is not None
    assert (place.place, place.waiting, place.estimate_s) == (2, 2, 6 + 10)
    queue.over(run.run_id, 130)  # three times what was expected
    queue.next(130)
    place = queue.place(second.run_id, 130)
    assert place is not None and place.estimate_s == pytest.approx(30)
    queue.over(first.run_id, 131, whole=False)  # stopped: it says nothing of others
    queue.next(131)
    (late,) = asked(queue, request("d"))
    place = queue.place(late.run_id, 131)
    assert place is not None and place.estimate_s == pytest.approx(60)
    assert queue.place(second.run_id, 131) is None


OWNERS = "abcde"
STEP = st.tuples(
    st.sampled_from(["ask", "same", "alone", "judge", "try", "cancel", "over"]),
    st.sampled_from(OWNERS),
)


@given(slots=st.integers(1, 3), steps=st.lists(STEP, max_size=60), dice=st.randoms())
def test_any_sequence_keeps_the_rules_and_everyone_who_waits_is_served(
    slots: int, steps: list[tuple[str, str]], dice: random.Random
) -> None:
    queue = Scheduler(slots)
    now = 0.0
    for step, owner in steps:
        now += 1
        if step == "over" and queue.running:
            queue.over(dice.choice(queue.running).run_id, now)
        elif step == "cancel":
            queue.withdraw(owner)
        elif step != "over":
            key = "same" if step == "same" else None
            kind = {"alone": step == "alone", "judges": step == "judge", "tries": step == "try"}
            queue.ask(request(owner, key, **kind))
        while queue.next(now) is not None:
            pass
        check(queue, slots, now)
    for _ in range(len(steps)):
        if queue.running:
            queue.over(queue.running[0].run_id, now)
        while queue.next(now) is not None:
            pass
        check(queue, slots, now)
    assert not queue.waiting and not queue.running


def check(queue: Scheduler, slots: int, now: float) -> None:
    running = queue.running
    assert len(running) <= slots
    assert len(running) == 1 or not any(each.alone for each in running)
    owners = [each.owner for each in running]
    assert len(set(owners)) == len(owners)
    waiting = [(owner, each.sort) for each in queue.waiting for owner in each.owners]
    assert len(set(waiting)) == len(waiting)
    behind = [owner for owner in OWNERS if queue.comes_behind(owner) is not None]
    assert all(queue.waits_for(owner) is not None for owner in behind)
    keys = [each.key for each in (*running, *queue.waiting)]
    assert len(set(keys)) == len(keys)
    places = [queue.place(each.run_id, now) for each in queue.waiting]
    assert sorted(place.place for place in places if place) == list(range(1, len(places) + 1))
    assert bool(running) or not queue.waiting


def test_a_run_takes_the_slot_whose_guests_it_can_use() -> None:
    slots = Slots(3)
    assert [slots.take("one", "a"), slots.take("one", "b"), slots.take("two", "c")] == [0, 1, 2]
    with pytest.raises(ValueError):
        slots.take("one", "d")
    for slot in (0, 1, 2):
        slots.free(slot)
    assert slots.take("one", "b") == 1
    assert slots.take("two", "d") == 2
    assert slots.take("two", "d") == 0
