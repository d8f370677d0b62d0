# SPDX-License-Identifier: GPL-2.0-or-later
"""Keys on both sides: the file, its rotation, and platforms that have a new one."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import jwt
import pytest

from duet.base.errors import InputError
from duet.plugins.lti.limits import FORMER_KEY_S
from duet.plugins.lti.platforms import KeyFile, PlatformKeys
from tests.plugins.lti.platform_side import INSTRUCTOR, Message, Platform
from tests.plugins.lti.tool import Browser, Tool, forms, registration


def kids(tool: Tool) -> list[str]:
    found = Browser().get(f"{tool.url}/lti/jwks").json()["keys"]
    assert all(key["alg"] == "RS256" and not set(key) & {"d", "p", "q"} for key in found)
    return [key["kid"] for key in found]


def test_a_new_key_signs_at_once_and_the_former_one_stays(
    tool: Tool, platform: Platform, browser: Browser
) -> None:
    former = kids(tool)
    choosing = Message("teacher-1", roles=(INSTRUCTOR,), choosing=True)
    action, before = forms(browser.launch(platform, choosing).text)[0]
    KeyFile(tool.keys.path).rotate()  # as `duet lti keys --rotate` in another process
    assert kids(tool)[1:] == former and len(kids(tool)) == 2
    _, after = forms(browser.launch(platform, choosing).text)[0]
    named = [jwt.get_unverified_header(one["JWT"])["kid"] for one in (before, after)]
    assert named == [former[0], kids(tool)[0]]
    platform.chosen.clear()
    for one in (before, after):  # what the former key signed still counts
        assert browser.post(action, one).status_code == 200
    assert len(platform.chosen) == 2


def test_a_platforms_new_key_is_read_and_its_former_one_counts_no_more(
    tool: Tool, platform: Platform, browser: Browser
) -> None:
    form = browser.message(platform, Message())
    platform.rotate()
    assert browser.launch(platform, Message()).status_code == 200
    assert browser.send(platform, form).status_code == 401


def test_a_known_key_is_not_read_again_and_an_unknown_one_not_too_often(platform: Platform) -> None:
    now = [0.0]
    known, one = PlatformKeys(again_s=10.0, clock=lambda: now[0]), registration(platform)
    platform.asked.clear()
    for _ in range(3):
        known.key_set(one, platform.key.kid)
        known.key_set(one, "forged")
    assert platform.asked == ["jwks"]
    now[0] = 11.0
    known.key_set(one, platform.key.kid)
    assert platform.asked == ["jwks"]
    known.key_set(one, "forged")
    assert platform.asked == ["jwks"] * 2
    now[0] = 4000.0
    known.key_set(one, platform.key.kid)
    assert platform.asked == ["jwks"] * 3


def test_the_file_is_its_owners_and_former_keys_go(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("duet.plugins.lti.platforms.FORMER_KEYS", 2)
    now = [1e9]
    file = KeyFile(tmp_path / "sub/lti.json", clock=lambda: now[0])
    first = file.load()
    assert stat.S_IMODE(file.path.stat().st_mode) == 0o600
    assert file.load().content == first.content
    second = file.rotate()
    assert second.secret == first.secret and second.signing.kid != first.signing.kid
    assert [key["kid"] for key in second.key_set(now[0])["keys"]] == [
        second.signing.kid, first.signing.kid
    ]  # fmt: skip
    now[0] += FORMER_KEY_S
    assert [key["kid"] for key in second.key_set(now[0])["keys"]] == [second.signing.kid]
    for _ in range(3):
        now[0] += 1
        file.rotate()
    assert len(file.load().content.keys) == 3


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"format": 2, "secret": "00", "keys": []}'])
def test_a_file_of_another_kind_is_one_sentence(tmp_path: Path, text: str) -> None:
    path = tmp_path / "lti.json"
    path.write_text(text)
    path.chmod(0o600)
    with pytest.raises(InputError, match="not an LTI key file"):
        KeyFile(path).load()


def test_a_file_that_others_may_read_is_refused(tmp_path: Path) -> None:
    file = KeyFile(tmp_path / "lti.json")
    file.load()
    os.chmod(file.path, 0o640)  # noqa: PTH101
    with pytest.raises(InputError, match="open to other users"):
        file.load()
