# SPDX-License-Identifier: GPL-2.0-or-later
"""HTTP beside the socket, on a real server."""

from __future__ import annotations

import gzip
import http.client
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from duet.lessons.load import load
from duet.messages import PROTOCOL
from tests.support.toy_server import SLUG, page, serving
from tests.support.toy_stage import toy_app


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    (folder / "index.html").write_text("<!doctype html><title>duet</title>")
    (folder / "assets").mkdir()
    (folder / "assets" / "main-1234.js").write_text("export {}")
    return folder


@pytest.fixture(scope="module")
def address(built: Path) -> Iterator[str]:
    with serving(toy_app(built, speed=20.0)) as where:
        yield where


def get(address: str, path: str, **headers: str) -> tuple[int, dict[str, str], bytes]:
    connection = http.client.HTTPConnection(address, timeout=120)
    try:
        connection.request("GET", path, headers=headers)
        answer = connection.getresponse()
        found = {name.lower(): value for name, value in answer.getheaders()}
        return answer.status, found, answer.read()
    finally:
        connection.close()


def get_json(address: str, path: str) -> tuple[int, Any]:
    status, _, body = get(address, path)
    return status, json.loads(body)


def test_health_names_version_and_kernels(address: str) -> None:
    status, tree = get_json(address, "/api/health")
    assert (status, tree["status"], tree["protocol"]) == (200, "ok", PROTOCOL)
    assert tree["kernels"][SLUG] == {arm.name: True for arm in load(SLUG).lesson.arms}


def test_lessons_are_found_by_looking(address: str) -> None:
    status, tree = get_json(address, "/api/lessons")
    assert status == 200
    assert SLUG in [lesson["slug"] for lesson in tree]


def test_a_lesson_comes_with_prose_patches_and_recordings(address: str) -> None:
    status, tree = get_json(address, f"/api/lessons/{SLUG}")
    assert status == 200
    assert tree["recordings"][0]["name"] == "synthetic"
    stock, srcu = tree["arms"][0], tree["arms"][1]
    assert stock["patch_texts"] == []
    patch = srcu["patch_texts"][0]
    assert (patch["file"], patch["subject"][:3]) == ("srcu.patch", "mm:")
    assert all(scene["id"] in tree["content"] for scene in tree["scenes"])
    assert "<!--" not in "".join(tree["content"].values())


@pytest.mark.parametrize(
    ("path", "status", "word"),
    [
        ("/api/lessons/02-grace-period", 404, "did you mean"),
        ("/api/lessons/..%2f..%2fetc", 404, ""),
        ("/api/runs/live-99/lanes/srcu/events?around_ns=0", 404, "no run"),
        ("/api/runs/live-99/bundle", 404, "no run"),
        ("/api/runs/x/lanes/srcu/events?around_ns=soon", 422, "around_ns"),
        ("/api/runs/x/lanes/srcu/events?around_ns=1&n=100000", 422, "n is not"),
    ],
)
def test_bad_requests_are_one_sentence_with_a_remedy(
    address: str, path: str, status: int, word: str
) -> None:
    came, _, body = get(address, path)
    assert came == status
    if word:
        error = json.loads(body)["error"]
        assert word in error["sentence"]
        assert error["remedy"]


def test_raw_events_behind_a_mark(address: str) -> None:
    run = f"recorded:{SLUG}:synthetic"
    status, rows = get_json(address, f"/api/runs/{run}/lanes/srcu/events?around_ns=5e6&row=1")
    assert status == 200
    assert set(rows[0]) == {"t_ns", "cpu", "tid", "task", "event", "fields"}
    assert rows[0]["task"] == "storm-1"


