# SPDX-License-Identifier: GPL-2.0-or-later
"""The real JupyterHub with the configuration that is shipped, and this server as its service."""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import requests

from duet.base.settings import repo_root
from tests.support.proxy import free_port

HUB = repo_root() / ".venv-hub/bin/jupyterhub"
PROXY = repo_root() / "frontend/node_modules/.bin/configurable-http-proxy"
SHIPPED = repo_root() / "packaging/proxies/jupyterhub_config.py"
CONFIG = Path(__file__).with_name("jupyterhub_config.py")
START_S = 120.0
END_S = 20.0
PREFIX = "/services/duet/"


@dataclass(frozen=True, slots=True)
class Hub:
    """A hub that runs, and its service.

    Args:
        public: where browsers reach both, without the last slash.
        api: of the hub, for services.
        token: of the service.
        own: the service itself, before the hub's proxy.
    """

    public: str
    api: str
    token: str
    own: str

    @property
    def service(self) -> str:
        """The page."""
        return self.public + PREFIX

    def log_in(self, name: str) -> requests.Session:
        """A browser whose user typed name and password at the hub."""
        browser = requests.Session()
        browser.get(f"{self.public}/hub/login", timeout=START_S)
        form = {"username": name, "password": "x"}
        form["_xsrf"] = browser.cookies.get("_xsrf", path="/hub/") or ""
        answer = browser.post(
            f"{self.public}/hub/login", data=form, allow_redirects=False, timeout=START_S
        )
        assert answer.status_code == 302, answer.text
        return browser


@contextlib.contextmanager
def running(folder: Path) -> Iterator[Hub]:
    """Start the hub, its proxy and the service; end all of them."""
    ports = [free_port() for _ in range(4)]
    public, hub, proxy_api, own = (f"http://127.0.0.1:{port}" for port in ports)
    token = secrets.token_hex(32)
    env = os.environ | {
        "DUET_HUB_TOKEN": token,
        "DUET_SERVICE_URL": own,
        "HUB_SHIPPED": str(SHIPPED),
        "HUB_PUBLIC": public,
        "HUB_PORT": str(ports[1]),
        "HUB_PROXY": f"{Path(sys.executable).with_name('node')} {PROXY}",
        "HUB_PROXY_API": proxy_api,
        "JUPYTERHUB_CRYPT_KEY": secrets.token_hex(32),
    }
    service_env = os.environ | {
        "JUPYTERHUB_API_URL": f"{hub}/hub/api",
        "JUPYTERHUB_API_TOKEN": token,
        "JUPYTERHUB_SERVICE_PREFIX": PREFIX,
        "DUET_RUNS": str(folder / "runs"),
    }
    serve = [sys.executable, "-m", "duet", "serve", "--hub", "--no-guests", "--json"]
    serve += ["--port", str(ports[3]), "--public-url", public + PREFIX]
    with (folder / "hub.log").open("w") as log, contextlib.ExitStack() as stack:
        stack.enter_context(_process([str(HUB), "-f", str(CONFIG)], folder, env, log))
        duet = stack.enter_context(_process(serve, folder, service_env, subprocess.PIPE))
        assert duet.stdout is not None
        assert json.loads(duet.stdout.readline())["url"] == public + PREFIX
        _wait(f"{public}/hub/health", folder / "hub.log")
        yield Hub(public, f"{hub}/hub/api", token, own)


@contextlib.contextmanager
def _process(
    line: list[str], folder: Path, env: dict[str, str], out: object
) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(
        line,
        cwd=folder,
        env=env,
        text=True,
        stdout=out,  # type: ignore[arg-type]
        stderr=subprocess.STDOUT if out is not subprocess.PIPE else None,
        stdin=subprocess.DEVNULL,
    )
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.wait(END_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait(END_S)
        if process.stdout is not None:
            process.stdout.close()


def _wait(url: str, log: Path) -> None:
    until = time.monotonic() + START_S
    while time.monotonic() < until:
        with contextlib.suppress(requests.RequestException):
            if requests.get(url, timeout=5).ok:
                return
        time.sleep(0.1)
    raise AssertionError(f"JupyterHub does not answer: {log.read_text()[-2000:]}")
