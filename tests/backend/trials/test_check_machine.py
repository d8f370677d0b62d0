# SPDX-License-Identifier: GPL-2.0-or-later
"""A stranger's kernel under stress has the enclosure of a lane, and a console with an end."""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

from duet.base.budgets import QEMU_BEYOND_GUEST_BYTES
from duet.base.errors import InfraError
from duet.confine.control_groups import Budget, Group
from duet.confine.namespaces import missing_namespaces
from duet.confine.sandbox import can_change_user
from duet.guests.qemu import SANDBOX
from duet.guests.types import GuestSpec
from duet.processes.run_dir import OWNER, live_folders, passable_base
from duet.trials.check import machine as machine_module
from duet.trials.check.console import judge
from duet.trials.check.machine import MEMORY_MB, StressMachine, WholeConsole, boot
from tests.support.confined_guests import rights
from tests.support.tiny_kernel import tiny_kernel

WAIT_S = 120.0
PROGRAM = "#!/bin/sh\n"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    path = tmp_path / "root.cpio"
    path.write_bytes(b"root")
    return path


def qemus() -> list[psutil.Process]:
    """Of this process, however deep."""
    found = psutil.Process().children(recursive=True)
    return [
        child for child in found if child.name().startswith("qemu") and child.status() != "zombie"
    ]


def own_folders() -> set[Path]:
    """Private directories that this process made; other processes run tests at the same time."""
    found = set()
    for folder in live_folders(passable_base()):
        with contextlib.suppress(FileNotFoundError):
            if (folder / OWNER).read_text().startswith(f"{os.getpid()} "):
                found.add(folder)
    return found


@contextmanager
def booted(
    kernel: Path, root: Path, patched: pytest.MonkeyPatch
) -> Iterator[tuple[psutil.Process, list[str]]]:
    """QEMU of a guest that said hello and stays, and a list that has its console afterwards."""
    stop, said, console = threading.Event(), list[str](), WholeConsole()
    patched.setattr(machine_module, "WholeConsole", lambda: console)
    with ThreadPoolExecutor(1) as pool:
        run = pool.submit(boot, kernel, root, PROGRAM, seconds=60, stop=stop)
        try:
            until = time.monotonic() + WAIT_S
            while not (found := qemus()) and not run.done() and time.monotonic() < until:
                time.sleep(0.02)
            assert found, run.exception(0) if run.done() else "it does not begin"
            until = time.monotonic() + WAIT_S
            while "hello" not in console.text() and time.monotonic() < until:
                time.sleep(0.02)
            yield found[0], said
        finally:
            stop.set()
            said.append(run.result(WAIT_S))


def test_its_qemu_has_a_lanes_enclosure(
    tmp_path: Path, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = own_folders()
    with Group(Budget(1 << 30, 64)) as group:
        groups = not group.missing
    with booted(tiny_kernel(tmp_path, "stays"), root, monkeypatch) as (qemu, said):
        its = rights(qemu.pid)
        assert its.no_new_privs == "1" and its.seccomp == "2"
        assert int(its.memory) == (MEMORY_MB << 20) + QEMU_BEYOND_GUEST_BYTES
        if can_change_user():
            assert its.caps == {0} and len(its.ids) == 1
            assert its.ids.isdisjoint({0, os.getuid(), os.getgid()})
        if not missing_namespaces():
            for kind in ("mnt", "pid", "net", "ipc", "uts"):
                theirs, ours = (Path(f"/proc/{w}/ns/{kind}").readlink() for w in (qemu.pid, "self"))
                assert theirs != ours, kind
            seen = {path.name for path in Path(f"/proc/{qemu.pid}/root").iterdir()}
            assert seen.isdisjoint({"root", "home", "var", "boot"})
        if groups:
            assert "/duet-lane-" in Path(f"/proc/{qemu.pid}/cgroup").read_text()
        (folder,) = own_folders() - before
        until = time.monotonic() + WAIT_S
        while can_change_user() and folder.stat().st_mode & 0o020 and time.monotonic() < until:
            time.sleep(0.1)
        assert not folder.stat().st_mode & 0o020, "the guest writes, so its folder is sealed"
        assert SANDBOX in qemu.cmdline()
    assert "hello" in said[0]
    assert not qemus() and not folder.exists()


def test_a_guest_that_ends_gives_its_console(tmp_path: Path, root: Path) -> None:
    assert boot(tiny_kernel(tmp_path, "ends"), root, PROGRAM, seconds=60).split() == ["hello"]


def test_a_guest_that_writes_without_end_is_ended_and_has_failed(
    tmp_path: Path, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(machine_module, "WholeConsole", lambda: WholeConsole(5000, 100))
    began = time.monotonic()
    said = boot(tiny_kernel(tmp_path, "floods", "x" * 200 + "\\n"), root, PROGRAM, seconds=600)
    assert time.monotonic() - began < WAIT_S
    lines = said.splitlines()
    assert lines[-1] == (
        "stress: failed: the guest wrote more than 5,000 bytes to its console, and was killed"
    )
    assert set(lines[:-2]) == {"x" * 100} and len(said) < 5200
    verdict = judge(said)
    assert not verdict.clean and verdict.failures == (lines[-1],)
    assert not qemus()


def test_a_console_takes_no_more_than_it_may() -> None:
    console = WholeConsole(1 << 20, 1024)
    for _ in range(40):
        console.feed(b"y" * 100_000)
    assert console.full
    assert len(console.text()) < 1024 + 200
    small = WholeConsole(10)
    small.feed(b"0123456789")
    assert not small.full and small.text() == "0123456789"
    small.feed(b"\n")
    assert small.full


def test_a_kernel_that_qemu_does_not_take_is_reported(tmp_path: Path, root: Path) -> None:
    (tmp_path / "none").write_bytes(b"none")
    with pytest.raises(InfraError, match="QEMU ended with exit code 1") as caught:
        boot(tmp_path / "none", root, PROGRAM, seconds=60)
    assert "none" in caught.value.detail or "kernel" in caught.value.detail


def test_without_qemu_the_remedy_names_it(
    tmp_path: Path, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(InfraError, match="qemu-system-x86_64 is not installed"):
        boot(tmp_path / "none", root, PROGRAM, seconds=60)


def test_the_command_line_is_a_stress_guests(tmp_path: Path, root: Path) -> None:
    spec = GuestSpec("stress", tmp_path / "bzImage", None, cmdline=("a=1",), disks_mib=(8,))
    machine = StressMachine(spec, root, PROGRAM)
    line = " ".join(machine.argv(tmp_path, {}))
    assert f"-sandbox {SANDBOX}" in line and "-append a=1 -serial stdio" in line
    assert "-smp 2 -accel tcg,thread=multi -cpu max" in line and "-initrd initrd" in line
    assert "-qmp" not in line and "-netdev" not in line
    assert (tmp_path / "initrd").read_bytes().startswith(b"root070701")
    assert machine.confines and machine.folder_base == passable_base()
