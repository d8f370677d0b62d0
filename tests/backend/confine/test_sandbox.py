# SPDX-License-Identifier: GPL-2.0-or-later
"""A confined process is really refused what its sandbox says, and still computes."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

import pytest

from duet.confine.sandbox import (
    CHILD_ID,
    FIRST_ID,
    Identity,
    Limits,
    can_change_user,
    can_unshare_network,
    prefix,
)

LIMITS = "Limits(memory_bytes=1 << 30, cpu_s=20, files=32)"
ROOT = pytest.mark.skipif(not can_change_user(), reason="only root gives a child another user")
TRY = """
import ctypes, errno, json, mmap, os, signal, socket, sys, threading
import numpy
from duet.confine.sandbox import Limits, enter
from duet.confine.sandbox import Permits
def tried(work):
    try:
        work()
    except OSError as error:
        return errno.errorcode[error.errno]
    except Exception as error:
        return type(error).__name__
    return "done"
libc = ctypes.CDLL(None, use_errno=True)
def ptrace():
    if libc.ptrace(16, os.getppid(), 0, 0) < 0:
        raise OSError(ctypes.get_errno(), "ptrace")
"""


def confined(body: str, permits: str = "Permits()", before: str = "") -> dict[str, object]:
    """What `body` printed as JSON, after it entered the sandbox."""
    enter = f"{before}\nmissing = enter({LIMITS}, {permits})\n"
    done = subprocess.run(
        [sys.executable, "-c", TRY + enter + body],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    answer: dict[str, object] = json.loads(done.stdout)
    return answer


def test_a_confined_child_is_refused_the_world_and_computes() -> None:
    said = confined("""
ran = []
thread = threading.Thread(target=lambda: ran.append(float(numpy.ones(1000).sum())))
thread.start(); thread.join()
print(json.dumps({
  "missing": missing, "ran": ran,
  "socket": tried(lambda: socket.socket()),
  "unix": tried(lambda: socket.socket(socket.AF_UNIX)),
  "pair": tried(lambda: socket.socketpair()),
  "shadow": tried(lambda: open("/etc/shadow").read()),
  "passwd": tried(lambda: open("/etc/passwd").read()),
  "exec": tried(lambda: os.execv("/bin/true", ["true"])),
  "fork": tried(lambda: os.fork()),
  "kill": tried(lambda: os.kill(os.getppid(), 0)),
  "ptrace": tried(ptrace),
  "memory": tried(lambda: bytearray(1 << 31)),
  "unlink": tried(lambda: os.unlink("/tmp/none")),
}))
""")
    if can_change_user():
        assert said.pop("missing") == []
    else:
        assert "only root" in str(said.pop("missing"))
    assert said.pop("ran") == [1000.0]
    assert said.pop("memory") == "MemoryError"
    assert said == dict.fromkeys(said, "EPERM")


def test_reading_and_unix_sockets_are_given_singly() -> None:
    said = confined(
        """
print(json.dumps({
  "socket": tried(lambda: socket.socket()),
  "unix": tried(lambda: socket.socket(socket.AF_UNIX)),
  "shadow": tried(lambda: open("/etc/shadow").read()),
  "passwd": tried(lambda: open("/etc/passwd").read()),
  "write": tried(lambda: open("/tmp/duet-none", "w")),
}))
""",
        "Permits(reads=True, unix=True)",
    )
    assert said == {
        "socket": "EPERM",
        "unix": "done",
        "shadow": "EACCES",
        "passwd": "done",
        "write": "EPERM",
    }


@ROOT
def test_an_own_root_holds_what_is_shown_and_cannot_be_written(tmp_path: Path) -> None:
    folder, file = tmp_path / "guest", tmp_path / "vmlinux"
    folder.mkdir()
    folder.chmod(0o711)
    file.write_text("read me")
    before = f"""
from pathlib import Path
server = socket.socket(socket.AF_UNIX); server.bind("{folder}/qmp.sock"); server.listen()
os.chmod("{folder}/qmp.sock", 0o777)
"""
    said = confined(
        """
