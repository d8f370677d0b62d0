# SPDX-License-Identifier: GPL-2.0-or-later
"""What the reducer says of scenes whose truth is known."""

from __future__ import annotations

from duet.lessons.load import LessonFolder
from tests.support.stage import BLOCKED, KWORKER, PREEMPTED, SYMBOLS, ZOMBIE, Stage, play

A, B = 100, 101
SRCU, RWSEM = SYMBOLS["shrinker_srcu"], SYMBOLS["shrinker_rwsem"]


def test_an_srcu_wait_is_distinguished_from_running_and_runnable(lesson02: LessonFolder) -> None:
    stage = Stage(cpus=1, hogs=1)
    stage.barrier()
    stage.wake(10, 0, 99, A)
    stage.switch(20, 0, 0, A)
    stage.add(30, 0, "sys_umount", A)
    stage.add(40, 0, "srcu_call", A, SRCU, 1)
    stage.switch(50, 0, A, 0, BLOCKED)
    stage.wake(900, 0, KWORKER, A)
    stage.switch(950, 0, 0, A)
    stage.add(960, 0, "srcu_ret", A)
    stage.add(990, 0, "cleanup_ret", A)
    stage.switch(1000, 0, A, 0, ZOMBIE)
    outcome, lane = play(stage, lesson02.lesson)
    assert outcome.spans("state") == [
        ("wait_other", 0, 0, 10),
        ("runnable", 0, 10, 20),
        ("running", 0, 20, 50),
        ("wait_srcu", 0, 50, 900),
        ("runnable", 0, 900, 950),
        ("running", 0, 950, 1000),
    ]
    assert outcome.spans("function") == [("srcu_call", 0, 40, 960)]
    assert outcome.tables["spans"][-2]["arg"] == 1.0
    assert outcome.tables["ops"] == [{"t0_ns": 30, "t1_ns": 990, "row": 0, "ok": 1, "id": 1}]
    assert outcome.tables["open"] == []
    metrics = lane.metrics(0)
    assert metrics.wait_ns is not None
    assert (metrics.ops, metrics.wait_ns.p50, metrics.wait_ns.n) == (1, 920.0, 1)


def test_the_semaphore_decides_which_wait_it_is(lesson02: LessonFolder) -> None:
    waits = []
    for sem in (RWSEM, SYMBOLS["namespace_sem"], 0xFFFFFFFF8FFFF000):
        stage = Stage(cpus=1, hogs=1)
        stage.barrier()
        stage.switch(20, 0, 0, A)
        stage.add(30, 0, "lock", A, sem)
        stage.switch(40, 0, A, 0, BLOCKED)
        stage.switch(80, 0, 0, A)
        stage.add(90, 0, "lock_ret", A)
        stage.switch(95, 0, A, 0, BLOCKED)
        outcome, _ = play(stage, lesson02.lesson, "rwsem")
        waits.append([s[0] for s in outcome.spans("state") if s[3] - s[2] == 40])
        assert outcome.spans("state", "open") == []
    assert waits == [["wait_lock"], ["wait_namespace"], ["wait_other"]]


def test_preempted_and_yielding_threads_are_runnable(lesson02: LessonFolder) -> None:
    stage = Stage(cpus=1, hogs=2)
    stage.barrier()
    stage.switch(20, 0, 0, A)
    stage.add(25, 0, "srcu_call", A, SRCU, 1)
    stage.switch(30, 0, A, B, PREEMPTED)
    stage.switch(40, 0, B, A, 0)
    stage.switch(50, 0, A, 0, BLOCKED)
    outcome, _ = play(stage, lesson02.lesson)
    assert ("runnable", 0, 30, 40) in outcome.spans("state")
    assert ("running", 1, 30, 40) in outcome.spans("state")


def test_a_wake_that_comes_before_the_switch_makes_the_sleeper_runnable(
    lesson02: LessonFolder,
) -> None:
    stage = Stage(cpus=2, hogs=1)
    stage.barrier()
    stage.switch(20, 0, 0, A)
    stage.add(25, 0, "srcu_call", A, SRCU, 1)
    stage.wake(28, 1, KWORKER, A)
    stage.switch(30, 0, A, 0, BLOCKED)
    stage.switch(60, 0, 0, A)
    stage.add(70, 0, "srcu_ret", A)
    outcome, _ = play(stage, lesson02.lesson)
    assert ("runnable", 0, 30, 60) in outcome.spans("state")
    assert "wait_srcu" not in [s[0] for s in outcome.spans()]


