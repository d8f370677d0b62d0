# SPDX-License-Identifier: GPL-2.0-or-later
"""Processes and directories of guests: nothing outlives its owner."""

from __future__ import annotations

import asyncio
import json
import os
import resource
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from duet.base.errors import InfraError
from duet.confine.sandbox import FIRST_ID, can_change_user
from duet.guests.machine import Console
from duet.guests.qemu import QEMU, QemuGuest, QemuMachine, qemu_version
from duet.guests.types import Accel, GuestSpec
from duet.processes.owned import OwnedProcess, find_program
from duet.processes.run_dir import RunDir, sweep

Run = Callable[..., object]

OWNER = """
import asyncio, json, sys
from duet.guests.machine import Console
from duet.processes.owned import OwnedProcess
from duet.processes.run_dir import RunDir
async def main():
    with RunDir() as folder:
        process = OwnedProcess(json.loads(sys.argv[1]), console=Console(), errors=Console(),
                               on_exit=lambda: None, death_signal=sys.argv[2])
        async with process:
            print(process.pid, folder, flush=True)
            await asyncio.sleep(60)
asyncio.run(main())
"""
QEMU_WORDS = [QEMU, "-nodefaults", "-display", "none", "-M", "q35", "-accel", "tcg", "-S"]


def gone(pid: int, within_s: float) -> bool:
    end = time.monotonic() + within_s
    while time.monotonic() < end:
        try:
            if psutil.Process(pid).status() == psutil.STATUS_ZOMBIE:
                return True
        except psutil.NoSuchProcess:
            return True
        time.sleep(0.02)
    return False


def start_owner(
    words: list[str], death_signal: str, base: Path, **env: str
) -> tuple[subprocess.Popen[str], int, Path]:
    """An owner, the pid of its process, and the private directory."""
    owner = subprocess.Popen(
        [sys.executable, "-c", OWNER, json.dumps(words), death_signal],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "XDG_RUNTIME_DIR": str(base), **env},
    )
    assert owner.stdout is not None
    with owner.stdout:
        pid, folder = owner.stdout.readline().split()
    return owner, int(pid), Path(folder)


@pytest.fixture
def short_base() -> Path:
    """A runtime directory with a short path."""
    base = Path(f"/tmp/duet-t{os.getpid()}")
    base.mkdir(exist_ok=True)
    yield base  # type: ignore[misc]
    subprocess.run(["rm", "-rf", str(base)], check=True)


def test_no_qemu_outlives_an_owner_killed_by_sigkill(short_base: Path) -> None:
    owner, qemu, folder = start_owner(QEMU_WORDS, "KILL", short_base)
    assert psutil.Process(qemu).is_running()
    owner.kill()
    owner.wait()
    assert gone(qemu, within_s=120)
    # The directory that it left goes at the next start.
    assert folder.exists()
    with RunDir(short_base / "kernel-duet") as mine:
        assert not folder.exists()
        assert mine.exists()


def test_no_process_starts_whose_owner_died_before_the_kernel_was_asked(
    short_base: Path, tmp_path: Path
) -> None:
    """setpriv comes late, as on a loaded machine: the owner is dead before it asks."""
    late = tmp_path / "setpriv"
    late.write_text(f'#!/bin/sh\nsleep 1\nexec {shutil.which("setpriv")} "$@"\n')
    late.chmod(0o755)
    path = f"{tmp_path}:{os.environ['PATH']}"
    owner, pid, _ = start_owner(["sleep", "63"], "KILL", short_base, PATH=path)
    owner.kill()
    owner.wait()
    assert gone(pid, within_s=120)


def test_no_grandchild_outlives_an_owner_killed_by_sigkill(short_base: Path) -> None:
    """The reaper of a launcher ends what the launcher started, in another session too."""
    shell = f"setsid sleep 61 & echo $! > {short_base}/pid; wait; sleep 62"
    words = [sys.executable, "-m", "duet.processes.reaper", "sh", "-c", shell]
    owner, reaper_pid, _ = start_owner(words, "TERM", short_base)
    pid_file = short_base / "pid"
    end = time.monotonic() + 120
    while not (pid_file.exists() and pid_file.read_text().strip()):
        assert time.monotonic() < end
        time.sleep(0.02)
    grandchild = int(pid_file.read_text())
    assert psutil.Process(grandchild).is_running()
    owner.kill()
    owner.wait()
    assert gone(reaper_pid, within_s=120)
    assert gone(grandchild, within_s=120)


def test_directories_of_live_owners_stay_and_others_go(tmp_path: Path) -> None:
    with RunDir(tmp_path) as mine:
        ghost = subprocess.Popen(["true"])
        ghost.wait()
        for name, owner in (
            ("g-dead", f"{ghost.pid} 1.0"),
            ("g-reused", f"{os.getpid()} 1.0"),  # our pid, but another process's start
            ("g-broken", "no numbers"),
        ):
            (tmp_path / name).mkdir()
            (tmp_path / name / "owner").write_text(owner)
        (tmp_path / "g-empty").mkdir()
        removed = {path.name for path in sweep(tmp_path)}
        assert removed == {"g-dead", "g-reused", "g-broken", "g-empty"}
        assert [path.name for path in tmp_path.iterdir()] == [mine.name]
    assert list(tmp_path.iterdir()) == []