client = socket.socket(socket.AF_UNIX)
print(json.dumps({
  "missing": missing,
  "root": sorted(os.listdir("/")),
  "file": open("/vmlinux").read(),
  "connect": tried(lambda: client.connect("/guest/qmp.sock")),
  "passwd": tried(lambda: open("/etc/passwd").read()),
  "proc": tried(lambda: open("/proc/1/status").read()),
  "write": tried(lambda: open("/vmlinux", "w")),
  "new": tried(lambda: open("/guest/new", "w")),
}))
""",
        f'Permits(reads=True, writes=True, unix=True), shown={{"guest": Path("{folder}"), '
        f'"vmlinux": Path("{file}")}}',
        before,
    )
    assert said == {
        **{"missing": [], "root": ["guest", "vmlinux"], "file": "read me", "connect": "done"},
        **{"passwd": "ENOENT", "proc": "ENOENT", "write": "EROFS", "new": "EROFS"},
    }


STATUS = """
status = dict(line.split(":", 1) for line in text.splitlines() if ":" in line)
print(json.dumps({name: status[name].split() for name in
  ("Uid", "Gid", "Groups", "CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb", "NoNewPrivs",
   "Seccomp")}))
"""


@ROOT
def test_root_becomes_a_user_without_any_right() -> None:
    # /proc/self is closed to a process that cannot be dumped; a descriptor from before is not.
    text = "text = open('/proc/thread-self/status').read()\n"
    said = confined(text + STATUS, "Permits(reads=True)")
    ids = [str(CHILD_ID)] * 4
    caps = {name: ["0" * 16] for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")}
    rest = {"Groups": [], "NoNewPrivs": ["1"], "Seccomp": ["2"]}
    assert said == {"Uid": ids, "Gid": ids, **caps, **rest}


@ROOT
def test_a_program_that_is_not_ours_starts_with_an_own_user_and_without_network() -> None:
    with Identity() as one, Identity() as other:
        assert one.uid is not None and other.uid is not None
        assert one.uid != other.uid
        assert FIRST_ID <= one.uid < CHILD_ID
        uid = one.uid
        words = prefix(Limits(memory_bytes=1 << 28, files=20), uid=uid, groups=[12])
        show = "cat /proc/self/status /proc/self/limits /proc/net/dev"
        done = subprocess.run(
            [*words, "sh", "-c", show], capture_output=True, text=True, timeout=240, check=True
        )
    fields = dict(line.split(":", 1) for line in done.stdout.splitlines() if ":" in line)
    assert fields["Uid"].split() == [str(uid)] * 4
    assert fields["Groups"].split() == ["12"]
    assert {int(fields[name], 16) for name in ("CapEff", "CapBnd", "CapInh", "CapPrm")} == {0}
    assert fields["NoNewPrivs"].strip() == "1"
    assert f"Max address space         {1 << 28}" in done.stdout
    assert "Max core file size        0" in done.stdout
    assert "Max open files            20" in done.stdout
    if can_unshare_network():
        assert "eth" not in done.stdout and "ens" not in done.stdout


@ROOT
def test_an_ordinary_user_is_confined_and_says_what_is_missing() -> None:
    # The interpreter may lie where another user cannot read, so it changes user by itself.
    body = f"""
os.setgroups([]); os.setresgid(*[65533] * 3); os.setresuid(*[65533] * 3)
missing = enter({LIMITS})
print(json.dumps({{"missing": missing, "socket": tried(lambda: socket.socket()),
  "passwd": tried(lambda: open("/etc/passwd"))}}))
"""
    done = subprocess.run(
        [sys.executable, "-c", TRY + body], capture_output=True, text=True, timeout=60, check=True
    )
    assert json.loads(done.stdout) == {
        "missing": ["It runs as the server's own user 65533: only root can give it another."],
        "socket": "EPERM",
        "passwd": "EPERM",
    }


def test_time_on_the_cpu_is_limited() -> None:
    code = TRY + "enter(Limits(cpu_s=1))\nwhile True: pass\n"
    done = subprocess.run([sys.executable, "-c", code], timeout=60, check=False)
    assert done.returncode == -9


def test_a_confined_child_dies_with_its_parent() -> None:
    child = TRY + f"enter({LIMITS}); print(os.getpid(), flush=True); threading.Event().wait()"
    parent = f"""
import subprocess, sys, os, signal
child = subprocess.Popen([sys.executable, "-c", {child!r}], stdout=subprocess.PIPE, text=True)
print(child.stdout.readline().strip(), flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""
    done = subprocess.run(
        [sys.executable, "-c", parent], capture_output=True, text=True, timeout=60, check=False
    )
    pid = int(done.stdout)
    for _ in range(200):
        if state(pid) == "Z":
            return
        time.sleep(0.02)
    raise AssertionError(f"{pid} outlived its parent")


def state(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return "Z"
