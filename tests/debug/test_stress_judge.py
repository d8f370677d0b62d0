# SPDX-License-Identifier: GPL-2.0-or-later
"""What the stress makes of a console. The stress itself is run by hand."""

from __future__ import annotations

import subprocess

import pytest

from duet.lessons import load as lessons
from duet.trials.check.report import judge, program
from tests.debug import stress

STORM = lessons.load("02-grace-periods")

GOOD = """\
[    0.000000] Linux version 6.1
[    0.012000] ... MAX_LOCKDEP_SUBCLASSES:  8
[    0.100000] rcu: \tRCU lockdep checking is enabled.
[    0.200000] kasan: KernelAddressSanitizer initialized
stress: begin Slab: 1 kB
storm: hogs=6 umounts=100 per_s=10.0 possible BUG in a program's words
storm: hogs=6 umounts=20 per_s=10.0
stress: end rounds=2
"""


def test_a_quiet_console_is_clean() -> None:
    verdict = judge(STORM, GOOD)
    assert verdict.clean and verdict.rounds == 2 and verdict.work == {"umounts": 120}


@pytest.mark.parametrize(
    "line",
    [
        "[    9.1] WARNING: CPU: 1 PID: 7 at fs/super.c:293 __put_super+0x1/0x2",
        "[    9.1] BUG: KASAN: use-after-free in super_cache_count+0x1/0x2",
        "[    9.1] WARNING: possible circular locking dependency detected",
        "[    9.1] WARNING: suspicious RCU usage",
        "[    9.1] INFO: task storm-1:77 blocked for more than 120 seconds.",
        "[    9.1] ODEBUG: free active (active state 0) object type: work_struct",
        "[    9.1] XFS (loop0): Corruption detected. Unmount and run xfs_repair",
        "[    9.1] Oops: 0000 [#1] SMP KASAN",
        "stress: failed (1): storm --hogs 6",
    ],
)
def test_each_complaint_is_seen(line: str) -> None:
    assert not judge(STORM, GOOD.replace("storm: hogs", f"{line}\nstorm: hogs", 1)).clean


@pytest.mark.parametrize("lost", ["stress: end rounds=2\n", "2\n"])
def test_a_guest_without_an_end_or_without_work_is_not_clean(lost: str) -> None:
    said = GOOD.removesuffix(lost) + ("0\n" if lost == "2\n" else "")
    assert not judge(STORM, said).clean


@pytest.mark.parametrize("slug", lessons.slugs())
def test_first_program_of_every_lesson_is_a_shell_script(slug: str) -> None:
    folder = lessons.load(slug)
    text = program(folder, 60)
    done = subprocess.run(["sh", "-n"], input=text, text=True, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    assert all(w.run.split()[0] in text for w in folder.lesson.workloads.values())


def test_an_optional_arm_is_stressed_where_it_is_named() -> None:
    """Some stand on another base, which is a compile of everything."""
    folder = lessons.load("04-extent-shrinker")
    optional = [arm.name for arm in folder.lesson.arms if arm.optional and arm.patches]
    usual = [arm.name for arm in stress.chosen(folder, None)]
    assert optional and usual and not set(optional) & set(usual)
    assert "stock" not in usual, "no patch, nothing to stress"
    assert [arm.name for arm in stress.chosen(folder, optional)] == optional