def test_a_runtime_directory_that_cannot_be_made_is_reported(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("")
    with pytest.raises(InfraError, match="no private directory"), RunDir(blocked / "x"):
        pass


def test_a_runtime_directory_of_somebody_else_is_refused(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path)
    with pytest.raises(InfraError, match="belongs to another user"), RunDir(tmp_path / "link"):
        pass


def test_a_missing_program_names_its_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    with pytest.raises(InfraError) as caught:
        find_program("qemu-system-x86_64", "qemu-system-x86")
    assert caught.value.remedy == "Install it: apt-get install qemu-system-x86"


def test_a_guest_without_qemu_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, run_async: Run, tmp_path: Path
) -> None:
    async def scenario() -> None:
        guest = QemuGuest(GuestSpec("srcu", tmp_path / "bzImage", tmp_path / "root.cpio"))
        with pytest.raises(InfraError) as caught:
            async with guest:
                pass
        assert caught.value.sentence == "the program qemu-system-x86_64 is not installed."
        assert "qemu-system-x86" in caught.value.remedy

    monkeypatch.setenv("PATH", str(tmp_path))
    run_async(scenario())


def test_a_guest_without_kernel_says_how_to_build_it(run_async: Run, tmp_path: Path) -> None:
    async def scenario() -> None:
        guest = QemuGuest(GuestSpec("srcu", tmp_path / "bzImage", tmp_path / "root.cpio"))
        with pytest.raises(InfraError, match="kernel of lane srcu is missing"):
            async with guest:
                pass

    run_async(scenario())


def test_the_version_of_qemu_is_known(run_async: Run) -> None:
    assert str(run_async(qemu_version()))[0].isdigit()


ROOT = pytest.mark.skipif(not can_change_user(), reason="only root gives a guest another user")


@ROOT
def test_a_guests_user_adds_sockets_until_the_directory_is_sealed(tmp_path: Path) -> None:
    def as_guest(script: str) -> int:
        words = ["setpriv", "--reuid", str(FIRST_ID), "--regid", str(FIRST_ID), "--clear-groups"]
        done = subprocess.run([*words, "sh", "-c", script], cwd=folder, stderr=subprocess.DEVNULL)
        return done.returncode

    run_dir = RunDir(tmp_path / "base", FIRST_ID)
    with run_dir as folder:
        (folder / "plan").write_text("plan 1")
        run_dir.give_to_guest(folder / "plan")
        assert as_guest("touch qmp.sock && cat plan") == 0
        assert as_guest("echo 1 1.0 > owner") != 0 and as_guest("rm -f owner && test ! -e owner")
        run_dir.seal()
        assert as_guest("touch more") != 0 and as_guest("rm qmp.sock") != 0
        assert as_guest("cat plan qmp.sock") == 0
    assert not folder.exists()


@ROOT
def test_a_link_in_a_guests_directory_is_refused(tmp_path: Path) -> None:
    run_dir = RunDir(tmp_path / "base", FIRST_ID)
    with run_dir as folder:
        (folder / "qmp.sock").symlink_to("/run/other.sock")
        with pytest.raises(InfraError, match="symbolic link"):
            run_dir.seal()


@ROOT
def test_a_guests_user_reads_images_from_folders_that_it_cannot_pass(tmp_path: Path) -> None:
    image = tmp_path / "private" / "bzImage"
    image.parent.mkdir(mode=0o700)
    image.write_text("kernel")
    image.chmod(0o600)
    machine = QemuMachine(GuestSpec("srcu", image, image), Accel.TCG, False)
    assert machine.reach(image) == str(image)
    machine.uid = FIRST_ID
    path = machine.reach(image)
    number = int(path.removeprefix("/proc/self/fd/"))
    words = ["setpriv", "--reuid", str(FIRST_ID), "--regid", str(FIRST_ID), "--clear-groups"]
    read = [subprocess.run([*words, "cat", name], pass_fds=[number], capture_output=True)
            for name in (path, str(image))]  # fmt: skip
    assert [(done.returncode, done.stdout) for done in read] == [(0, b"kernel"), (1, b"")]
    os.close(number)


def test_what_was_left_in_the_making_goes_when_it_is_old(tmp_path: Path) -> None:
    for name, age_s in (("new-old", 120), ("new-young", 1)):
        (tmp_path / name).mkdir()
        os.utime(tmp_path / name, (time.time() - age_s,) * 2)
    assert [path.name for path in sweep(tmp_path)] == ["new-old"]


def test_a_disk_without_room_leaves_no_directory(tmp_path: Path) -> None:
    """A limit of the size of files stands in for the full disk, which only root can make."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, hard))
    try:
        with pytest.raises(InfraError, match="no private directory"):
            RunDir(tmp_path).__enter__()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert not list(tmp_path.iterdir())


def test_cancelled_while_it_starts_it_ends_with_all_its_children(
    run_async: Run, tmp_path: Path
) -> None:
    """asyncio's own clean-up ends the launcher, and waits for ever for what it left behind."""
    mark = tmp_path / "mark"
    launcher = ["sh", "-c", f'sleep 60 & echo $! > "{mark}.new"; mv "{mark}.new" "{mark}"; wait']

    async def start() -> None:
        quiet = Console()
        process = OwnedProcess(launcher, console=quiet, errors=quiet, on_exit=lambda: None)
        async with process:
            await asyncio.sleep(60)

    async def cancelled() -> None:
        others = set(psutil.Process().children())
        starting = asyncio.create_task(start())
        end = time.monotonic() + 20
        while not mark.exists() and time.monotonic() < end:
            if not set(psutil.Process().children()) - others:
                await asyncio.sleep(0)  # until it is started
            else:
                time.sleep(0.01)  # noqa: ASYNC251 - so its pipes are not connected yet
        starting.cancel()
        done, _ = await asyncio.wait([starting], timeout=10)
        assert done, "the cancelled task goes on"
        assert starting.cancelled()

    run_async(cancelled())
    assert gone(int(mark.read_text()), 5)
