# SPDX-License-Identifier: GPL-2.0-or-later
"""Children that parse: what ends them is one sentence, and nothing of them is left."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import msgpack
import psutil
import pytest

from duet.base.errors import DuetError, InfraError, InputError, KernelError
from duet.base.failures import pack_error
from duet.bundle.decoding import ConfinedDecoder
from duet.confine import Child, ChildLimits, ReplyReader
from duet.confine.child import ZYGOTE, start
from duet.confine.messages import BadReply
from duet.confine.namespaces import pid_namespace_prefix
from duet.kernels.vmlinux.ask import READERS
from duet.session.lane import child as replies
from tests.support import ring
from tests.support.ring import SWITCH, CpuBuffer

GONE_S = 20.0
REQUEST = {"do": "files", "files": {}, "page_bytes": 4096}


def children() -> set[int]:
    """Of the zygote, which is itself a child of unshare(1) where it has a PID namespace."""
    assert ZYGOTE._process is not None
    zygote = psutil.Process(ZYGOTE._process.pid)
    end = time.monotonic() + GONE_S
    while pid_namespace_prefix() and zygote.pid == ZYGOTE._process.pid and time.monotonic() < end:
        zygote = next(iter(zygote.children()), zygote)
    return {child.pid for child in zygote.children()}


def gone(pid: int) -> bool:
    """Whether a process goes within its time."""
    end = time.monotonic() + GONE_S
    while psutil.pid_exists(pid) and time.monotonic() < end:
        time.sleep(0.01)
    return not psutil.pid_exists(pid)


@pytest.fixture(autouse=True)
def nothing_is_left() -> Iterator[None]:
    """Each test ends its children and their descriptors."""
    start()
    READERS.end()  # of kernels that other tests asked about; they would end meanwhile
    before, descriptors = children(), len(list(Path("/proc/self/fd").iterdir()))
    yield
    assert all(gone(pid) for pid in children() - before)
    assert len(list(Path("/proc/self/fd").iterdir())) == descriptors


def begun(terms: ChildLimits, service: str = "decoder") -> tuple[Child, int]:
    """A child that has answered once, and its process."""
    before = children()
    child = Child(service, terms)
    with pytest.raises(InputError, match="no header_page"):
        child.call(dict(REQUEST))
    (pid,) = children() - before
    return child, pid


def pages(count: int) -> bytes:
    """Pages full of switches."""
    buffer, record = CpuBuffer(), SWITCH.pack(9, "storm-0", 9, 120, 2, "swapper/0", 0, 120)
    for index in range(60):
        buffer.add(1000 * index, record)
    return buffer.take()[:4096] * count


@pytest.mark.parametrize("number", [signal.SIGSEGV, signal.SIGABRT, signal.SIGKILL])
def test_a_childs_death_is_one_sentence_each_time(number: signal.Signals) -> None:
    child, pid = begun(ChildLimits("lane x", blame=KernelError))
    os.kill(pid, number)
    for _ in range(2):
        with pytest.raises(KernelError) as caught:
            child.call(dict(REQUEST))
        assert caught.value.sentence.startswith("lane x cannot be read: ")
        wanted = "or was killed" if number is signal.SIGKILL else number.name
        assert wanted in caught.value.sentence


def test_more_memory_than_allowed_is_one_sentence() -> None:
    child, _ = begun(ChildLimits("lane x", memory_bytes=500 << 20))
    with pytest.raises(InputError, match="needs more than 500 MiB of memory"):
        child.call({**REQUEST, "do": "decode", "cpu": 0}, [bytes(490 << 20)])


def test_more_cpu_time_than_allowed_is_one_sentence() -> None:
    child = Child("decoder", ChildLimits("lane x", request_cpu_s=0.05))
    child.call({"do": "files", "files": ring.files(SWITCH), "page_bytes": 4096})
    with pytest.raises(InputError, match=r"more than 0\.05 s of CPU time"):
        child.call({"do": "decode", "cpu": 0}, [pages(20_000)])


def test_silence_is_one_sentence_within_its_time() -> None:
    child, pid = begun(ChildLimits("lane x", wait_s=0.5))
    os.kill(pid, signal.SIGSTOP)
    with pytest.raises(InputError, match=r"longer than 0\.5 s"):
        child.call(dict(REQUEST))
    assert gone(pid)


def test_closing_ends_a_request_that_waits() -> None:
    child, pid = begun(ChildLimits("lane x"))
    os.kill(pid, signal.SIGSTOP)
    ends: list[DuetError] = []

    def ask() -> None:
        try:
            child.call(dict(REQUEST))
        except DuetError as error:
            ends.append(error)

    asker = threading.Thread(target=ask)
    asker.start()
    time.sleep(0.1)
    child.close()
    asker.join(GONE_S)
    sentence = "lane x cannot be read: the request was cancelled."
    assert [error.sentence for error in ends] == [sentence]
    assert gone(pid)


def test_a_forgotten_child_ends() -> None:
    child, pid = begun(ChildLimits("lane x"))
    del child
    assert gone(pid)


@pytest.mark.parametrize("way", ["start", "fork"])
def test_no_child_outlives_a_killed_server(way: str) -> None:
    code = (
        "import sys, time\n"
        "from duet import confine\n"
        "from duet.confine import Child, ChildLimits\n"
        "from duet.confine.child import ZYGOTE\n"
        f"confine.{way}()\n"
        "child = Child('decoder', ChildLimits('x'))\n"
        "try: child.call({'do': 'files', 'files': {}, 'page_bytes': 4096})\n"
        "except Exception: print(ZYGOTE._process.pid, flush=True)\n"
        "time.sleep(600)\n"
    )
    server = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert server.stdout is not None
    zygote = psutil.Process(int(server.stdout.readline()))
    pids = [zygote.pid, *(child.pid for child in zygote.children())]
    assert len(pids) == 2
    server.kill()
    server.wait(GONE_S)
    server.stdout.close()
    assert all(gone(pid) for pid in pids)


@pytest.mark.parametrize("way", ["start", "fork"])
def test_a_killed_zygote_is_no_zombie_though_nobody_needs_another(way: str) -> None:
    code = (
        "import time\n"
        f"from duet.confine.child import ZYGOTE, {way}\n"
        f"{way}()\n"
        "print(ZYGOTE._process.pid, flush=True)\n"
        "time.sleep(600)\n"
    )
    server = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert server.stdout is not None
    try:
        zygote = int(server.stdout.readline())
        os.kill(zygote, signal.SIGKILL)
        assert gone(zygote)
    finally:
        server.kill()
        server.wait(GONE_S)
        server.stdout.close()


FORKED = """
import json, os, signal, sys, threading
from pathlib import Path
import psutil
from duet import confine
from duet.bundle.decoding import ConfinedDecoder
from duet.confine.child import ZYGOTE

