# SPDX-License-Identifier: GPL-2.0-or-later
"""`bench readers` on a tiny site: real nginx, real Chromium, and few readers."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from duet.base.errors import InfraError, InputError
from duet.export.browser import NAMES
from tools.bench import proxy, readers
from tools.bench.proxy import NGINX, free_port
from tools.bench.readers import Asked, Crowd, Log, Picture, Plan, Request

needs_nginx = pytest.mark.skipif(NGINX is None, reason="nginx is not installed (setup.sh dev)")
needs_chromium = pytest.mark.skipif(
    not any(map(shutil.which, NAMES)), reason="Chromium is not installed: setup.sh dev"
)
HASHED = "page-0123456789.js"
RUNS = ("run-a.js", "run-b.js", "run-c.js")
FIRST = ("/", "/site.js", f"/{HASHED}", "/run-a.js")
INDEX = f"""<!doctype html><link rel="icon" href="data:,">
<script src="site.js"></script><script src="{HASHED}"></script>"""
PAGE = """const load = (name) => new Promise((done) => {
  const script = document.createElement('script');
  document.head.append(Object.assign(script, { src: name, onload: done }));
});
load('run-a.js').then(() => {
  performance.mark('duet:first-picture');
  setTimeout(() => load('later.js'), 100);
  setTimeout(() => navigator.serviceWorker.register('sw.js').catch(() => undefined), 100);
});"""
WORKER = f"""const names = {json.dumps([".", "site.js", HASHED, "later.js", *RUNS])};
const fill = async () => (await caches.open('site')).addAll(names);
addEventListener('install', (event) => event.waitUntil(fill()));
addEventListener('fetch', (event) => event.respondWith(
  fetch(event.request).catch(() => caches.match(event.request))));"""


@pytest.fixture
def site(tmp_path: Path) -> Path:
    folder = tmp_path / "site"
    folder.mkdir()
    parts = {"lesson": "lesson.js"} | {f"recorded:x:{name}": name for name in RUNS}
    for name, text in {
        "index.html": INDEX,
        "site.js": f"globalThis.duetSite = {json.dumps({'parts': parts})};",
        HASHED: PAGE,
        "later.js": "// " + "later " * 500,
        "sw.js": WORKER,
        **dict.fromkeys(RUNS, "// " + "run " * 5000),
    }.items():
        (folder / name).write_text(text)
    return folder


@pytest.mark.nightly
@needs_nginx
@needs_chromium
def test_readers_request_what_chromium_requested(
    site: Path, run_async: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(readers, "QUIET_S", 1.0)
    result = run_async(readers.measure(site, 5, 5, 1.0, False, False))
    assert (result.errors, result.reasons) == (0, [])
    assert result.first_requests == len(FIRST) and result.requests == len(FIRST) + 1 + 2
    assert result.turns_fetched == 2, "the page has one of three runs"
    assert 0 < result.first_p50_ms <= result.first_p99_ms
    assert result.first_bytes < result.bytes < 10_000, "nginx compresses"
    assert result.nginx_cpu_s > 0
    text = readers.text_of(result)
    assert "5 readers" in text and "nginx refused" not in text
    plan, *others = result.visits
    assert (plan.network, plan.requests, plan.refused) == ("no limit", len(FIRST) + 1, [])
    seen = {(one.network, one.workers, one.visit): one for one in others}
    assert len(seen) == 2 * 2 * 3
    for network in readers.NETWORKS:
        for workers in (True, False):
            first, second, offline = (
                seen[network.name, workers, visit] for visit in ("first", "second", "offline")
            )
            # The document, then its scripts, then the run: three answers after another.
            assert first.picture_ms is not None and first.picture_ms > 3 * network.latency_ms
            assert second.bytes < first.bytes / 2
            assert offline.requests <= workers, "a check for a new service worker"
            assert (offline.picture_ms is not None) == workers, "stored by the service worker"
        allowed, blocked = (seen[network.name, one, "first"] for one in (True, False))
        assert allowed.first_requests == blocked.first_requests == len(FIRST)
        assert allowed.requests > blocked.requests


@needs_nginx
@pytest.mark.parametrize("static", [False, True])
def test_few_readers(site: Path, tmp_path: Path, static: bool, run_async: Any) -> None:
    port = free_port()
    served = readers.copy_site(site, tmp_path / "served", static)
    with readers.site_nginx(tmp_path, served, port, static, 100):
        log = Log(tmp_path / readers.LOG)

        def crowd_of(first: list[Asked], rest: list[Asked]) -> Crowd:
            plan = Plan(first, rest, [f"/{name}" for name in RUNS])
            crowd: Crowd = run_async(readers.read_all(port, plan, 5, 1, 0.0))
            return crowd

        crowd = crowd_of([Asked(path) for path in FIRST], [Asked("/later.js")])
        assert (len(crowd.first_s), crowd.fetched, crowd.errors) == (5, 5, [])
        refused = crowd_of([Asked("/"), Asked("/missing.js")], [])
        assert not refused.first_s and len(refused.errors) == 5
        assert "/missing.js: HTTP/1.1 404" in refused.errors[0]
    requests = log.take()
    assert len([one for one in requests if one.status == 200]) == 5 * (len(FIRST) + 3)
    sizes = {one.bytes for one in requests if one.path == "/run-a.js"}
    assert len(sizes) == 1 and sizes.pop() < 1000, "20 KB before nginx compresses them"


@needs_nginx
def test_a_file_that_the_reader_has_is_not_sent_again(
    site: Path, tmp_path: Path, run_async: Any
) -> None:
    def read(path: Asked) -> Request:
        """Read with an nginx of its own, which has written its log when it ends."""
        port = free_port()
        with readers.site_nginx(tmp_path, site, port, False, 100):
            crowd = run_async(readers.read_all(port, Plan([path], [], []), 1, 0, 0.0))
        assert crowd.errors == []
        (request,) = log.take()
        return request

    log = Log(tmp_path / readers.LOG)
    sent = read(Asked("/site.js"))
    again = read(Asked("/site.js", sent.etag))
    assert (sent.status, again.status) == (200, 304)


def test_requests_are_divided_at_the_first_picture() -> None:
    requests = [
        Request("/", 200, 10, 1.0, "a"),
        Request("/run.js", 200, 20, 1.5, "b"),
        Request("/icon.svg", 404, 5, 1.6, ""),
        Request("/", 304, 3, 2.5, "a"),
    ]
    picture = Picture(1000.0, 2.0)
    plan = readers.plan_of(requests, picture, ["/run.js"])
    assert plan.first == [Asked("/"), Asked("/run.js")] and plan.rest == [Asked("/", "a")]
    visit = readers.visit_of("first", readers.NETWORKS[0], True, picture, requests)
    assert (visit.first_requests, visit.requests, visit.first_bytes, visit.bytes) == (3, 4, 35, 38)
    assert visit.refused == ["/icon.svg"]
    none = readers.visit_of("offline", readers.NETWORKS[0], True, None, [])
    assert none.picture_ms is None and none.first_requests == 0


def test_a_folder_that_is_no_site(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"is not an exported site, because .* index.html"):
        readers.bench(tmp_path, 1, 1, 1.0, False, True, js=False)


def test_nginx_is_missing(site: Path, run_async: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(proxy, "NGINX", None)
    with pytest.raises(InfraError, match=r"nginx is not installed\."):
        run_async(readers.measure(site, 1, 1, 1.0, False, True))
