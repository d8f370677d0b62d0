# SPDX-License-Identifier: GPL-2.0-or-later
"""The measurement of `bench link`, with a real server, nginx and viewers, and a limited link.

`python -m tools.bench.link_measured LESSON MBIT VIEWERS,VIEWERS` runs in a network namespace of its
own. It prints JSON lines. The first line has the segments' sizes and nginx's CPU time per segment.
The next lines have, for each number of viewers, their delays and nginx's CPU time. Before these
measurements, nginx has cached all segments.
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import tempfile
import urllib.request
from pathlib import Path
from typing import Any, Final

import psutil

from duet.base.errors import InfraError
from tools.bench.proxy import free_port, nginx
from tools.bench.viewers import helper, line_of

MTU: Final = 1500
BURST_BYTES: Final = 32 << 10
LATENCY_MS: Final = 1000
"""How long packets wait if the link's queue is full. A shorter queue would drop packets of hundreds
of streams at once, and some of these streams would then wait for all others (docs/CAPACITY.md).
"""
CONNECTIONS: Final = 8192
WARM: Final = 50
"""Number of successive viewers with which nginx's CPU time per segment is measured."""
ANSWER_S: Final = 120.0
TOOL_S: Final = 30.0


def tool(*words: str) -> None:
    """Run an iproute2 command.

    Raises:
        InfraError: the command fails.
    """
    done = subprocess.run(words, capture_output=True, text=True, timeout=TOOL_S)
    if done.returncode:
        raise InfraError(f"{' '.join(words)} failed.", remedy=done.stderr.strip()[:200])


def bound_link(mbit: float) -> None:
    """Limit the bandwidth of loopback."""
    rate = f"{mbit * 1e6:.0f}bit"
    tool(
        *("tc", "qdisc", "add", "dev", "lo", "root", "handle", "1:", "tbf", "rate", rate),
        *("burst", str(BURST_BYTES), "latency", f"{LATENCY_MS}ms"),
    )


def answer(url: str) -> tuple[bytes, int]:
    """Fetch a URL. Return (the body, total size of head and body in bytes)."""
    with urllib.request.urlopen(url, timeout=ANSWER_S) as found:
        body = found.read()
        return body, len(body) + len(str(found.headers)) + len("HTTP/1.1 200 OK\r\n")


def listed(address: str, lesson: str) -> list[str]:
    """Return the paths of the largest recording's segments, below /duet."""
    tree = json.loads(answer(f"http://{address}/api/lessons/{lesson}")[0])
    name = max(tree["recordings"], key=lambda entry: int(entry["bytes"]))["name"]
    run = f"recorded:{lesson}:{name}"
    lines = json.loads(answer(f"http://{address}/api/runs/{run}/segments")[0])["segments"]
    return [f"/duet/segments/{run}/{line['n']}-{line['digest']}" for line in lines]


def cost_s(proxy: psutil.Process) -> float:
    """Return nginx's CPU time from schedstat, in s. Each nginx process has a single thread."""
    pids = [proxy.pid, *(one.pid for one in proxy.children(recursive=True))]
    return sum(int(Path(f"/proc/{pid}/schedstat").read_text().split()[0]) for pid in pids) / 1e9


def crowd(address: str, paths: list[str], viewers: int, at_once: int) -> dict[str, Any]:
    """Run `viewers` viewers, and return the times that they measured."""
    words = (address, json.dumps(paths), str(viewers), str(at_once))
    with helper("link_crowd", *words) as process:
        found: dict[str, Any] = line_of(process)
    return found


def main() -> None:
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # also ends the children
    lesson, mbit = sys.argv[1], float(sys.argv[2])
    counts = [int(one) for one in sys.argv[3].split(",")]
    tool("ip", "link", "set", "lo", "up", "mtu", str(MTU))
    with (
        tempfile.TemporaryDirectory(prefix="duet-link-") as folder,
        helper("frames", lesson, "1") as server,
    ):
        address, port = str(line_of(server)["address"]), free_port()
        with nginx(Path(folder), port, address, connections=CONNECTIONS) as process:
            proxy, where = psutil.Process(process.pid), f"127.0.0.1:{port}"
            paths = listed(address, lesson)
            sizes = [answer(f"http://{where}{path}")[1] for path in paths]
            before_s = cost_s(proxy)
            crowd(where, paths, WARM, 1)
            nginx_s = (cost_s(proxy) - before_s) / (WARM * len(paths))
            print(json.dumps({"sizes": sizes, "nginx_s": nginx_s}), flush=True)
            bound_link(mbit)
            for count in counts:
                before_s = cost_s(proxy)
                found = crowd(where, paths, count, count)
                print(json.dumps(found | {"nginx_s": cost_s(proxy) - before_s}), flush=True)


if __name__ == "__main__":
    main()
