# SPDX-License-Identifier: GPL-2.0-or-later
"""The real server under a service manager: systemd's protocol on a socket of the test."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

START_S = 60.0
WORD_S = 20.0
"""Usual: 0.1 s."""
TIMEOUT_S = 0.3


def test_it_learns_that_the_server_listens_goes_on_hangs_and_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("DUET_ACCESS", "DUET_RUNS"):
        monkeypatch.setenv(name, str(tmp_path / name))
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind(str(tmp_path / "notify"))
        manager.settimeout(START_S)
        own = {"NOTIFY_SOCKET": str(tmp_path / "notify"), "WATCHDOG_USEC": f"{TIMEOUT_S * 1e6:.0f}"}
        line = [sys.executable, "-m", "duet", "serve", "--port", "0", "--no-guests", "--json"]
        with subprocess.Popen(line, stdout=subprocess.DEVNULL, env=os.environ | own) as server:
            try:
                assert manager.recv(100) == b"READY=1"
                manager.settimeout(WORD_S)
                assert [manager.recv(100) for _ in range(3)] == [b"WATCHDOG=1"] * 3
                server.send_signal(signal.SIGSTOP)
                manager.settimeout(3 * TIMEOUT_S)
                with pytest.raises(TimeoutError):
                    while manager.recv(100) == b"WATCHDOG=1":
                        pass
                server.send_signal(signal.SIGCONT)
                manager.settimeout(WORD_S)
                assert manager.recv(100) == b"WATCHDOG=1"
                server.terminate()
                while (word := manager.recv(100)) == b"WATCHDOG=1":
                    pass
                assert word == b"STOPPING=1"
                assert server.wait(START_S) == 0
            finally:
                server.kill()
