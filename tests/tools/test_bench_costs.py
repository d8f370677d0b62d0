# SPDX-License-Identifier: GPL-2.0-or-later
"""What benches count for `duet plan`: CPU time and memory of processes, bytes of a page."""

from __future__ import annotations

import gzip
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import psutil
import pytest

from tools.bench import costs
from tools.bench.costs import TreeUse, cpu_s, page_bytes

BUSY_S = 0.3
PARENT = """
import subprocess, sys
print("up", flush=True)
sys.stdin.readline()
child = [sys.executable, "-c", sys.argv[1]]
with subprocess.Popen(child, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
    print(process.stdout.readline().decode(), flush=True)
    sys.stdin.readline()
    process.communicate(b"\\n")
print("over", flush=True)
sys.stdin.readline()
"""
CHILD = f"""
import ctypes, sys, time
ctypes.CDLL(None).prctl(15, b"qemu-system-x", 0, 0, 0)
held = b"x" * (64 << 20)
while time.process_time() < {BUSY_S}: pass
print("busy", flush=True)
sys.stdin.readline()
"""


def test_the_clock_of_a_process_has_its_threads_also_after_their_end() -> None:
    busy = f"import time\nwhile time.thread_time() < {BUSY_S}: pass\n"
    lines = f"import sys, threading\nt = threading.Thread(target=exec, args=({busy!r}, {{}}))\n"
    lines += "t.start(); t.join(); print(flush=True); sys.stdin.readline()"
    words = [sys.executable, "-c", lines]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline()
        used_s = cpu_s(process.pid)
        assert BUSY_S < used_s < BUSY_S + 1 and cpu_s(process.pid) - used_s < 0.005
        process.communicate(b"\n")
    with pytest.raises(ProcessLookupError):
        cpu_s(process.pid)


def test_children_count_with_their_parent_also_after_their_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(costs, "EVERY_S", 0.0)
    words = [sys.executable, "-c", PARENT, CHILD]
    with subprocess.Popen(
        words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin is not None and process.stdout is not None

        def until(said: str) -> None:
            assert process.stdin is not None and process.stdout is not None
            process.stdin.write("\n")
            process.stdin.flush()
            while said not in process.stdout.readline():
                assert process.poll() is None

        assert process.stdout.readline() == "up\n"
        use = TreeUse(process.pid)
        use.look()
        assert use.cpu_s < BUSY_S and use.guest_bytes == 0, "no guest is up"
        until("busy")
        use.look()
        assert use.cpu_s >= BUSY_S * 0.9, "the child's"
        assert 64 << 20 <= use.guest_bytes < 256 << 20
        seen_s = use.cpu_s
        until("over")
        assert not psutil.Process(process.pid).children()
        use.look()
        assert use.cpu_s >= seen_s, "it had that time, though it is gone"
        process.stdin.close()


FILES = {
    "": b'<script src="./assets/app-12345678.js"></script><link href="./assets/a-12345678.css">',
    "assets/app-12345678.js": b'import("./more-abcdefgh.js");import("./more-abcdefgh.js")',
    "assets/more-abcdefgh.js": b'"./app-12345678.js ./none-12345678.js"' + b" " * 1000,
    "assets/a-12345678.css": b"a{}",
    "assets/other-12345678.js": b"nobody names it",
}


class Page(BaseHTTPRequestHandler):
    """A page below /x/, compressed."""

    def do_GET(self) -> None:
        body = FILES.get(self.path.removeprefix("/x/"))
        self.send_response(404 if body is None else 200)
        packed = gzip.compress(body or b"", mtime=0)
        self.send_header("Content-Encoding", "gzip")
        self.send_header("Content-Length", str(len(packed)))
        self.end_headers()
        self.wfile.write(packed)

    def log_message(self, format: str, *args: object) -> None:
        """Nothing."""


def test_a_page_is_its_document_and_the_files_that_are_named_each_once() -> None:
    packed = {name: len(gzip.compress(body, mtime=0)) for name, body in FILES.items()}
    first = packed[""] + packed["assets/app-12345678.js"] + packed["assets/a-12345678.css"]
    with ThreadingHTTPServer(("127.0.0.1", 0), Page) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        found = page_bytes(f"127.0.0.1:{server.server_port}", "/x/")
        server.shutdown()
        thread.join(60)
    assert found.first_bytes == first
    assert found.all_bytes == first + packed["assets/more-abcdefgh.js"]


def test_the_real_page_names_files(root: Path) -> None:
    page = root / "frontend/dist/index.html"
    if not page.exists():
        pytest.skip("the page is not built (setup.sh page)")
    from tools.bench.costs import NAMED, SCRIPT

    names = NAMED.findall(page.read_text())
    assert len(names) >= 3 and all((page.parent / name).is_file() for name in names)
    assert any(SCRIPT.fullmatch(Path(name).name) for name in names)
