# SPDX-License-Identifier: GPL-2.0-or-later
"""Our server with registered platforms, and a browser that opens activities of theirs."""

from __future__ import annotations

import contextlib
import re
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from html import unescape
from pathlib import Path
from typing import Any

import requests

from duet.api.app import create_app
from duet.api.sessions import Sessions
from duet.api.tokens import AccessFile
from duet.base.access import Role
from duet.plugins.lti.platforms import KeyFile, PlatformKeys, Platforms, Registered
from duet.plugins.lti.platforms import Platform as Registration
from duet.plugins.lti.service import Lti, LtiService
from duet.server.director import Director
from duet.server.services import makers
from duet.store.store import Store
from tests.plugins.lti.platform_side import Message, Platform
from tests.support.toy_server import serving
from tests.support.toy_stage import ToyKernels, ToyRecordings, ToyStage

FORM = re.compile(r'<form method="post" action="([^"]*)"[^>]*>(.*?)</form>', re.DOTALL)
INPUT = re.compile(r'<input type="hidden" name="([^"]*)" value="([^"]*)">')
CROSS = {
    "Sec-Fetch-Site": "cross-site",
    "Sec-Fetch-Mode": "navigate",
    "Origin": "https://x.example",
}
WAIT_S = 60.0
"""For what comes soon, on a busy host."""


@dataclass
class Tool:
    """Our server."""

    url: str
    app: Any
    keys: KeyFile
    tokens: dict[Role, str]

    @property
    def lti(self) -> Lti:
        found = self.app.state.director.services.of(LtiService).lti
        assert isinstance(found, Lti)
        return found


class Browser:
    """Cookies, and what a browser sends along between sites."""

    def __init__(self) -> None:
        self.session = requests.Session()
        self.session.trust_env = False

    def get(self, url: str, **more: Any) -> requests.Response:
        return self.session.get(url, timeout=WAIT_S, allow_redirects=False, **more)

    def post(self, url: str, data: dict[str, str], **more: Any) -> requests.Response:
        return self.session.post(url, data, timeout=WAIT_S, allow_redirects=False, **more)

    def message(self, platform: Platform, message: Message) -> dict[str, str]:
        """Click on the activity; what the platform then wants to have posted."""
        login = self.get(platform.login_address(message), headers=CROSS)
        assert login.status_code == 302, login.text
        found = self.get(login.headers["location"])
        assert found.status_code == 200, found.text
        tree = found.json()
        assert tree.pop("launch_url") == f"{platform.tool}/lti/launch"
        return dict(tree)

    def launch(self, platform: Platform, message: Message) -> requests.Response:
        """Open the activity, up to our answer."""
        return self.send(platform, self.message(platform, message))

    def send(self, platform: Platform, form: dict[str, str]) -> requests.Response:
        """Post what the platform wants to have posted."""
        return self.post(f"{platform.tool}/lti/launch", form, headers=CROSS)


def forms(page: str) -> list[tuple[str, dict[str, str]]]:
    """Address and fields of each form of a page."""
    return [
        (unescape(action), {name: unescape(value) for name, value in INPUT.findall(inner)})
        for action, inner in FORM.findall(page)
    ]


def registration(platform: Platform, **more: Any) -> Registration:
    """How the operator registers the platform."""
    fields = {
        "name": platform.client_id,
        "issuer": platform.url,
        "client_id": platform.client_id,
        "deployments": [platform.deployment],
        "auth_url": f"{platform.url}/auth",
        "token_url": f"{platform.url}/token",
        "keys_url": f"{platform.url}/jwks",
    }
    return Registration.model_validate(fields | more)


@cache
def key_file() -> bytes:
    """Our keys, made once: it takes a third of a second."""
    with tempfile.TemporaryDirectory() as folder:
        file = KeyFile(Path(folder) / "lti.json")
        file.load()
        return file.path.read_bytes()


@contextlib.contextmanager
def tool_served(folder: Path, *platforms: Platform, **more: Any) -> Iterator[Tool]:
    """Our server, at which the platforms are registered; files lie in the folder."""
    (folder / "dist").mkdir(exist_ok=True)
    (folder / "dist/index.html").write_text("<!doctype html><title>the app</title>")
    registered = Registered(
        Platforms(platforms=tuple(registration(one, **more) for one in platforms)),
        KeyFile(folder / "lti.json"),
        PlatformKeys(again_s=0.0),
    )
    if not registered.keys.path.exists():
        registered.keys.path.write_bytes(key_file())
        registered.keys.path.chmod(0o600)
    file = AccessFile(folder / "access.json")
    tokens = file.make(Role, again=False)
    store = Store(f"sqlite:///{folder / 'classes.sqlite'}")

    def director(hub: Any) -> Director:
        made = makers() | {"lti": lambda core: LtiService(core, registered)}
        parts = (hub, ToyStage(20.0), ToyRecordings(), ToyKernels())
        return Director(*parts, store=store, services=made.values())

    app = create_app(
        director,
        page=folder / "dist",
        sessions=Sessions(file, vouching=registered.grants),
    )
    with serving(app) as address:
        for platform in platforms:
            platform.tool = f"http://{address}"
        yield Tool(f"http://{address}", app, registered.keys, tokens)


def until(ready: Callable[[], Any]) -> Any:
    """Wait for what another thread does soon."""
    deadline = time.monotonic() + WAIT_S
    while time.monotonic() < deadline:
        if found := ready():
            return found
        time.sleep(0.02)
    raise AssertionError("it did not come")