def test_a_stale_early_wake_does_not_hide_a_later_sleep(lesson02: LessonFolder) -> None:
    stage = Stage(cpus=2, hogs=1)
    stage.barrier()
    stage.switch(20, 0, 0, A)
    stage.wake(28, 1, KWORKER, A)
    stage.add(29, 0, "srcu_call", A, SRCU, 1)
    stage.switch(30, 0, A, 0, BLOCKED)
    stage.wake(80, 1, KWORKER, A)
    outcome, _ = play(stage, lesson02.lesson)
    assert ("wait_srcu", 0, 30, 80) in outcome.spans("state")


def test_at_equal_times_the_order_of_the_cpu_holds(lesson02: LessonFolder) -> None:
    stage = Stage(cpus=2, hogs=1)
    stage.barrier()
    stage.switch(20, 1, 0, A)
    stage.add(20, 1, "sys_umount", A)
    stage.add(20, 1, "srcu_call", A, SRCU, 1)
    stage.switch(20, 1, A, 0, BLOCKED)
    stage.wake(50, 0, KWORKER, A)
    stage.switch(50, 1, 0, A)
    stage.add(50, 1, "srcu_ret", A)
    stage.add(50, 1, "cleanup_ret", A)
    outcome, _ = play(stage, lesson02.lesson)
    assert ("wait_srcu", 0, 20, 50) in outcome.spans("state")
    assert outcome.spans("function") == [("srcu_call", 0, 20, 50)]
    assert len(outcome.tables["ops"]) == 1


def test_a_failed_umount_is_replaced_by_the_next(lesson02: LessonFolder) -> None:
    stage = Stage(cpus=1, hogs=1)
    stage.barrier()
    stage.switch(20, 0, 0, A)
    stage.add(30, 0, "sys_umount", A)
    stage.add(40, 0, "sys_umount", A)
    stage.add(50, 0, "cleanup_ret", A)
    stage.add(60, 0, "cleanup_ret", A)
    outcome, lane = play(stage, lesson02.lesson)
    assert [(r["t0_ns"], r["t1_ns"]) for r in outcome.tables["ops"]] == [(40, 50)]
    assert lane.metrics(0).ops == 1


def test_returns_without_an_entry_are_ignored_and_nested_calls_pair(
    lesson02: LessonFolder,
) -> None:
    stage = Stage(cpus=1, hogs=1)
    stage.barrier()
    stage.switch(20, 0, 0, A)
    stage.add(25, 0, "unregister_ret", A)
    stage.add(30, 0, "shrink", A)
    stage.add(40, 0, "shrink", A)
    stage.add(50, 0, "shrink_ret", A)
    stage.add(60, 0, "shrink_ret", A)
    outcome, _ = play(stage, lesson02.lesson)
    assert outcome.spans("function") == [("reader", 0, 30, 60), ("reader", 0, 40, 50)]


def test_the_strip_tells_armed_check_delay_and_wake(lesson02: LessonFolder) -> None:
    stage = Stage(cpus=2, hogs=1)
    stage.barrier()
    stage.switch(20, 0, 0, A)
    stage.add(30, 0, "srcu_call", A, SRCU, 1)
    stage.gp(40, 0, A, 0)
    stage.switch(50, 0, A, 0, BLOCKED)
    stage.gp(4000, 1, KWORKER, 1)
    stage.gp(4005, 1, KWORKER, 3)  # a reader was inside
    stage.gp(4100, 1, KWORKER, 1)
    stage.gp(4102, 1, KWORKER, 2)
    stage.gp(4110, 1, KWORKER, 4)
    stage.gp(4112, 1, KWORKER, 0)  # the next one is armed at once
    stage.gp(4115, 1, KWORKER, 3)
    stage.gp(8000, 1, KWORKER, 5)
    stage.wake(8010, 1, KWORKER, A)
    stage.gp(8020, 1, KWORKER, 6)
    stage.wake(8030, 1, KWORKER, A)
    outcome, lane = play(stage, lesson02.lesson)
    tracks = [(r.row, r.name) for r in lane.rows if r.role == "track"]
    assert tracks == [(1, "grace-period"), (2, "callbacks"), (3, "exp-rcu")]
    assert outcome.spans("track") == [
        ("gp_armed", 1, 40, 4000),
        ("gp_check", 1, 4000, 4005),
        ("gp_recheck", 1, 4005, 4100),
        ("gp_check", 1, 4100, 4110),
        ("cb_delay", 2, 4110, 8000),
        ("cb_wake", 2, 8000, 8020),
    ]
    assert outcome.spans("track", "open") == [("gp_armed", 1, 4112, outcome.watermark)]
    assert lane.metrics(0).cycles == 1
    (link,) = outcome.tables["links"]
    assert (link["t_ns"], link["from_row"], link["to_row"], link["kind"]) == (8010, 2, 0, 0)


