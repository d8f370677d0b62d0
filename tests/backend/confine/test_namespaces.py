# SPDX-License-Identifier: GPL-2.0-or-later
"""A program in namespaces of its own sees its folder, its own processes and nothing else."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import time
from contextlib import AsyncExitStack
from pathlib import Path

import psutil
import pytest

from duet.confine import namespaces
from duet.confine.control_groups import Budget, Group
from duet.confine.namespaces import missing_namespaces, namespace_prefix, outside_system
from duet.confine.sandbox import Identity, Limits, prefix
from duet.guests.enclosure import Enclosure
from duet.guests.machine import Console
from duet.guests.types import Accel
from duet.processes.owned import OwnedProcess

WAIT_S = 60.0
APART = pytest.mark.skipif(bool(missing_namespaces()), reason=missing_namespaces() or "none")
LOOK = """
echo files $(ls /) and $(ls /etc)
echo pid $$
echo interfaces $(tail -n +3 /proc/net/dev | cut -d: -f1)
echo environment $(env | cut -d= -f1 | sort)
for path in /usr/written /written /etc/written /dev/written; do
  (: >$path) 2>/dev/null && echo wrote $path
done
: >made && : >/tmp/made && echo wrote its own
cat shown; cat /etc/hostname /root/.profile 2>/dev/null
true
"""


def looked(folder: Path, readable: list[Path]) -> str:
    """What a shell sees that is confined as a QEMU is."""
    with Identity() as identity:
        if identity.uid is not None:
            os.chown(folder, identity.uid, identity.uid)
        words = namespace_prefix(folder, readable=readable)
        words += prefix(Limits(), uid=identity.uid, network=True)
        done = subprocess.run(
            [*words, "sh", "-c", LOOK], capture_output=True, text=True, timeout=WAIT_S, check=True
        )
    return done.stdout


@APART
def test_a_program_sees_its_folder_and_what_it_is_shown(tmp_path: Path) -> None:
    folder, other = tmp_path / "run", tmp_path / "other"
    folder.mkdir()
    other.write_text("something shown\n")
    (folder / "shown").symlink_to(other)
    other.chmod(0o644)
    lines = looked(folder, [other]).splitlines()
    seen = dict(line.split(" ", 1) for line in lines[:4])
    names, _, settings = seen["files"].partition(" and ")
    assert not {"root", "home", "var", "boot", "opt", "run"} & set(names.split())
    assert set(settings.split()) <= {"alternatives", "ld.so.cache"}
    assert seen["pid"] == "1"
    assert seen["interfaces"] == "lo"
    assert set(seen["environment"].split()) <= {"PATH", "PWD", "OLDPWD", "SHLVL", "_"}
    assert lines[4:] == ["wrote its own", "something shown"]
    assert (folder / "made").exists()


OWNER = """
import asyncio, sys
from contextlib import AsyncExitStack
from pathlib import Path
from duet.guests.machine import Console
from duet.guests.enclosure import Enclosure
from duet.guests.types import Accel
from duet.processes.owned import OwnedProcess
from duet.confine.sandbox import Identity, Limits

async def main():
    async with AsyncExitStack() as stack:
        enclosure = Enclosure(stack, "KILL")
        user = (stack.enter_context(Identity()).uid, ())
        folder = Path(sys.argv[1])
        words = enclosure.wrap(["sleep", "600"], folder, Limits(), Accel.TCG, [], user)
        quiet = Console()
        process = OwnedProcess(
            words, before=enclosure.before, console=quiet, errors=quiet, on_exit=lambda: None
        )
        await stack.enter_async_context(process)
        while not enclosure.pid(process.pid):
            await asyncio.sleep(0.01)
        print(enclosure.pid(process.pid), flush=True)
        await asyncio.sleep(600)

asyncio.run(main())
"""


@APART
def test_a_program_ends_with_its_killed_owner_and_its_process_id_is_known(tmp_path: Path) -> None:
    """Its user is another one, to which not every process may send a signal."""
    words = [sys.executable, "-c", OWNER, str(tmp_path)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as owner:
        assert owner.stdout is not None
        program = psutil.Process(int(owner.stdout.readline()))
        until = time.monotonic() + WAIT_S
        while program.name() != "sleep" and time.monotonic() < until:
            time.sleep(0.01)
        assert program.uids().real != 0
        owner.kill()
    psutil.wait_procs([program], timeout=WAIT_S)
    assert not program.is_running()


def test_without_bubblewrap_the_reason_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    missing_namespaces.cache_clear()
    with monkeypatch.context() as patched:
        patched.setattr(namespaces.shutil, "which", lambda name: None)
        assert missing_namespaces() == "the package bubblewrap is not installed"
    missing_namespaces.cache_clear()


def test_a_program_of_another_folder_is_shown(tmp_path: Path) -> None:
    program = tmp_path / "qemu" / "bin" / "qemu-own"
    program.parent.mkdir(parents=True)
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    assert outside_system(str(program)) == [tmp_path / "qemu"]
    assert outside_system("sh") == []


def test_a_lane_that_uses_up_its_memory_is_ended_and_that_is_known(tmp_path: Path) -> None:
    with Group(Budget(1 << 30, 64)) as group:
        if group.missing:
            pytest.skip(group.missing[0])
    hog = "import time; held = bytearray(400 << 20); print('held', flush=True); time.sleep(600)"

    async def ended(memory_bytes: int) -> tuple[bool, str]:
        async with AsyncExitStack() as stack:
            enclosure = Enclosure(stack, "KILL")
            enclosure.join(Budget(memory_bytes, 64, 30))
            user = (stack.enter_context(Identity()).uid, ())
            words = enclosure.wrap(
                ["/usr/bin/python3", "-c", hog], tmp_path, Limits(), Accel.TCG, [], user
            )
            console, gone = Console(), asyncio.Event()
            process = OwnedProcess(
                words, before=enclosure.before, console=console, errors=console,
                on_exit=gone.set, joins=enclosure.joins,
            )  # fmt: skip
            await stack.enter_async_context(process)
            async with asyncio.timeout(WAIT_S):
                while not gone.is_set() and "held" not in console.tail():  # noqa: ASYNC110
                    await asyncio.sleep(0.02)
            folders = [Path(name).parent for name in enclosure.joins]
            weights = [folder / name for folder in folders for name in ("cpu.shares", "cpu.weight")]
            assert [path.read_text() for path in weights if path.exists()] in (["307\n"], ["30\n"])
            used_up, said = enclosure.used_up(), console.tail()
        assert not any(folder.exists() for folder in folders)
        return used_up, said

    assert asyncio.run(ended(2 << 30)) == (False, "held\n")
    used_up, said = asyncio.run(ended(128 << 20))
    assert used_up and "held" not in said
