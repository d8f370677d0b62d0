# SPDX-License-Identifier: GPL-2.0-or-later
"""KVM is believed only when a guest ran under it, and asked only once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from duet.base.errors import InfraError, InputError
from duet.guests import boot as accel_module
from duet.guests.boot import choose_accel, policy_from_env
from duet.guests.qemu import QemuMachine
from duet.guests.types import Accel, GuestSpec, Microscope
from tests.support.scripted import SPEAK, ScriptedMachine, spec

Run = Callable[..., object]


@pytest.fixture
def host(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A host with its own cache and a KVM device that opens."""
    device = tmp_path / "kvm"
    device.write_text("")
    device.chmod(0o666)
    monkeypatch.setattr(accel_module, "KVM_DEVICE", device)
    monkeypatch.setattr(accel_module, "KVM_PROBE_S", 120.0)  # on a busy host it speaks late
    monkeypatch.setenv("DUET_CACHE", str(tmp_path))
    return device


class Bench:
    """Counts the probes."""

    def __init__(self, script: str) -> None:
        self.script = script
        self.made: list[GuestSpec] = []

    def make(self, wanted: GuestSpec) -> ScriptedMachine:
        self.made.append(wanted)
        machine = ScriptedMachine(wanted, Accel.KVM, False)
        machine.script = self.script
        return machine


def test_a_guest_that_speaks_proves_kvm_once(host: Path, run_async: Run) -> None:
    bench = Bench(SPEAK + "time.sleep(600)")
    for _ in range(3):
        assert run_async(choose_accel("auto", spec(vcpus=4), "7.2", bench.make)) is Accel.KVM
    assert [(s.vcpus, s.memory_mib) for s in bench.made] == [(1, 256)]
    run_async(choose_accel("auto", spec(), "8.0", bench.make))
    assert len(bench.made) == 2, "another QEMU is another question"


def test_a_guest_that_hangs_under_kvm_means_tcg(
    host: Path, run_async: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(accel_module, "KVM_PROBE_S", 1.5)
    bench = Bench("time.sleep(600)")
    for _ in range(2):
        assert run_async(choose_accel("auto", spec(), "7.2", bench.make)) is Accel.TCG
    assert len(bench.made) == 1
    with pytest.raises(InfraError, match="no guest boots under KVM"):
        run_async(choose_accel("kvm", spec(), "7.2", bench.make))


def test_without_device_nothing_is_tried(host: Path, run_async: Run) -> None:
    host.unlink()
    bench = Bench(SPEAK)
    assert run_async(choose_accel("auto", spec(), "7.2", bench.make)) is Accel.TCG
    assert bench.made == []


def test_count_clock_and_policy_tcg_never_ask(host: Path, run_async: Run) -> None:
    bench = Bench(SPEAK)
    counted = spec(clock="count")
    assert run_async(choose_accel("auto", counted, "7.2", bench.make)) is Accel.TCG
    assert run_async(choose_accel("tcg", spec(), "7.2", bench.make)) is Accel.TCG
    assert bench.made == []


def test_a_microscope_means_tcg_also_where_kvm_is_proven(host: Path, run_async: Run) -> None:
    bench = Bench(SPEAK + "time.sleep(600)")
    assert run_async(choose_accel("auto", spec(), "7.2", bench.make)) is Accel.KVM
    seen = spec(microscope=Microscope(Path("/n/a.so"), ""))
    for policy in ("auto", "tcg", "kvm"):
        assert run_async(choose_accel(policy, seen, "7.2", bench.make)) is Accel.TCG
    assert len(bench.made) == 1


def test_a_broken_cache_is_asked_again(host: Path, tmp_path: Path, run_async: Run) -> None:
    kept = tmp_path / "tools" / "kvm-probe.json"
    kept.parent.mkdir()
    kept.write_text("{not json")
    bench = Bench(SPEAK + "time.sleep(600)")
    assert run_async(choose_accel("auto", spec(), "7.2", bench.make)) is Accel.KVM
    assert len(bench.made) == 1


def test_real_qemu_that_cannot_use_the_kernel_means_tcg(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, run_async: Run
) -> None:
    """The whole way with the real QEMU, on whatever KVM this host has."""
    monkeypatch.setenv("DUET_CACHE", str(tmp_path))
    junk = tmp_path / "bzImage"
    junk.write_bytes(bytes(8192))
    wanted = replace(spec(), bzimage=junk, initrd=junk)
    made = run_async(
        choose_accel("auto", wanted, "7.2", lambda s: QemuMachine(s, Accel.KVM, False))
    )
    assert made is Accel.TCG


def test_an_unknown_policy_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DUET_ACCEL", "xen")
    with pytest.raises(InputError, match="`xen`"):
        policy_from_env()