def test_bundle_of_a_run_that_cannot_be_downloaded_says_so(address: str, run_async: Any) -> None:
    async def run() -> str:
        async with page(address) as one:
            await one.open()
            await one.start("srcu", seconds=1)
            run_id = await one.begun()
            await one.until_over()
            return run_id

    run_id = run_async(run())
    status, tree = get_json(address, f"/api/runs/{run_id}/bundle")
    assert status == 503
    assert "cannot be downloaded" in tree["error"]["sentence"]


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example:80", "", "[::1"])
def test_other_host_names_are_refused(address: str, host: str) -> None:
    status, _, body = get(address, "/api/health", Host=host)
    assert status in (400, 403)
    assert b"kernels" not in body


@pytest.mark.parametrize("host", ["localhost", "localhost:9999", "127.0.0.1:1", "[::1]:80"])
def test_loopback_names_are_answered(address: str, host: str) -> None:
    assert get(address, "/api/health", Host=host)[0] == 200


def test_the_page_and_its_rules(address: str) -> None:
    status, headers, body = get(address, "/")
    assert (status, b"duet" in body, headers["cache-control"]) == (200, True, "no-cache")
    assert "default-src 'self'" in headers["content-security-policy"]
    assert "access-control-allow-origin" not in get(address, "/", Origin="http://evil.example")[1]
    status, headers, _ = get(address, "/assets/main-1234.js")
    assert (status, "immutable" in headers["cache-control"]) == (200, True)
    assert get(address, "/assets/../../../etc/passwd")[0] == 404
    assert get(address, "/%2e%2e/%2e%2e/etc/passwd")[0] == 404


def test_an_asset_is_compressed_for_browsers_that_take_it(address: str) -> None:
    where = "/assets/main-1234.js"
    plain = get(address, where)
    assert (plain[1].get("content-encoding"), plain[2]) == (None, b"export {}")
    for takes in ("gzip", "gzip, deflate, br", "br;q=1.0, gzip;q=0.8"):
        status, headers, body = get(address, where, **{"Accept-Encoding": takes})
        assert (status, headers["content-encoding"]) == (200, "gzip")
        assert gzip.decompress(body) == plain[2]
        assert "immutable" in headers["cache-control"] and "javascript" in headers["content-type"]
        assert headers["vary"] == plain[1]["vary"] == "Accept-Encoding"
    for refuses in ("gzip;q=0", "br, gzip; q=0.0", "br", "x-gzip"):
        _, headers, body = get(address, where, **{"Accept-Encoding": refuses})
        assert (headers.get("content-encoding"), body) == (None, plain[2])
    part = {"Accept-Encoding": "gzip", "Range": "bytes=0-5"}
    status, headers, body = get(address, where, **part)
    assert (status, headers.get("content-encoding"), body) == (206, None, b"export")
    known = {"Accept-Encoding": "gzip", "If-None-Match": plain[1]["etag"]}
    assert get(address, where, **known)[0] == 304


def test_a_wrong_address_is_a_sentence_to_a_person_and_json_to_a_program(address: str) -> None:
    status, headers, body = get(address, "/nothing/02", Accept="text/html,*/*;q=0.8")
    assert (status, headers["content-type"]) == (404, "text/html; charset=utf-8")
    assert b"There is no such page" in body and b">All lessons</a>" in body
    status, headers, _ = get(address, "/nothing/02", Accept="application/json")
    assert (status, headers["content-type"]) == (404, "application/json")


@pytest.mark.parametrize(
    ("path", "to"),
    [
        ("/lesson/02", "/?lesson=02-grace-periods"),
        ("/lessons/2/", "/?lesson=02-grace-periods"),
        ("/Lesson/grace/3?lang=de", "/?lesson=02-grace-periods&step=3&lang=de"),
        ("/02-grace-periods/ticks", "/?lesson=02-grace-periods&step=ticks"),
        ("/02", "/?lesson=02-grace-periods"),
        ("/lesson/99", "/?lesson=99"),  # the page says that there is none
        ("/99", None),
        ("/lesson", None),
        ("/lesson/02/3/4", None),
        ("//evil.example/02", None),
        ("/lesson/..%2f..", None),
    ],
)
def test_a_path_that_people_type_leads_to_the_lesson(
    address: str, path: str, to: str | None
) -> None:
    status, headers, _ = get(address, path, Accept="text/html")
    assert (status, headers.get("location")) == ((404, None) if to is None else (302, to))
    assert get(address, path, Accept="application/json")[0] == 404


@pytest.mark.parametrize(
    ("path", "framed"),
    [
        ("/?lesson=02-grace-periods&embed=1", True),
        ("/?embed=1&lesson=02-grace-periods", True),
        ("/", False),
        ("/?lesson=02-grace-periods", False),
        ("/?embed=0", False),
        ("/?embed=1&embed=0", False),
        ("/?xembed=1", False),
        ("/api/health?embed=1", False),
    ],
)
def test_only_the_bare_page_may_stand_in_a_frame_of_others(
    address: str, path: str, framed: bool
) -> None:
    policy = get(address, path)[1]["content-security-policy"]
    assert ("frame-ancestors 'none'" in policy) is not framed
    assert ("frame-ancestors * file:" in policy) is framed


def test_a_page_that_is_not_built_says_how_and_appears_when_it_is(tmp_path: Path) -> None:
    with serving(toy_app(tmp_path)) as address:
        status, _, body = get(address, "/")
        assert (status, b"./setup.sh page" in body) == (503, True)
        (tmp_path / "index.html").write_text("built")
        assert get(address, "/")[2] == b"built"


def test_a_server_open_to_the_network_answers_to_addresses_but_not_to_any_name(
    built: Path,
) -> None:
    app = toy_app(built, host="0.0.0.0", names=("lab.example",))
    with serving(app) as address:
        assert get(address, "/api/health", Host="192.0.2.7:8642")[0] == 200
        assert get(address, "/api/health", Host="lab.example:8642")[0] == 200
        assert get(address, "/api/health", Host="evil.example")[0] == 403
