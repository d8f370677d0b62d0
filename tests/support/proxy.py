# SPDX-License-Identifier: GPL-2.0-or-later
"""The real nginx with the configuration that is shipped, before a server of a test."""

from __future__ import annotations

import contextlib
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

from duet.settings import repo_root

NGINX = shutil.which("nginx", path="/usr/sbin:/usr/bin:/usr/local/sbin:/usr/local/bin")
SHIPPED = repo_root() / "packaging/proxies/nginx.conf"
WHOLE = """daemon off;
worker_processes 1;
pid {folder}/pid;
error_log {folder}/error.log;
events {{ worker_connections 1024; }}
http {{
	access_log off;
	types {{ text/html html; text/javascript js; }}
	client_body_temp_path {folder}/body;
	proxy_temp_path {folder}/proxy;
	fastcgi_temp_path {folder}/fastcgi;
	uwsgi_temp_path {folder}/uwsgi;
	scgi_temp_path {folder}/scgi;
	include {folder}/duet.conf;
}}
"""


def free_port() -> int:
    """A port of loopback that nobody has."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return int(probe.getsockname()[1])


@contextlib.contextmanager
def nginx(folder: Path, port: int, upstream: str, sub_path: str = "/") -> Iterator[None]:
    """Serve /duet/ of `port` from `upstream`, host:port.

    Args:
        sub_path: what stands behind the upstream's address in proxy_pass; "": /duet is passed on.
    """
    assert NGINX is not None
    text = SHIPPED.read_text()
    for shipped, here in (
        ("server 127.0.0.1:8642;", f"server {upstream};"),
        ("listen 80;", f"listen 127.0.0.1:{port};"),
        ("server_name lab.example.org;", "server_name _;"),
        ("proxy_pass http://duet/;", f"proxy_pass http://duet{sub_path};"),
    ):
        assert text.count(shipped) == 1, shipped
        text = text.replace(shipped, here)
    (folder / "duet.conf").write_text(text)
    (folder / "nginx.conf").write_text(WHOLE.format(folder=folder))
    with subprocess.Popen(
        [
            NGINX,
            "-p",
            str(folder),
            "-c",
            str(folder / "nginx.conf"),
            "-e",
            str(folder / "early"),
        ],
    ) as process:
        try:
            until_open(port, process)
            yield
        finally:
            process.terminate()


def until_open(port: int, process: subprocess.Popen[bytes]) -> None:
    """Wait until something listens."""
    deadline = time.monotonic() + 60
    while process.poll() is None and time.monotonic() < deadline:
        with (
            contextlib.suppress(OSError),
            socket.create_connection(("127.0.0.1", port), 1),
        ):
            return
        time.sleep(0.02)
    raise AssertionError(f"nothing listens on port {port}: {process.poll()}")