def answers():
    try:
        ConfinedDecoder({}, 4096, "x")
    except Exception as error:
        return str(error)

if sys.argv[1] == "threads":
    threading.Thread(target=threading.Event().wait, daemon=True).start()
secret = open("/dev/zero")
confine.fork(("unpack",))
confine.fork()  # once
process = psutil.Process(ZYGOTE._process.pid)
while os.geteuid() == 0 and not process.children():
    pass
zygote = next(iter(process.children()), process)
said = answers()
files = {one.name: str(one.readlink()) for one in Path(f"/proc/{zygote.pid}/fd").iterdir()}
first = {
    "says": said,
    "started": "duet.confine.zygote" in zygote.cmdline(),
    "session": os.getsid(zygote.pid) != os.getsid(0),
    "files": [files[n] for n in "012"],
    "secret": "/dev/zero" in files.values(),
}
os.kill(zygote.pid, signal.SIGINT)
first["after Ctrl-C"] = answers()
os.kill(zygote.pid, signal.SIGKILL)
process.wait(20)
first["after its death"] = answers()
print(json.dumps(first))
"""


@pytest.mark.parametrize("way", ["no threads", "threads"])
def test_a_copy_of_the_program_forks_children(way: str) -> None:
    """It has none of the program's descriptors, and imports a service that it lacks."""
    done = subprocess.run(
        [sys.executable, "-c", FORKED, way], capture_output=True, text=True, check=True
    )
    found = json.loads(done.stdout)
    answer = "the trace cannot be decoded: the guest sent no header_page.."
    assert [found[at] for at in ("says", "after Ctrl-C", "after its death")] == [answer] * 3
    assert found["started"] == (way == "threads"), "a process with threads cannot be copied"
    assert (found["session"], found["files"], found["secret"]) == (True, ["/dev/null"] * 3, False)


