# SPDX-License-Identifier: GPL-2.0-or-later
"""Time in the host's run queues, read from /proc."""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path

import pytest

from duet.guests import CpuTime, HostTicks, cpu_time, host_ran_ns, host_ticks, vcpu_time


def test_threads_are_summed_and_readings_subtract(tmp_path: Path) -> None:
    for tid, text in (("7", "100 20 3\n"), ("8", "200 80 4\n")):
        task = tmp_path / "7" / "task" / tid
        task.mkdir(parents=True)
        (task / "schedstat").write_text(text)
    now = cpu_time(7, tmp_path)
    assert now == CpuTime(ran_ns=300, waited_ns=100)
    assert now.since(CpuTime(100, 50)) == CpuTime(200, 50)
    # A vCPU of a QEMU that is being killed has ended before this reading.
    assert CpuTime(100, 20).since(now) == CpuTime(0, 0)
    assert now.waited_share == 0.25
    assert CpuTime(0, 0).waited_share == 0.0


def test_of_a_qemu_only_the_vcpus_count(tmp_path: Path) -> None:
    threads = {
        "7": ("qemu-system-x86", "900 900 1"),
        "8": ("CPU 0/TCG", "100 20 3"),
        "9": ("CPU 1/TCG", "200 80 4"),
        "10": ("call_rcu", "5 5 5"),
    }
    for tid, (name, text) in threads.items():
        task = tmp_path / "7" / "task" / tid
        task.mkdir(parents=True)
        (task / "comm").write_text(f"{name}\n")
        (task / "schedstat").write_text(f"{text}\n")
    assert vcpu_time(7, tmp_path) == CpuTime(ran_ns=300, waited_ns=100)
    assert cpu_time(7, tmp_path) == CpuTime(ran_ns=1205, waited_ns=1005)
    assert vcpu_time(os.getpid()) is None, "a process without vCPUs"


def test_stolen_time_is_a_part_of_what_the_host_believed_to_run(tmp_path: Path) -> None:
    (tmp_path / "stat").write_text("cpu  10 20 30 1000 500 1 2 7 0 0\n")
    now = host_ticks(tmp_path)
    assert now == HostTicks(ran=63, stolen=7)
    assert HostTicks(ran=143, stolen=27).stolen_share(now) == 0.2
    assert now.stolen_share(now) == 0
    assert host_ticks(tmp_path / "none") is None


def test_a_process_that_is_gone_has_no_reading(tmp_path: Path) -> None:
    assert cpu_time(7, tmp_path) is None


def test_a_busy_process_is_seen() -> None:
    first = cpu_time(os.getpid())
    end = time.process_time() + 0.05
    while time.process_time() < end:
        pass
    second = cpu_time(os.getpid())
    assert first is not None and second is not None
    assert second.since(first).ran_ns > 20_000_000


def test_two_on_one_cpu_wait_for_each_other() -> None:
    cpu = str(min(os.sched_getaffinity(0)))
    spin = ["taskset", "-c", cpu, "sh", "-c", "while :; do :; done"]
    both = [subprocess.Popen(spin) for _ in range(2)]
    try:
        time.sleep(1.0)
        reading = cpu_time(both[0].pid)
    finally:
        for process in both:
            process.kill()
            process.wait()
    assert reading is not None
    assert reading.waited_share > 0.2


def test_a_guest_that_waits_for_its_own_threads_is_not_disturbed() -> None:
    """Figures of a sleepy guest on an idle host, and of the same on a busy one."""
    sleepy = CpuTime(ran_ns=1_255_000_000, waited_ns=798_000_000)
    assert sleepy.waited_share > 0.35
    elapsed_ns = 3_000_000_000
    assert sleepy.waited_for_others(1_300_000_000, elapsed_ns) < 0.02
    assert sleepy.waited_for_others(700_000_000, elapsed_ns) == 0  # ticks miss short runs
    assert sleepy.waited_for_others(6_000_000_000, elapsed_ns) == pytest.approx(0.266)
    always = CpuTime(ran_ns=3_000_000_000, waited_ns=3_000_000_000)
    assert always.waited_for_others(6_000_000_000, elapsed_ns) == 0.5


def test_what_the_host_ran_is_read_without_idle_time(tmp_path: Path) -> None:
    (tmp_path / "stat").write_text("cpu  10 20 30 1000 500 1 2 7 0 0\ncpu0 1 2 3\n")
    assert host_ran_ns(tmp_path) == 70 * 1_000_000_000 // os.sysconf("SC_CLK_TCK")
    assert host_ran_ns(tmp_path / "none") is None
    before, after = host_ran_ns(), host_ran_ns()
    assert before is not None and after is not None and after >= before > 0
