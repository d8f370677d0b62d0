# SPDX-License-Identifier: GPL-2.0-or-later
"""The file of platforms, and what `duet serve` and `duet lti` make of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from duet.api.proxy import Front
from duet.base.errors import InputError
from duet.cli import entry
from duet.cli.serve import TokenOptions, admission
from duet.plugins.lti.messages import CLAIM, Claims, role_of
from duet.plugins.lti.platforms import Registered, load_platforms

GOOD: dict[str, Any] = {
    "name": "Moodle",
    "issuer": "https://moodle.example.org",
    "client_id": "AbC",
    "deployments": ["1"],
    "auth_url": "https://moodle.example.org/mod/lti/auth.php",
    "token_url": "https://moodle.example.org/mod/lti/token.php",
    "keys_url": "https://moodle.example.org/mod/lti/certs.php",
}


def written(folder: Path, *platforms: Any) -> Path:
    path = folder / "lti.yaml"
    path.write_text(yaml.safe_dump({"platforms": list(platforms)}))
    return path


def test_a_platform_is_found_by_issuer_and_client(tmp_path: Path) -> None:
    found = load_platforms(written(tmp_path, GOOD, GOOD | {"client_id": "D"}))
    one = found.find(GOOD["issuer"], "AbC")
    assert one is not None and one.framed_by == ("https://moodle.example.org",)
    assert found.by_ident(one.ident) is one and one.grant == f"lti-{one.ident}"
    assert found.find(GOOD["issuer"], "") is None  # which of both is meant?
    assert load_platforms(written(tmp_path, GOOD)).find(GOOD["issuer"], "") == one


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"auth_url": "http://moodle.example.org/x"}, "auth_url.*https"),
        ({"keys_url": "file:///etc/passwd"}, "keys_url.*https"),
        ({"frames": ["https://x.example/path"]}, "frames.*path"),
        ({"frames": ["https://x; script-src *"]}, "frames"),
        ({"deployments": []}, "deployments"),
        ({"deployments": [1]}, "deployments"),
        ({"secret": "x"}, "secret"),
        ({"client_id": ""}, "client_id"),
    ],
)
def test_a_wrong_platform_is_one_sentence(tmp_path: Path, change: Any, word: str) -> None:
    with pytest.raises(InputError, match=word) as error:
        load_platforms(written(tmp_path, GOOD | change))
    assert "\n" not in error.value.sentence and "docs/LTI.md" in error.value.remedy


@pytest.mark.parametrize("text", ["", "[1]", "a: [", "platforms: []", "\x00", "x" * 300_000])
def test_another_file_is_one_sentence(tmp_path: Path, text: str) -> None:
    (tmp_path / "lti.yaml").write_text(text)
    with pytest.raises(InputError):
        load_platforms(tmp_path / "lti.yaml")
    with pytest.raises(InputError, match="cannot be read"):
        load_platforms(tmp_path / "none.yaml")
    with pytest.raises(InputError, match="as another platform"):
        load_platforms(written(tmp_path, GOOD, GOOD))


def test_platforms_need_a_server_that_asks_for_tokens(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DUET_LTI", str(written(tmp_path, GOOD)))
    monkeypatch.setenv("DUET_LTI_KEYS", str(tmp_path / "lti.json"))
    monkeypatch.setenv("DUET_ACCESS", str(tmp_path / "access.json"))
    registered = Registered.default()
    assert registered is not None and (tmp_path / "lti.json").exists()
    with pytest.raises(InputError, match="everybody would be operator"):
        admission("127.0.0.1", TokenOptions(), Front())
    admitted = admission("127.0.0.1", TokenOptions(required=True), Front())
    assert admitted.who == "tokens"
    with pytest.raises(InputError, match="come through the hub"):
        admission("127.0.0.1", TokenOptions(hub=True), Front())
    monkeypatch.delenv("DUET_LTI")
    assert Registered.default() is None


def test_the_verb_says_what_a_platform_is_given_and_rotates(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("DUET_LTI", str(written(tmp_path, GOOD)))
    monkeypatch.setenv("DUET_LTI_KEYS", str(tmp_path / "lti.json"))

    def run(*words: str) -> Any:
        code = entry.main(["lti", *words])
        return code, capsys.readouterr().out

    every = {key: value for key, value in GOOD.items() if key != "deployments"}
    written(tmp_path, every)
    assert "client AbC, all deployments" in run()[1]
    written(tmp_path, GOOD)
    code, out = run("--url", "https://lab.example.org/duet/")
    assert code == 0 and "https://lab.example.org/duet/lti/launch?choose=1" in out
    assert "Moodle: https://moodle.example.org, client AbC, deployments 1" in out
    first = json.loads(run("keys", "--json")[1])["keys"]
    second = json.loads(run("keys", "--rotate", "--json")[1])["keys"]
    assert [one["signs"] for one in second] == [True, False]
    assert second[1]["kid"] == first[0]["kid"] and second[1]["shown_until"]
    assert "PRIVATE" not in run("keys")[1]
    assert run("nothing")[0] == 2 and run("platforms", "--rotate")[0] == 2


def test_no_custom_parameters_may_come_as_a_list() -> None:
    tree = {
        "iss": "i", "sub": "s", "nonce": "n", "iat": 1, "exp": 2,
        f"{CLAIM}deployment_id": "1", f"{CLAIM}message_type": "LtiResourceLinkRequest",
        f"{CLAIM}custom": [],
    }  # fmt: skip
    assert Claims.model_validate(tree).custom == {}


def test_a_role_of_another_vocabulary_is_none() -> None:
    assert role_of(["https://x.example/roles#Instructor", "urn:lti:role:ims/lis/Instructor"]) == 0
