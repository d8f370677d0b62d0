# SPDX-License-Identifier: GPL-2.0-or-later
"""`duet serve` beyond loopback, and `duet token`: the real program on all addresses."""

from __future__ import annotations

import asyncio
import http.client
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed

from duet.api.tokens import AccessFile
from duet.base.access import Role
from duet.cli.entry import main
from duet.cli.serve import shown_name
from duet.stream.viewer import CLOSE_TOKEN

OTHER = "127.0.0.2"
"""An address of this machine that is not the one of `localhost`."""
START_S = 60


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("DUET_ACCESS", str(tmp_path / "access.json"))
    monkeypatch.setenv("DUET_RUNS", str(tmp_path / "runs"))
    return tmp_path


def serve(*words: str) -> subprocess.Popen[str]:
    line = [sys.executable, "-m", "duet", "serve", "--port", "0", "--no-guests", *words, "--json"]
    return subprocess.Popen(
        line, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=dict(os.environ)
    )


@pytest.fixture
def open_to_all(home: Path) -> Iterator[tuple[subprocess.Popen[str], dict[str, Any]]]:
    process = serve("--host", "0.0.0.0", "--token-required")
    try:
        assert process.stdout is not None
        yield process, json.loads(process.stdout.readline())
    finally:
        process.kill()
        process.communicate(timeout=START_S)


def get(port: int, path: str, **headers: str) -> tuple[int, http.client.HTTPMessage]:
    connection = http.client.HTTPConnection(OTHER, port, timeout=10)
    try:
        connection.request("GET", path, headers=headers)
        answer = connection.getresponse()
        answer.read()
        return answer.status, answer.headers
    finally:
        connection.close()


def said(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, Any]:
    code = main([*words, "--json"])
    return code, json.loads(capsys.readouterr().out)


def test_beyond_this_machine_it_does_not_start_without_tokens(home: Path) -> None:
    done = serve("--host", "0.0.0.0")
    try:
        out, _ = done.communicate(timeout=START_S)
    finally:
        done.kill()  # should it have started after all
    error = json.loads(out)["error"]
    assert done.returncode == 2
    assert "can be reached from other machines" in error["sentence"]
    assert "--token-required" in error["remedy"]
    assert not AccessFile.default().path.exists()


def test_links_let_in_by_role_until_they_are_rotated_and_no_log_has_a_token(
    open_to_all: tuple[subprocess.Popen[str], dict[str, Any]], capsys: pytest.CaptureFixture[str]
) -> None:
    process, reported = open_to_all
    port, links = reported["port"], reported["links"]
    assert set(links) == {role.word for role in Role} and reported["tokens"] is True
    tokens = {role: parse_qs(urlsplit(link).query)["token"][0] for role, link in links.items()}
    assert get(port, "/api/health")[0] == 401
    status, headers = get(port, f"/?token={tokens['student']}")
    assert (status, headers["location"]) == (303, "./")
    cookie = headers["set-cookie"].partition(";")[0]
    assert get(port, "/api/health", Cookie=cookie)[0] == 200

    async def rotated() -> int:
        address = f"ws://{OTHER}:{port}/ws"
        async with connect(address, additional_headers={"Cookie": cookie}) as one:
            await one.recv()
            code, tree = said(capsys, "token", "rotate", "--role", "student")
            assert code == 0 and set(tree["links"]) == {"student"}
            with pytest.raises(ConnectionClosed) as end:
                while True:
                    await asyncio.wait_for(one.recv(), 20)
        assert end.value.rcvd is not None
        return end.value.rcvd.code

    assert asyncio.run(rotated()) == CLOSE_TOKEN
    assert get(port, "/api/health", Cookie=cookie)[0] == 401
    process.send_signal(signal.SIGTERM)
    out, log = process.communicate(timeout=START_S)
    assert not any(token in out + log for token in tokens.values())


def test_the_verb_shows_makes_replaces_and_revokes(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, tree = said(capsys, "token")
    assert (code, tree["tokens"], tree["links"]) == (0, [], {})
    assert tree["file"] == str(home / "access.json")
    code, tree = said(capsys, "token", "create", "--url", "https://lab.example/")
    first = {one["role"]: one["id"] for one in tree["tokens"]}
    assert set(first) == set(tree["links"]) == {role.word for role in Role}
    assert tree["links"]["viewer"].startswith("https://lab.example/?token=")
    assert said(capsys, "token", "create")[1]["links"] == {}
    shown = said(capsys, "token", "show")[1]
    assert shown["links"] == {} and "sha256" not in json.dumps(shown)
    again = said(capsys, "token", "rotate", "--role", "viewer")[1]
    changed = {one["role"] for one in again["tokens"] if one["id"] != first[one["role"]]}
    assert changed == {"viewer"}
    gone = said(capsys, "token", "revoke", "--role", "student", "--role", "viewer")[1]
    assert gone["revoked"] == ["student", "viewer"]
    assert {one["role"] for one in gone["tokens"]} == {"instructor", "operator"}


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (("token", "print"), "no action"),
        (("token", "create", "--role", "teacher"), "is not a role"),
        (("token", "create", "--url", "lab.example"), "not the address"),
        (("token", "create", "--url", "http://[/"), "not the address"),
    ],
)
def test_what_is_not_usable_is_one_sentence(
    home: Path, capsys: pytest.CaptureFixture[str], words: tuple[str, ...], part: str
) -> None:
    code, tree = said(capsys, *words)
    assert code == 2 and part in tree["error"]["sentence"] and tree["error"]["remedy"]
    assert not (home / "access.json").exists()


def test_the_name_in_links_is_one_that_others_reach() -> None:
    assert shown_name("127.0.0.1", ("lab.example",)) == "127.0.0.1"
    assert shown_name("10.0.0.7", ()) == "10.0.0.7"
    assert shown_name("0.0.0.0", ("lab.example", "other.example")) == "lab.example"
    assert shown_name("0.0.0.0", ()) not in ("", "0.0.0.0")
