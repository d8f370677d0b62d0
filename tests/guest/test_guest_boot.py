# SPDX-License-Identifier: GPL-2.0-or-later
"""Real kernels: they boot, take plans, and every event is accounted for."""

from __future__ import annotations

import asyncio
import copy
import os
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from duet.base.errors import InfraError, KernelError
from duet.guests import GuestSpec, open_guest
from duet.guests import ports as ports_module
from duet.guests.types import CTL_STREAM, Accel
from duet.lessons.load import load
from duet.session.trouble import agent_trouble
from duet.wire.frames import Drained, FrameType, Started, Stats, decode_frame
from duet.wire.reader import pack_frame
from tests.support.guest_driver import Driver, Outcome
from tests.support.shared_guests import SharedGuests

pytestmark = pytest.mark.guest

Run = Callable[..., Any]
Boot = Callable[..., Any]

PROBES = """\
probe p:duet/sys_mount __x64_sys_mount
probe p:duet/sys_umount __x64_sys_umount
probe r64:duet/cleanup_ret __cleanup_mnt
event duet/sys_mount comm ~ "storm-*"
event duet/sys_umount comm ~ "storm-*"
event duet/cleanup_ret comm ~ "storm-*"
event sched/sched_switch prev_comm ~ "storm*" || next_comm ~ "storm*"
event sched/sched_waking comm ~ "storm*"
"""
SRCU = """\
probe p:duet/srcu_call __synchronize_srcu ssp=%di:x64 norm=%si:u8
event duet/srcu_call
event rcu/srcu_gp_state
"""
FEW = 'probe p:duet/m __x64_sys_mount\nevent duet/m comm ~ "storm-*"\n'
DEAF_S = 120
MARKERS = 4  # duet: start, storm: start, storm: end, duet: end


def plan(body: str, run: str = "storm --hogs 3 --seconds 0.5") -> str:
    return f"plan 1\n{body}run {run}\n"


def storm_line(outcome: Outcome) -> dict[str, float]:
    found = re.search(r"^storm: (.*)$", outcome.text, re.MULTILINE)
    assert found, outcome.text
    return {key: float(value) for key, value in re.findall(r"(\w+)=([\d.]+)", found[1])}


def accounted(outcome: Outcome) -> None:
    """Every event that the kernel says was read has arrived and decodes."""
    assert outcome.stats is not None and outcome.stats.final
    assert all(cpu.commit_overrun == 0 for cpu in outcome.stats.cpus)
    assert sum(outcome.counts().values()) == outcome.read
    sent = [cpu.bytes_sent for cpu in outcome.beats[-1][1].cpus]
    assert [len(outcome.pages.get(cpu, b"")) for cpu in range(len(sent))] == sent
    assert all(count % 4096 == 0 for count in sent)


@pytest.mark.alone
@pytest.mark.parametrize("arm", load("02-grace-periods").usual_arms)
def test_every_arm_streams_all_its_events(run_async: Run, boot: Boot, arm: str) -> None:
    async def scenario() -> None:
        async with boot(arm) as driver:
            outcome = await driver.run(plan(PROBES + (SRCU if "srcu" in arm else "")))
        assert driver.hello is not None
        facts = driver.hello.facts
        assert facts["agent"] == "1" and facts["trace_clock"] == "[mono]"
        assert facts["clocksource"] in ("tsc", "tsc-early", "kvm-clock")
        accounted(outcome)
        assert outcome.overrun == outcome.left == 0
        assert outcome.stats is not None and outcome.stats.kprobe_missed == 0
        umounts = storm_line(outcome)["umounts"]
        counts = outcome.counts()
        assert umounts > 10
        assert counts["duet/sys_umount"] == counts["duet/sys_mount"] == umounts
        assert counts["duet/cleanup_ret"] >= umounts
        assert counts["ftrace/print"] == MARKERS
        if arm in ("srcu", "srcu-expedited"):
            assert counts["duet/srcu_call"] >= umounts
        if arm == "srcu-delayed":  # no umount waits for its grace period, and there are some
            assert counts["duet/srcu_call"] < umounts / 2
        if "srcu" in arm:
            assert counts["rcu/srcu_gp_state"] > 0
        assert outcome.ended is not None and outcome.ended.status == 0
        assert outcome.started is not None and outcome.drained is not None
        assert outcome.started.mono_ns < outcome.ended.mono_ns < outcome.drained.mono_ns

    run_async(scenario())


