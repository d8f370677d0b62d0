# SPDX-License-Identifier: GPL-2.0-or-later
"""A real nginx with the shipped configuration, in front of the server of a benchmark or a test."""

from __future__ import annotations

import contextlib
import getpass
import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

from duet.base.errors import InfraError
from duet.base.settings import repo_root

NGINX = shutil.which("nginx", path="/usr/sbin:/usr/bin:/usr/local/sbin:/usr/local/bin")
SHIPPED = repo_root() / "packaging/proxies/nginx.conf"
SHIPPED_SEVERAL = SHIPPED.with_name("nginx-servers.conf")
OPEN_S = 60.0
"""Time limit until nginx listens. Usual: 50 ms."""
END_S = 10.0
WHOLE = """daemon off;
{user}
worker_processes 1;
worker_rlimit_nofile {files};
pid {folder}/pid;
error_log {folder}/error.log;
events {{ worker_connections {connections}; }}
http {{
	access_log off;
	sendfile on;
	tcp_nopush on;
	keepalive_requests 100000;
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
    """Return a free loopback port."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return int(probe.getsockname()[1])


@contextlib.contextmanager
def nginx(
    folder: Path, port: int, *upstreams: str, sub_path: str = "/", connections: int = 1024
) -> Iterator[subprocess.Popen[bytes]]:
    """Start nginx, which serves /duet/ on `port` from one server, or from two that share classes.

    Args:
        upstreams: host:port of each server.
        sub_path: path after the upstream's address in proxy_pass. If the path is "", nginx keeps
            /duet in the URLs that it requests from the server.
        connections: the worker's limit on connections. A proxied socket uses two connections.

    Raises:
        InfraError: nginx is not installed, or does not start.
    """
    several = len(upstreams) > 1
    names = ("10.0.0.1:8642", "10.0.0.2:8642") if several else ("127.0.0.1:8642",)
    text = (SHIPPED_SEVERAL if several else SHIPPED).read_text()
    for shipped, here in (
        *((f"server {name}", f"server {own}") for name, own in zip(names, upstreams, strict=True)),
        ("listen 80;", f"listen 127.0.0.1:{port};"),
        ("server_name lab.example.org;", "server_name _;"),
        ("/var/cache/nginx-duet", str(folder / "cache")),
        ("proxy_pass http://duet/;", f"proxy_pass http://duet{sub_path};"),
    ):
        assert text.count(shipped) == 1, shipped
        text = text.replace(shipped, here)
    with running(folder, text, port, connections) as process:
        yield process


@contextlib.contextmanager
def running(
    folder: Path, text: str, port: int, connections: int
) -> Iterator[subprocess.Popen[bytes]]:
    """Start nginx with the text of a `server` block, and wait until it listens.

    Raises:
        InfraError: nginx is not installed, or does not start.
    """
    if NGINX is None:
        raise InfraError("nginx is not installed.", remedy="Run ./setup.sh dev, or install nginx.")
    (folder / "duet.conf").write_text(text)
    # If root starts nginx, its worker usually runs as the user nobody, who cannot open this folder.
    user = f"user {getpass.getuser()};" if os.getuid() == 0 else ""
    whole = WHOLE.format(
        folder=folder, user=user, connections=connections, files=2 * connections + 64
    )
    (folder / "nginx.conf").write_text(whole)
    words = ["-p", str(folder), "-c", str(folder / "nginx.conf"), "-e", str(folder / "start.log")]
    with subprocess.Popen([NGINX, *words]) as process:
        try:
            until_open(port, process)
            yield process
        finally:
            process.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(END_S)
            process.kill()


def until_open(port: int, process: subprocess.Popen[bytes]) -> None:
    """Wait until nginx listens.

    Raises:
        InfraError: nginx does not listen in time.
    """
    deadline = time.monotonic() + OPEN_S
    while process.poll() is None and time.monotonic() < deadline:
        with (
            contextlib.suppress(OSError),
            socket.create_connection(("127.0.0.1", port), 1),
        ):
            return
        time.sleep(0.02)
    raise InfraError(
        f"nothing listens on port {port}, and the exit code of nginx is {process.poll()}.",
        remedy="Try again. If that does not help, start nginx yourself and read its messages.",
    )