def test_callbacks_on_two_cpus_end_with_the_last(lesson02: LessonFolder) -> None:
    stage = Stage(cpus=2, hogs=2)
    stage.barrier()
    stage.gp(100, 0, KWORKER, 4)
    stage.gp(200, 0, KWORKER, 5)
    stage.gp(210, 1, KWORKER + 1, 5)
    stage.gp(220, 0, KWORKER, 6)
    stage.wake(230, 1, KWORKER + 1, B)
    stage.wake(235, 0, KWORKER, A)  # no longer inside
    stage.gp(240, 1, KWORKER + 1, 6)
    outcome, _ = play(stage, lesson02.lesson)
    assert [s for s in outcome.spans("track") if s[0] == "cb_wake"] == [("cb_wake", 3, 200, 240)]
    assert [link["to_row"] for link in outcome.tables["links"]] == [1]


def test_an_expedited_period_begun_by_one_ends_by_another(lesson02: LessonFolder) -> None:
    stage = Stage(cpus=1, hogs=1)
    stage.barrier()
    stage.exp(100, 0, A, "start")
    stage.exp(150, 0, KWORKER, "end")
    stage.exp(200, 0, A, "start")
    stage.exp(260, 0, KWORKER, "end")
    outcome, _ = play(stage, lesson02.lesson, "rwsem")
    assert outcome.spans("track") == [("exp_gp", 1, 100, 150), ("exp_gp", 1, 200, 260)]


def test_the_stock_arm_has_no_srcu_strip(lesson02: LessonFolder) -> None:
    stage = Stage(cpus=1, hogs=1)
    stage.barrier()
    stage.gp(100, 0, KWORKER, 0)
    outcome, lane = play(stage, lesson02.lesson, "rwsem")
    assert [r.name for r in lane.rows] == ["storm-0", "exp-rcu"]
    assert outcome.spans("track") == []


def test_rows_are_hogs_by_number_then_reader_then_tracks(lesson02: LessonFolder) -> None:
    stage = Stage(cpus=1, hogs=3)
    for at, tid in ((-90, 102), (-80, 98), (-70, 101), (-60, 99), (-50, 100)):
        stage.switch(at, 0, 0, tid)
        stage.switch(at + 5, 0, tid, 0, 1)
    stage.start()
    _, lane = play(stage, lesson02.lesson, "rwsem", hogs=4)
    assert [(r.row, r.tid, r.name, r.role) for r in lane.rows] == [
        (0, 100, "storm-0", "thread"),
        (1, 101, "storm-1", "thread"),
        (2, 102, "storm-2", "thread"),
        (3, 0, "", "thread"),
        (4, 98, "storm-reclaim", "other"),
        (5, -1, "exp-rcu", "track"),
    ]


def test_a_late_hog_takes_the_row_that_was_kept_for_it(lesson02: LessonFolder) -> None:
    stage = Stage(cpus=1, hogs=3)
    stage.start()
    stage.switch(10, 0, 0, 102)
    stage.add(20, 0, "sys_umount", 102)
    stage.add(30, 0, "cleanup_ret", 102)
    outcome, lane = play(stage, lesson02.lesson, "rwsem", hogs=3)
    assert [(r.row, r.tid) for r in lane.rows] == [(0, 0), (1, 0), (2, 102), (3, -1)]
    assert outcome.tables["ops"][0]["row"] == 2


def test_what_lies_before_the_start_marker_is_cut(lesson02: LessonFolder) -> None:
    stage = Stage(cpus=2, hogs=1)
    stage.switch(-500, 0, 0, A)
    stage.add(-400, 0, "sys_umount", A)
    stage.add(-300, 0, "cleanup_ret", A)
    stage.add(-200, 0, "sys_umount", A)
    stage.start(0, 1)
    stage.add(100, 0, "cleanup_ret", A)
    stage.switch(200, 0, A, 0, BLOCKED)
    outcome, lane = play(stage, lesson02.lesson)
    assert outcome.spans("state") == [("running", 0, 0, 200)]
    assert outcome.tables["ops"] == []
    assert lane.metrics(0).wait_ns is None


