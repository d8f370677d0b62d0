# SPDX-License-Identifier: GPL-2.0-or-later
"""Braces of a lesson are filled in, or refused in a sentence."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from duet.base.errors import InputError, KernelError
from duet.lessons.load import LessonFolder
from duet.lessons.plan import command, filled, kernel_values, plan_text, probes_of, substitute
from duet.lessons.schema import Lesson
from duet.session import needed_symbols


def test_a_knob_that_does_not_exist_is_refused(lesson02: LessonFolder) -> None:
    storm = lesson02.lesson.workloads["storm"]
    wrong = storm.model_copy(update={"run": "storm --hogs {hogz}"})
    absent = (
        r"cannot be filled in: it names a value that does not exist, "
        r"or its braces do not match \(hogz\)"
    )
    with pytest.raises(InputError, match=absent) as reported:
        command(wrong, lesson02.check_params({}))
    assert "hogs, " in reported.value.remedy


ON_7_3 = {"event": "duet/umount", "define": "p:duet/umount path_umount at={offset:mount.mnt_id}"}


def on_base(lesson02: LessonFolder, bases: dict[str, object]) -> Lesson:
    """Lesson 02 with another event for `sys_umount` on the base of one arm."""
    data = lesson02.lesson.model_dump()
    newest = lesson02.lesson.arms[0].model_dump() | {"name": "newest", "base": "7.3"}
    data["arms"] = [*data["arms"], newest]
    for probe in data["probes"]:
        if probe["name"] == "sys_umount":
            probe["bases"] = bases
    return Lesson.model_validate(data)


def test_a_base_has_its_own_event_for_a_probe(lesson02: LessonFolder) -> None:
    params = lesson02.check_params({})
    lesson = on_base(lesson02, {"7.3": ON_7_3})
    assert needed_symbols(lesson, "newest") >= {"offset:mount.mnt_id"}
    assert "offset:mount.mnt_id" not in needed_symbols(lesson, "rwsem")
    values = dict.fromkeys(needed_symbols(lesson, "newest"), 24)
    plan = plan_text(lesson, "newest", "storm", params, values)
    assert "\nprobe p:duet/umount path_umount at=24\n" in plan
    assert "\nevent duet/umount\n" in plan
    assert "sys_umount" not in plan
    old = plan_text(lesson, "rwsem", "storm", params, {"shrinker_srcu": 1} | values)
    assert "p:duet/sys_umount __x64_sys_umount" in old


def test_a_probe_can_be_absent_on_a_base(lesson02: LessonFolder) -> None:
    lesson = on_base(lesson02, {"7.3": "absent"})
    assert "sys_umount" in probes_of(lesson, "rwsem")
    assert "sys_umount" not in probes_of(lesson, "newest")


def test_a_base_that_no_arm_stands_on_is_refused(lesson02: LessonFolder) -> None:
    with pytest.raises(ValidationError, match=r"7\.4"):
        on_base(lesson02, {"7.4": "absent"})


def test_a_write_is_left_out_where_the_kernel_lacks_the_knob(lesson02: LessonFolder) -> None:
    data = on_base(lesson02, {}).model_dump()
    data["workloads"]["storm"]["writes"] = ("/proc/sys/vm/swappiness {hogs}",)
    data["params"]["hogs"]["absent_on"] = ("7.3",)
    lesson, params = Lesson.model_validate(data), lesson02.check_params({"hogs": 5})
    values = dict.fromkeys(needed_symbols(lesson, "rwsem"), 24)
    plans = {a: plan_text(lesson, a, "storm", params, values) for a in ("rwsem", "newest")}
    assert "\nwrite /proc/sys/vm/swappiness 5\n" in plans["rwsem"]
    assert "swappiness" not in plans["newest"]
    data["params"]["hogs"]["absent_on"] = ("7.4",)
    with pytest.raises(ValidationError, match=r"7\.4"):
        Lesson.model_validate(data)


def test_a_base_has_its_own_limit_for_an_event(lesson02: LessonFolder) -> None:
    limited = ON_7_3 | {"explain_max": {"hogs": 3}}
    lesson = on_base(lesson02, {"7.3": limited})
    values = dict.fromkeys(needed_symbols(lesson, "newest"), 24)
    for hogs, traced in ((3, True), (4, False)):
        params = lesson02.check_params({"hogs": hogs})
        plan = plan_text(lesson, "newest", "storm", params, values)
        assert ("path_umount" in plan) is traced


def test_an_offset_that_the_kernel_lacks_is_named() -> None:
    with pytest.raises(KernelError, match=r"no 'offset:shrinker\.gone'"):
        substitute("+{offset:shrinker.gone}($arg1)", {})


def test_braces_that_do_not_match_are_refused() -> None:
    with pytest.raises(InputError, match="cannot be filled in"):
        filled("sh -c {", {})


def with_writes(lesson02: LessonFolder, *writes: str) -> Lesson:
    """Lesson 02, whose first arm writes these settings."""
    data = lesson02.lesson.model_dump()
    data["arms"] = [data["arms"][0] | {"writes": writes}, *data["arms"][1:]]
    return Lesson.model_validate(data)


def test_an_arm_writes_its_settings_before_the_workload_prepares(lesson02: LessonFolder) -> None:
    lesson = with_writes(lesson02, "/sys/kernel/mm/lru_gen/enabled 0")
    params = lesson02.check_params({})
    first, second = (arm.name for arm in lesson.arms[:2])
    written = "write /sys/kernel/mm/lru_gen/enabled 0"
    lines = plan_text(lesson, first, "storm", params, {}, traced=False).splitlines()
    steps = [line for line in lines if line.startswith(("write ", "setup "))]
    assert steps[0] == written
    assert written not in plan_text(lesson, second, "storm", params, {}, traced=False)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("/etc/passwd x", "'/etc/passwd' is no file below /proc/sys or /sys"),
        ("/sys/../etc/passwd x", "is no file below /proc/sys or /sys"),
        ("/proc/sys/vm/swappiness", "no value follows /proc/sys/vm/swappiness"),
        ("/proc/sys/vm/swappiness 1\nrun sh", "no value follows /proc/sys/vm/swappiness"),
        ("/proc/sys/vm/swappiness {hogs}", "so its value names no knob"),
    ],
    ids=["elsewhere", "dots", "empty", "two lines", "knob"],
)
def test_a_setting_of_another_form_is_refused(lesson02: LessonFolder, line: str, said: str) -> None:
    with pytest.raises(ValidationError, match=said):
        with_writes(lesson02, line)


def test_a_file_is_written_once(lesson02: LessonFolder) -> None:
    with pytest.raises(ValidationError, match="this arm writes /sys/a twice"):
        with_writes(lesson02, "/sys/a 1", "/sys/a 2")


def test_a_member_may_be_an_element_of_an_array() -> None:
    text = "+{offset:lruvec.lrugen.nr_pages[0][1][0]}(%di):s64"
    name = "offset:lruvec.lrugen.nr_pages[0][1][0]"
    assert kernel_values(text) == [name]
    assert substitute(text, {name: 96}) == "+96(%di):s64"