def test_a_beat_never_promises_too_much(run_async: Run, boot: Boot) -> None:
    """No event older than a BEAT's empty_at_ns lies behind that BEAT's bytes_sent."""

    async def scenario() -> None:
        async with boot("srcu-expedited", vcpus=4) as driver:
            outcome = await driver.run(plan(PROBES + SRCU, "storm --hogs 6 --seconds 1"))
        assert len(outcome.beats) > 10
        for cpu in range(4):
            times = outcome.times(cpu)
            for _, beat in outcome.beats:
                promise = beat.cpus[cpu]
                assert promise.empty_at_ns <= beat.mono_ns
                late = [
                    ts for end, ts in times
                    if end > promise.bytes_sent and ts < promise.empty_at_ns
                ]  # fmt: skip
                assert not late

    run_async(scenario())


@pytest.mark.alone
def test_events_reach_the_host_quickly(shared: SharedGuests) -> None:
    """Guest and host clocks are joined at the quickest BEAT, so this is a lower bound."""

    async def scenario() -> None:
        async with shared.boot() as driver:
            outcome = await driver.run(plan(PROBES, "storm --hogs 3 --seconds 1"))
        offset = min(host - beat.mono_ns for host, beat in outcome.beats)
        waits = []
        for cpu in (0, 1):
            arrivals = outcome.arrivals.get(cpu, [])
            for end, ts in outcome.times(cpu):
                host = next(at for upto, at in arrivals if upto >= end)
                waits.append(host - offset - ts)
        waits.sort()
        assert waits[len(waits) * 95 // 100] < 200e6

    shared.run(scenario())


@pytest.mark.alone
def test_a_second_of_the_guest_is_a_second(shared: SharedGuests) -> None:
    """A wrong calibration of its TSC is off by a tenth and more; a late BEAT by milliseconds."""

    async def scenario() -> None:
        async with shared.boot() as driver:
            outcome = await driver.run(plan(PROBES, "storm --hogs 3 --seconds 2"))
        (first_host, first), (last_host, last) = outcome.beats[0], outcome.beats[-1]
        assert last_host - first_host > 1_000_000_000
        rate = (last.mono_ns - first.mono_ns) / (last_host - first_host)
        assert rate == pytest.approx(1, abs=0.05)

    shared.run(scenario())


@pytest.mark.alone
def test_a_small_buffer_that_is_drained_live_loses_nothing(shared: SharedGuests) -> None:
    async def scenario() -> None:
        async with shared.boot("rwsem", vcpus=1) as driver:
            run = "storm --hogs 1 --ops 2000"
            outcome = await driver.run(plan(f"buffer_kb 64\n{FEW}", run))
        accounted(outcome)
        assert outcome.overrun == outcome.dropped == outcome.left == 0
        assert outcome.read == 2000 + MARKERS

    shared.run(scenario())


def test_a_buffer_kept_to_the_end_drops_the_newest_and_counts_them(shared: SharedGuests) -> None:
    async def scenario() -> None:
        async with shared.boot("rwsem", vcpus=1) as driver:
            run = "storm --hogs 1 --ops 2000"
            outcome = await driver.run(plan(f"buffer_kb 4\ndrain end\n{FEW}", run))
        assert storm_line(outcome)["umounts"] == 2000
        accounted(outcome)
        assert outcome.dropped > 0 and outcome.overrun == outcome.left == 0
        assert outcome.read + outcome.dropped == 2000 + MARKERS
        assert outcome.counts()["ftrace/print"] == 2, "the start stays, the end is lost"

    shared.run(scenario())


@pytest.mark.alone
def test_a_forced_overrun_is_counted_exactly(
    shared: SharedGuests, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody reads for a while: read, overwritten and left are together what happened."""
    ops = 60_000  # QEMU 10 and its sockets hold 20,000 events

    async def scenario() -> None:
        monkeypatch.setattr(ports_module, "QUEUE_BYTES", 16384)
        async with shared.boot("rwsem", vcpus=1) as driver:
            run = f"storm --hogs 1 --ops {ops}"
            outcome = await driver.plan(plan(f"buffer_kb 4\n{FEW}", run))
            await driver.guest.send(pack_frame(FrameType.START))
            assert await _deaf(driver)
            await driver.until(outcome, Drained)
            await driver.rest(outcome)
        assert storm_line(outcome)["umounts"] == ops
        accounted(outcome)
        assert outcome.overrun > 0 and outcome.dropped == 0
        assert outcome.read + outcome.overrun + outcome.left == ops + MARKERS

    shared.run(scenario())


def test_a_host_that_does_not_read_costs_events_but_no_guest(
    shared: SharedGuests, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The host's queue fills, QEMU throttles the port, and the loss is the kernel's to count."""

    async def scenario() -> None:
        monkeypatch.setattr(ports_module, "QUEUE_BYTES", 65536)
        async with shared.boot("rwsem", vcpus=1) as driver:
            body = f"buffer_kb 16\n{FEW}event sched/sched_switch\nevent raw_syscalls/sys_enter\n"
            outcome = await driver.plan(plan(body, "storm --hogs 2 --ops 12000"))
            assert outcome.error is None, outcome.error
            await driver.guest.send(pack_frame(FrameType.START))
            held = await _deaf(driver)
            await driver.until(outcome, Drained)
            await driver.rest(outcome)
        assert held
        assert storm_line(outcome)["umounts"] == 12000
        accounted(outcome)
        assert outcome.overrun > 0

    shared.run(scenario())


async def _deaf(driver: Driver) -> bool:
    """Read nothing until the kernel has counted a loss; whether the trace port was held back.

    Sockets between guest and host hold thousands of events: how long they last is up to the host.
    What the agent reports is looked at where it waits to be read.
    """
    ports = driver.guest._machine.ports  # type: ignore[attr-defined]
    reader, looked_at = copy.deepcopy(driver._reader), 0
    for _ in range(DEAF_S * 20):
        await asyncio.sleep(0.05)
        came = list(ports._queue)[looked_at:]
        looked_at += len(came)
        control = [chunk.payload for chunk in came if chunk.stream == CTL_STREAM]
        frames = [decode_frame(raw) for payload in control for raw in reader.feed(payload)]
        stats = [frame for frame in frames if isinstance(frame, Stats)]
        if any(cpu.overrun for one in stats for cpu in one.cpus):
            return bool(ports._paused)
    return False


def test_a_probe_that_does_not_resolve_is_named_and_the_guest_lives_on(
    shared: SharedGuests,
) -> None:
    async def scenario() -> None:
        async with shared.boot() as driver:
            failed = await driver.plan(plan("probe p:duet/ghost no_such_function\n"))
            assert failed.error is not None
            assert "duet/ghost" in failed.error.sentence
            assert "6.1" in failed.error.sentence
            assert "System.map" in failed.error.remedy
            failed = await driver.plan(plan("probe p:duet/closed do_int3\n"))
            assert failed.error is not None
            reported = agent_trouble(failed.error, driver.guest.console_tail())
            assert "Invalid argument; the kernel says: " in reported.sentence, reported.sentence
            assert "forbids probes there" in reported.remedy
            # lib/ is built notrace; functions there can be probed all the same.
            library = "probe p:duet/batch percpu_counter_add_batch\nevent duet/batch\n"
            good = await driver.run(plan(PROBES + library))
            accounted(good)
            assert good.counts()["duet/batch"] > 0

    shared.run(scenario())


BAD_PLANS = {
    "nonsense 1\n": "Plan line 2: unknown directive `nonsense`.",
    "event sched/no_such_event\n": "sched/no_such_event",
    "event sched/sched_switch ghost_field == 1\n": "ghost_field",
    "write /proc/sys/no/such 1\n": "/proc/sys/no/such",
}


def test_a_bad_plan_gets_a_sentence_and_the_guest_takes_the_next(shared: SharedGuests) -> None:
    async def scenario() -> None:
        async with shared.boot() as driver:
            for body, word in BAD_PLANS.items():
                outcome = await driver.plan(plan(body))
                assert outcome.error is not None, body
                assert word in outcome.error.sentence
                assert outcome.error.remedy
            accounted(await driver.run(plan(PROBES)))

    shared.run(scenario())


def test_a_program_that_is_not_there_is_reported(shared: SharedGuests) -> None:
    async def scenario() -> None:
        async with shared.boot() as driver:
            outcome = await driver.run(plan(PROBES, "no-such-program"))
            assert outcome.error is not None
            assert "`no-such-program` could not be started" in outcome.error.sentence

    shared.run(scenario())


def test_stop_and_deadline_end_the_workload(shared: SharedGuests) -> None:
    async def scenario() -> None:
        async with shared.boot() as driver:
            outcome = await driver.plan(plan(PROBES, "storm --hogs 2 --seconds 60"))
            await driver.guest.send(pack_frame(FrameType.START))
            await driver.until(outcome, Stats)  # the first comes after half a second
            await driver.guest.send(pack_frame(FrameType.STOP))
            await driver.until(outcome, Drained)
            await driver.rest(outcome)
            assert outcome.ended is not None and outcome.ended.status == 0
            assert storm_line(outcome)["seconds"] < 30
            accounted(outcome)

            body = f"deadline_ms 300\n{PROBES}"
            late = await driver.run(plan(body, "sh -c trap${IFS}''${IFS}TERM;sleep${IFS}60"))
            assert late.ended is not None and late.ended.status != 0
            assert "deadline has passed" in late.text

    shared.run(scenario())


def test_many_plans_run_on_one_boot_each_from_zero(shared: SharedGuests) -> None:
    async def scenario() -> None:
        async with shared.boot("srcu") as driver:
            for body in (PROBES + SRCU, PROBES, "trace off\n", SRCU):
                outcome = await driver.run(plan(body))
                assert storm_line(outcome)["errors"] == 0
                if body.startswith("trace"):
                    assert not outcome.pages and outcome.stats is None
                else:
                    accounted(outcome)
                    assert outcome.overrun == 0
                    assert set(outcome.counts()) - {"ftrace/print"} <= {
                        line.split()[1] for line in body.splitlines() if line[:5] == "event"
                    }

    shared.run(scenario())


def test_stress_ng_reports_in_its_own_words(shared: SharedGuests) -> None:
    async def scenario() -> None:
        async with shared.boot("rwsem") as driver:
            run = "stress-ng --timeout 1 --times --verify --metrics-brief --ramfs 2"
            outcome = await driver.run(plan("trace off\n", run))
        assert outcome.ended is not None and outcome.ended.status == 0, outcome.text
        assert re.search(r"\bramfs\s+\d+\s+[\d.]+", outcome.text), outcome.text

    shared.run(scenario())


def test_a_reclaimer_stands_inside_shrink_slab(shared: SharedGuests) -> None:
    async def scenario() -> None:
        body = (
            "probe p:duet/shrink shrink_slab\nprobe r64:duet/shrink_ret shrink_slab\n"
            'event duet/shrink comm == "storm-reclaim"\n'
            'event duet/shrink_ret comm == "storm-reclaim"\n'
        )
        async with shared.boot("srcu") as driver:
            run = "storm --hogs 2 --seconds 1 --reclaim-ms 20"
            outcome = await driver.run(plan(body, run))
        counts = outcome.counts()
        assert counts["duet/shrink"] == counts["duet/shrink_ret"] > 10
        assert re.search(r"storm-reclaim: drops=\d\d", outcome.text)

    shared.run(scenario())


@pytest.mark.parametrize("traced", [True, False])
def test_count_clock_runs_are_equal_to_the_instruction(
    run_async: Run, boot: Boot, traced: bool
) -> None:
    """Same seed: same events at the same guest nanosecond, traced or not, on a busy host."""

    async def once(seed: int) -> Outcome:
        body = "autostart\n" + (f"drain end\n{PROBES}{SRCU}" if traced else "trace off\n")
        text = plan(body, "storm --hogs 9 --seconds 0.5")
        async with boot(clock="count", icount_shift=3, boot_plan=text, seed=seed) as driver:
            return await driver.whole_boot_plan()

    async def scenario() -> None:
        first, again, other = [await once(seed) for seed in (1, 1, 2)]
        assert first.text == again.text
        assert first.ended is not None and first.ended == again.ended
        assert first.started == again.started
        ops = [storm_line(outcome)["umounts"] for outcome in (first, other)]
        assert ops[1] == pytest.approx(ops[0], rel=0.2)
        if traced:
            assert first.read == again.read > 0
            assert first.times(0) == again.times(0)
            accounted(first)

    run_async(scenario())


def test_a_killed_qemu_is_reported_by_its_signal(run_async: Run, boot: Boot) -> None:
    async def scenario() -> None:
        async with boot() as driver:
            outcome = await driver.plan(plan(PROBES, "storm --hogs 1 --seconds 60"))
            await driver.guest.send(pack_frame(FrameType.START))
            await driver.until(outcome, Started)
            os.kill(driver.guest.facts.pid, 9)
            with pytest.raises(InfraError, match="lane srcu was killed by SIGKILL"):
                await driver.until(outcome, Drained)

    run_async(scenario())


def test_a_kernel_without_init_panics_and_says_so(
    run_async: Run, spec_of: Callable[..., GuestSpec]
) -> None:
    async def scenario() -> None:
        spec = replace(spec_of("rwsem"), cmdline=("rdinit=/nowhere", "init=/nowhere"))
        with pytest.raises(KernelError) as caught:
            async with open_guest("qemu", spec):
                pass
        assert "lane rwsem panicked" in caught.value.sentence
        assert "Kernel panic" in caught.value.detail

    run_async(scenario())


def test_a_guest_whose_host_hangs_up_powers_off(run_async: Run, boot: Boot) -> None:
    async def scenario() -> None:
        async with boot() as driver:
            await driver.plan(plan(PROBES))
            machine = driver.guest._machine  # type: ignore[attr-defined]
            for port in list(machine.ports._ports.values()):
                port.transport.abort()
            await asyncio.wait_for(machine.wait_end(), 150)

    run_async(scenario())


def test_shutdown_is_a_clean_end(run_async: Run, boot: Boot) -> None:
    async def scenario() -> None:
        async with boot() as driver:
            await driver.plan(plan(PROBES))
            await driver.guest.send(pack_frame(FrameType.SHUTDOWN))
            await driver.whole_boot_plan()

    run_async(scenario())


def test_the_chosen_accelerator_really_boots(
    run_async: Run, boot: Boot, monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    """The probe of KVM with the kernel at hand, whatever this host offers."""

    async def scenario() -> None:
        async with boot("rwsem", policy="auto") as driver:
            assert driver.guest.facts.accel in (Accel.KVM, Accel.TCG)
            accounted(await driver.run(plan(PROBES)))

    monkeypatch.setenv("DUET_CACHE", str(tmp_path))
    run_async(scenario())