def test_no_state_reaches_over_a_loss(lesson02: LessonFolder) -> None:
    stage = Stage(cpus=1, hogs=1)
    stage.barrier()
    stage.switch(20, 0, 0, A)
    stage.add(30, 0, "sys_umount", A)
    stage.add(40, 0, "srcu_call", A, SRCU, 1)
    stage.cpus[0].lose(7)
    stage.switch(500, 0, A, 0, BLOCKED)
    stage.switch(600, 0, 0, A)
    stage.add(610, 0, "srcu_ret", A)
    stage.add(620, 0, "cleanup_ret", A)
    stage.add(630, 0, "sys_umount", A)
    stage.switch(640, 0, A, 0, BLOCKED)
    stage.switch(650, 0, 0, A)
    outcome, lane = play(stage, lesson02.lesson)
    assert outcome.losses == [(40, 500, 7)]
    assert lane.missing.count == 7
    for _, _, begin, end in outcome.spans():
        assert end <= 40 or begin >= 500
    assert outcome.tables["ops"] == []
    # after the loss a sleep is unknown until the next operation says where it is
    assert [s for s in outcome.spans("state") if s[2] >= 500] == [
        ("running", 0, 600, 640),
        ("wait_other", 0, 640, 650),
    ]


def test_waits_of_an_operation_are_added_and_mount_does_not_count(lesson02: LessonFolder) -> None:
    stage = Stage(cpus=1, hogs=1)
    stage.barrier()
    stage.switch(20, 0, 0, A)
    stage.add(30, 0, "sys_mount", A)
    stage.add(40, 0, "lock", A, RWSEM)
    stage.add(100, 0, "lock_ret", A)
    stage.add(200, 0, "sys_umount", A)
    stage.add(210, 0, "lock", A, RWSEM)
    stage.add(240, 0, "lock_ret", A)
    stage.add(250, 0, "lock", A, SYMBOLS["namespace_sem"])
    stage.add(350, 0, "lock_ret", A)
    stage.add(400, 0, "srcu_call", A, SRCU, 0)
    stage.add(500, 0, "srcu_ret", A)
    stage.add(600, 0, "cleanup_ret", A)
    stage.add(700, 0, "sys_umount", A)
    stage.add(710, 0, "cleanup_ret", A)
    _, lane = play(stage, lesson02.lesson)
    metrics = lane.metrics(0)
    assert metrics.wait_ns is not None and metrics.op_ns is not None
    assert (metrics.wait_ns.max, metrics.wait_ns.n) == (130, 2)
    assert (metrics.op_ns.max, metrics.op_ns.n) == (400, 2)


def test_a_return_that_was_missed_does_not_colour_the_next_operation(
    lesson02: LessonFolder,
) -> None:
    stage = Stage(cpus=1, hogs=1)
    stage.barrier()
    stage.switch(20, 0, 0, A)
    stage.add(30, 0, "srcu_call", A, SRCU, 1)
    stage.add(40, 0, "cleanup_ret", A)
    stage.add(50, 0, "sys_umount", A)
    stage.switch(60, 0, A, 0, BLOCKED)
    stage.switch(90, 0, 0, A)
    outcome, _ = play(stage, lesson02.lesson)
    assert ("wait_other", 0, 60, 90) in outcome.spans("state")


def test_the_innermost_function_is_the_cause(lesson02: LessonFolder) -> None:
    stage = Stage(cpus=1, hogs=1)
    stage.barrier()
    stage.switch(20, 0, 0, A)
    stage.add(30, 0, "exp_call", A)
    stage.add(40, 0, "lock", A, RWSEM)
    stage.switch(50, 0, A, 0, BLOCKED)
    stage.switch(60, 0, 0, A)
    stage.add(70, 0, "lock_ret", A)
    stage.switch(80, 0, A, 0, BLOCKED)
    stage.switch(90, 0, 0, A)
    outcome, _ = play(stage, lesson02.lesson)
    assert ("wait_lock", 0, 50, 60) in outcome.spans("state")
    assert ("wait_exp", 0, 80, 90) in outcome.spans("state")


def test_the_end_of_a_superseded_phase_does_not_end_the_next(lesson02: LessonFolder) -> None:
    stage = Stage(cpus=2, hogs=1)
    stage.barrier()
    stage.gp(100, 0, KWORKER, 5)
    stage.gp(200, 1, KWORKER + 1, 4)  # another period ends while callbacks still run
    stage.wake(210, 0, KWORKER, A)
    stage.gp(220, 0, KWORKER, 6)
    stage.gp(300, 1, KWORKER + 1, 5)
    stage.gp(320, 1, KWORKER + 1, 6)
    outcome, _ = play(stage, lesson02.lesson)
    assert [s for s in outcome.spans("track") if s[1] == 2] == [
        ("cb_wake", 2, 100, 200),
        ("cb_delay", 2, 200, 300),
        ("cb_wake", 2, 300, 320),
    ]
    assert [link["t_ns"] for link in outcome.tables["links"]] == [210]
