# SPDX-License-Identifier: GPL-2.0-or-later
"""The command lines of sealed and virtme-ng guests, for both clocks and both accelerators."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from duet.base.errors import InfraError, InputError
from duet.base.native import compiled
from duet.guests.limits import MAX_CPUS
from duet.guests.qemu import (
    SLICE_US,
    SOURCE,
    QemuMachine,
    host_tsc_khz,
    kernel_cmdline,
    online_lines,
    port_args,
)
from duet.guests.types import Accel, GuestSpec, Microscope
from duet.guests.vng import VngGuest, VngMachine

SPEC = GuestSpec("srcu", Path("/k/bzImage"), Path("/k/root.cpio"), cmdline=("a.b=1",))
SOCKETS = {-1: Path("/r/ctl"), 0: Path("/r/c0")}
Run = Callable[..., object]


def words(spec: GuestSpec, accel: Accel, folder: Path) -> str:
    return " ".join(QemuMachine(spec, accel, False).argv(folder, SOCKETS))


def test_wall_clock_uses_a_thread_per_vcpu(tmp_path: Path) -> None:
    line = words(replace(SPEC, vcpus=3, memory_mib=256), Accel.TCG, tmp_path)
    assert "-M q35 -m 256 -smp 3 -accel tcg,thread=multi" in line
    assert "-icount" not in line
    assert "socket,id=duetctl,path=ctl,server=off" in line
    assert "virtserialport,bus=duet.0,chardev=duet0,name=duet.cpu0" in line


def test_count_clock_has_one_vcpu_and_nothing_of_the_host(tmp_path: Path) -> None:
    spec = replace(SPEC, vcpus=4, clock="count", icount_shift=3, seed=7)
    line = words(spec, Accel.TCG, tmp_path)
    assert "-smp 1" in line
    assert "-icount shift=3,sleep=off" in line
    assert "clock=vm -seed 7" in line
    assert "ioeventfd=off" in line
    assert "tsc_early_khz=1000000" in line


def test_vcpus_that_share_the_thread_are_every_second_one(tmp_path: Path) -> None:
    spec = replace(SPEC, clock="count", sharing=4)
    line = words(spec, Accel.TCG, tmp_path)
    assert "-smp 7 " in line
    assert f"filter-buffer,id=turn,netdev=turns,interval={SLICE_US}" in line
    assert {"maxcpus=1", "noreplace-smp"} < set(kernel_cmdline(spec, verbose=False).split())
    assert online_lines(4) == [
        f"write /sys/devices/system/cpu/cpu{cpu}/online 1" for cpu in (2, 4, 6)
    ]
    alone = words(replace(spec, sharing=1), Accel.TCG, tmp_path)
    assert "filter-buffer" not in alone and "maxcpus" not in alone
    assert online_lines(1) == []


def test_kvm_uses_the_hosts_cpu(tmp_path: Path) -> None:
    assert "-accel kvm -cpu host" in words(SPEC, Accel.KVM, tmp_path)


def test_kernel_command_line_says_to_trust_its_clock_and_to_die_loudly() -> None:
    line = kernel_cmdline(SPEC, verbose=False).split()
    assert {"tsc=reliable", "trace_clock=mono", "panic=-1", "oops=panic", "quiet"} < set(line)
    assert line[-1] == "a.b=1"
    assert "quiet" not in kernel_cmdline(SPEC, verbose=True).split()


def test_a_guest_under_tcg_gets_the_hosts_tsc() -> None:
    """A longer look says the same."""
    khz = host_tsc_khz()
    assert khz > 0
    library = ctypes.CDLL(str(compiled(SOURCE)))
    library.duet_tsc_khz.restype = ctypes.c_long
    assert library.duet_tsc_khz(ctypes.c_long(200_000_000)) == pytest.approx(khz, rel=1e-4)
    assert f"tsc_early_khz={khz}" in kernel_cmdline(SPEC, verbose=False).split()
    assert "tsc_early_khz" not in kernel_cmdline(SPEC, False, Accel.KVM)


def test_disks_are_sparse_files_in_the_guests_own_folder(tmp_path: Path) -> None:
    line = words(replace(SPEC, disks_mib=(64, 16)), Accel.TCG, tmp_path)
    assert "id=disk0,file=disk0,format=raw,if=none,cache=unsafe" in line
    assert "virtio-blk-pci,drive=disk1" in line
    assert (tmp_path / "disk0").stat().st_size == 64 << 20
    assert (tmp_path / "disk1").stat().st_blocks == 0


def test_the_count_clock_has_no_disk_of_the_host(tmp_path: Path) -> None:
    spec = replace(SPEC, disks_mib=(64,), clock="count")
    assert "-drive" not in words(spec, Accel.TCG, tmp_path)
    assert not list(tmp_path.iterdir())


def test_a_disk_larger_than_the_hosts_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InfraError, match=r"lane srcu takes up to 1073741824 MiB, but .* free"):
        words(replace(SPEC, disks_mib=(1 << 30,)), Accel.TCG, tmp_path)


def test_boot_plan_goes_by_fw_cfg(tmp_path: Path) -> None:
    line = words(replace(SPEC, boot_plan="plan 1\nrun true\n"), Accel.TCG, tmp_path)
    assert "-fw_cfg name=opt/duet/plan,file=plan" in line
    assert (tmp_path / "plan").read_text() == "plan 1\nrun true\n"


def test_vng_runs_the_agent_by_its_path_on_the_host(tmp_path: Path) -> None:
    machine = VngMachine(SPEC, Accel.TCG, False, Path("/p"))
    argv = machine.argv(tmp_path, SOCKETS)
    assert argv[1:5] == ["-P", "-s", "-m", "duet.processes.reaper"]
    assert "--disable-kvm" in argv
    assert argv[-2:] == ["--", "/p/duet-agent --vng --path /p"]
    assert any("name=duet.ctl" in word for word in argv if word.startswith("--qemu-opts="))
    assert "a.b=1" in argv


def test_a_microscope_is_a_plugin_with_its_files_in_the_run_directory(tmp_path: Path) -> None:
    spec = replace(SPEC, microscope=Microscope(Path("/n/a,b.so"), "microscope 1\n"))
    line = words(spec, Accel.TCG, tmp_path)
    wanted = "file=/n/a,,b.so,socket=scope.sock,functions=functions"
    assert line.endswith(f"-plugin {wanted}")
    assert (tmp_path / "functions").read_text() == "microscope 1\n"
    assert "noreplace-smp" in kernel_cmdline(spec, verbose=False).split()
    assert "noreplace-smp" not in kernel_cmdline(SPEC, verbose=False).split()
    assert "-plugin" not in words(SPEC, Accel.TCG, tmp_path)


def test_eight_vcpus_get_more_ports_and_others_stay_as_they_were() -> None:
    def sockets(cpus: int) -> dict[int, Path]:
        return {cpu: Path(f"/r/{cpu}") for cpu in range(-1, cpus)}

    assert [" ".join(port_args(sockets(n)))[:46] for n in (1, 6)] == [
        "-device virtio-serial-pci,id=duet,max_ports=8 "
    ] * 2
    assert all("max_ports=16" in " ".join(port_args(sockets(n))) for n in (7, 8, 14))
    assert all("max_ports=68" in " ".join(port_args(sockets(n))) for n in (15, MAX_CPUS))


def test_the_microscope_refuses_more_vcpus_than_it_sees(tmp_path: Path) -> None:
    spec = replace(SPEC, microscope=Microscope(Path("/n/a.so"), "microscope 1\n"), vcpus=17)
    with pytest.raises(
        InfraError, match="the microscope supports at most 16 vCPUs, but this guest has 17"
    ):
        words(spec, Accel.TCG, tmp_path)


def test_vng_has_no_microscope(run_async: Run, tmp_path: Path) -> None:
    spec = replace(SPEC, microscope=Microscope(Path("/n/a.so"), ""))

    async def scenario() -> None:
        with pytest.raises(InputError, match="a virtme-ng guest has no microscope"):
            async with VngGuest(spec, tmp_path):
                pass

    run_async(scenario())


def test_vng_has_no_count_clock(run_async: Run, tmp_path: Path) -> None:
    async def scenario() -> None:
        with pytest.raises(InputError, match="no count clock"):
            async with VngGuest(replace(SPEC, clock="count"), tmp_path):
                pass

    run_async(scenario())