def test_a_child_has_no_rights() -> None:
    child, pid = begun(ChildLimits("lane x"))
    status = Path(f"/proc/{pid}/status").read_text()
    assert "NoNewPrivs:\t1" in status and "Seccomp:\t2" in status
    assert "CapEff:\t0000000000000000" in status
    if pid_namespace_prefix():
        for kind in ("pid", "mnt", "net", "ipc", "uts"):
            theirs, ours = (Path(f"/proc/{who}/ns/{kind}").readlink() for who in (pid, "self"))
            assert theirs != ours, kind
        assert list(Path(f"/proc/{pid}/root").iterdir()) == []
    if os.geteuid() == 0:
        assert psutil.Process(pid).uids().real != 0
    child.close()


@pytest.mark.parametrize("tail", [b"- " * 500_000 + b"1", b"!" * 900_000 + b"1", b"(" * 900_000])
def test_a_print_format_is_never_parsed(tail: bytes) -> None:
    files = ring.files(SWITCH)
    name = next(name for name in files if name.endswith("sched_switch/format"))
    hostile = {**files, name: files[name].partition(b"print fmt")[0] + b'print fmt: "%d", ' + tail}
    given = pages(1)
    with ConfinedDecoder(files, 4096, "x") as good, ConfinedDecoder(hostile, 4096, "x") as other:
        tables = [one.decode(0, given).tables["sched/sched_switch"] for one in (good, other)]
    assert tables[0].columns["prev_pid"].tolist() == tables[1].columns["prev_pid"].tolist() != []


@pytest.mark.parametrize(
    ("tree", "blobs"),
    [
        ({}, []),
        ({"more": 1, "batches": [["spans", 1 << 40, 0.0]], "losses": []}, []),
        ({"batches": [["nothing", 1, 0.0]], "losses": []}, [b"12345678"]),
        ({"batches": [["ops", 2, 0.0]], "losses": []}, [b"12345678"] * 5),
        ({"batches": [["ops", 1, float("nan")]], "losses": []}, [b"12345678"] * 5),
        ({"batches": [], "losses": [[0, 0, -1, "ring buffer"]]}, []),
        ({"batches": [], "losses": [[0, 0, 1, "moon"]]}, []),
        ({"batches": [], "losses": [], "rows": [[0, 1, "x" * 5000, "thread"]]}, []),
    ],
)
def test_a_reply_that_makes_no_sense_is_refused(
    tree: dict[str, object], blobs: list[bytes]
) -> None:
    with pytest.raises(BadReply):
        packed = msgpack.packb(tree)
        replies.reduction(ReplyReader.unpack(packed, [bytearray(blob) for blob in blobs]))


def test_no_reply_is_taken_for_more_than_it_is() -> None:
    for body in (b"", b"\xc1", b"\xdd\xff\xff\xff\xff", b"\x93\x01\x02\x03", b"\x91" * 5000):
        with pytest.raises(BadReply):
            ReplyReader.unpack(body, [])


def with_reply(monkeypatch: pytest.MonkeyPatch, error: object) -> Child:
    """A child that was taken over, and reports that."""
    child = Child("decoder", ChildLimits("lane x"))
    reply = ReplyReader({"error": error}, [])
    monkeypatch.setattr(child, "_exchange", lambda *asked: reply)
    return child


def test_an_error_that_a_child_reports_keeps_kind_and_code(monkeypatch: pytest.MonkeyPatch) -> None:
    error = InfraError("no room.", remedy="Make some.")
    error.code = "full"
    child = with_reply(monkeypatch, pack_error(error))
    with pytest.raises(InfraError, match="no room") as caught:
        child.call(dict(REQUEST))
    assert caught.value.code == "full" and child.usable
    child.close()


@pytest.mark.parametrize(
    "error",
    [
        *(7, b"", b"\xff", [2, "a", "b", "c"], [2, "x" * 5000, "b", "c"], {"exit_code": 2}),
        pack_error(DuetError("ZeroDivisionError.", remedy="", detail="by zero\nline 2")),
        pack_error(InputError("a.", remedy="b.")).replace(b":2", b":9"),
    ],
    ids=lambda error: f"{error!r:.20}",
)
def test_a_child_that_reports_nothing_sound_is_closed(
    error: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    child = with_reply(monkeypatch, error)
    for _ in range(2):
        with pytest.raises(InputError, match="lane x cannot be read: its decoder failed") as caught:
            child.call(dict(REQUEST))
        assert caught.value.detail and not child.usable
