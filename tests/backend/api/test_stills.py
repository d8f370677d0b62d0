# SPDX-License-Identifier: GPL-2.0-or-later
"""A still of the moment that an address names: which file and moment, how often, how many at once.

Most tests take pictures that say what they are of, and count them; the last ones ask Chromium.
"""

from __future__ import annotations

import asyncio
import http.client
import json
import os
import shutil
import struct
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from html.parser import HTMLParser
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event, Thread
from urllib.parse import parse_qs, urlsplit

import psutil
import pytest

from duet.api import stills as module
from duet.api.app import create_app
from duet.api.stills import Stills, noscript
from duet.base.errors import InfraError
from duet.base.settings import repo_root
from duet.confine.sandbox import CHILD_ID, FIRST_ID, can_change_user
from duet.export import browser, pictures
from duet.export.pictures import Shot
from duet.kernels import KernelSettings
from duet.lessons.load import LessonFolder, load
from duet.processes.run_dir import sweep_all
from duet.server.archive import ArchiveFolder
from duet.server.runs import LiveRuns
from duet.server.wiring import default_director
from tests.support.toy_server import SLUG, serving

NINE = load(SLUG).folder / "recorded/9-hogs.duet"
HOSTILE = '"><script>alert(1)</script></noscript><img src=x onerror=alert(2)>&lesson='
Answer = tuple[int, dict[str, str], bytes]


class Camera:
    """Takes pictures that say what they are of; waits for `go_on` if it is asked to."""

    def __init__(self) -> None:
        self.taken: list[tuple[Path, Shot]] = []
        self.now = self.most = 0
        self.began, self.go_on = Event(), Event()
        self.go_on.set()
        self.fails = False
        self.measuring: str | None = None

    async def take(self, _: LessonFolder, path: Path, shot: Shot) -> bytes:
        self.taken.append((path, shot))
        self.now += 1
        self.most = max(self.most, self.now)
        self.began.set()
        try:
            await asyncio.to_thread(self.go_on.wait, 60)
            if self.fails:
                raise InfraError("the page did not come to rest.", remedy="Look at it.")
        finally:
            self.now -= 1
        return f"{path.name} {shot.step} {shot.at_ms}".encode()


@pytest.fixture
def camera() -> Camera:
    return Camera()


@pytest.fixture
def address(
    camera: Camera, tmp_path: Path, root: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[str]:
    monkeypatch.setenv("DUET_RUNS", str(tmp_path / "runs"))
    built = tmp_path / "dist"
    built.mkdir()
    (built / "index.html").write_text("<body><noscript><p>words</p></noscript></body>")
    settings = KernelSettings(tmp_path / "cache", root / "kernel-patches")
    app = create_app(
        lambda hub: default_director(hub, settings, False),
        page=built,
        stills=Stills(lambda: camera.measuring, camera.take),
    )
    with serving(app) as where:
        yield where
        camera.go_on.set()


def ask(address: str, query: str, method: str = "GET", **headers: str) -> Answer:
    connection = http.client.HTTPConnection(address, timeout=150)
    try:
        connection.request(method, query, headers=headers)
        answer = connection.getresponse()
        found = {name.lower(): value for name, value in answer.getheaders()}
        return answer.status, found, answer.read()
    finally:
        connection.close()


def still(address: str, query: str = "", method: str = "GET") -> Answer:
    return ask(address, f"/still.png?lesson={SLUG}&{query}", method)


def sentence(answer: Answer) -> str:
    error = json.loads(answer[2])["error"]
    assert error["remedy"]
    return str(error["sentence"])


# what is asked for


@pytest.mark.parametrize(
    ("query", "status", "word"),
    [
        ("", 422, "lesson is not usable"),
        ("lesson=02-grace-period", 404, "did you mean"),
        ("lesson=..%2f..%2fetc", 404, "there is no lesson"),
        (f"lesson={SLUG}&step=nine", 404, "has no step 'nine'"),
        (f"lesson={SLUG}&at=soon", 422, "at is not usable"),
        (f"lesson={SLUG}&at=nan", 422, "at is not usable"),
        (f"lesson={SLUG}&from=1&for=-1", 422, "for is not usable"),
        (f"lesson={SLUG}&arms=srcu,none", 404, "has no arm 'none'"),
        (f"lesson={SLUG}&arms=srcu-delayed&run=reader", 404, "has no lane"),
        (f"lesson={SLUG}&align=up", 422, "align is not usable"),
        (f"lesson={SLUG}&run=nine", 404, "has no run 'nine'"),
        (f"lesson={SLUG}&run=../../x", 404, "has no run"),
        (f"lesson={SLUG}&run=recorded:01-shrinker-bitmaps:touch", 404, "has no run"),
        (f"lesson={SLUG}&run=kept:{SLUG}:run-20200101-000000", 404, "has no run 'kept:"),
        (f"lesson={SLUG}&run={'x' * 201}", 422, "run is not usable"),
    ],
)
def test_what_makes_no_sense_is_one_sentence_and_no_picture(
    address: str, camera: Camera, query: str, status: int, word: str
) -> None:
    answer = ask(address, f"/still.png?{query}")
    assert answer[0] == status
    assert word in sentence(answer)
    assert camera.taken == []


def test_the_words_of_an_address_choose_file_and_moment(address: str, camera: Camera) -> None:
    saved = ArchiveFolder.default().add(NINE)
    for query in (
        "step=one-umount",
        "step=ticks&run=3-hogs&at=12.5&from=0&for=40&arms=srcu,rwsem&align=begin&n=3&speed=1&x=1",
        f"at=7&run=recorded:{SLUG}:9-hogs",
        f"step=ticks&run=kept:{SLUG}:{saved}",
    ):
        assert still(address, query)[:1] == (200,)
    one, ticks, first, run = [(path.stem, shot) for path, shot in camera.taken]
    assert (one[0], one[1].step, one[1].at_ms) == ("1-hog", "one-umount", None)
    assert ticks[0] == "3-hogs"
    window = (ticks[1].at_ms, ticks[1].from_ms, ticks[1].to_ms)
    assert (window, ticks[1].arms) == ((12.5, 0, 40), ("srcu", "rwsem"))
    address_of = pictures.address(load(SLUG), ticks[1], 12.5)
    assert "align=begin&n=3" in address_of and "speed" not in address_of
    assert (first[0], first[1].step) == ("9-hogs", load(SLUG).lesson.scenes[0].id)
    assert (run[0], run[1].step) == (saved, "ticks")


def test_a_live_run_falls_back_to_the_recording_and_the_page_says_so(
    address: str, camera: Camera, monkeypatch: pytest.MonkeyPatch
) -> None:
    live = f"kept:{SLUG}:run-20260101-000000-abcdef"
    monkeypatch.setattr(LiveRuns, "find", lambda _, run_id: run_id if run_id == live else None)
    assert still(address, f"run={live}&at=900&from=890&for=20")[0] == 200
    (path, shot) = camera.taken[0]
    assert path.parent.name == "recorded"
    assert (shot.step, shot.at_ms, shot.from_ms) == (load(SLUG).lesson.hero, None, None)
    said = ask(address, f"/?lesson={SLUG}&run={live}")[2].decode()
    assert "While a live run goes on, this is the lesson’s own recording in its place." in said


def test_hosts_and_methods_are_those_of_other_routes(address: str, camera: Camera) -> None:
    query = f"/still.png?lesson={SLUG}"
    assert ask(address, query, Host="evil.example")[0] == 403
    assert ask(address, query, "POST", Origin="http://evil.example")[0] == 403
    assert ask(address, query, "POST")[0] == 405
    status, headers, body = ask(address, query, "HEAD")
    assert (status, headers["content-type"], body) == (200, "image/png", b"")
    assert ask(address, f"{query}&step=nine", "HEAD")[0] == 404
    assert camera.taken == []


# how often, how many at once


def test_a_picture_is_taken_once_and_known_by_what_the_file_holds(
    address: str, camera: Camera
) -> None:
    first = still(address, "step=ticks&run=9-hogs&at=5")
    assert (first[0], first[1]["content-type"]) == (200, "image/png")
    assert still(address, "step=ticks&run=9-hogs&at=5.0&unknown=1")[2] == first[2]
    saved = ArchiveFolder.default().add(NINE)  # the same bytes under another name
    assert still(address, f"step=ticks&run=kept:{SLUG}:{saved}&at=5")[2] == first[2]
    assert len(camera.taken) == 1
    still(address, "step=ticks&run=9-hogs&at=6")
    still(address, "step=ticks&run=3-hogs&at=5")
    assert len(camera.taken) == 3


def test_what_is_kept_is_bounded_by_count_and_by_bytes(
    address: str, camera: Camera, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MAX_CACHED", 2)
    for at in (1, 2, 1, 3, 1, 2):  # 2 is the one that was used longest ago when 3 comes
        still(address, f"at={at}")
    assert [shot.at_ms for _, shot in camera.taken] == [1, 2, 3, 2]
    monkeypatch.setattr(module, "MAX_CACHED_BYTES", 10)
    for _ in range(2):
        still(address, "at=4")
    assert len(camera.taken) == 6


def test_one_at_a_time_others_wait_and_the_server_goes_on(address: str, camera: Camera) -> None:
    camera.go_on.clear()
    with ThreadPoolExecutor(5) as pool:
        asked = [pool.submit(still, address, f"at={at}") for at in (1, 2, 3, 3, 3)]
        assert camera.began.wait(30)
        assert ask(address, "/api/health")[0] == 200
        assert len(camera.taken) == 1
        camera.go_on.set()
        bodies = {answer.result(60)[2] for answer in asked}
    assert camera.most == 1
    assert len(bodies) == len(camera.taken) == 3


def waiting(pool: ThreadPoolExecutor, address: str, camera: Camera) -> Future[Answer]:
    """A picture that is being taken until go_on is set."""
    camera.go_on.clear()
    first = pool.submit(still, address, "at=1")
    assert camera.began.wait(30)
    return first


def test_a_turn_that_does_not_come_is_a_sentence(
    address: str, camera: Camera, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "WAIT_S", 0.2)
    with ThreadPoolExecutor(1) as pool:
        first = waiting(pool, address, camera)
        late = still(address, "at=2")
        assert (late[0], "other pictures were being taken" in sentence(late)) == (503, True)
        monkeypatch.setattr(module, "QUEUE", 0)
        crowd = still(address, "at=2")
        assert (crowd[0], "are waiting already" in sentence(crowd)) == (503, True)
        camera.go_on.set()
        assert first.result(60)[0] == 200


def test_what_fails_or_takes_too_long_leaves_the_turn_to_the_next(
    address: str, camera: Camera, monkeypatch: pytest.MonkeyPatch
) -> None:
    camera.fails = True
    assert still(address, "at=1")[0] == 503
    camera.fails = False
    assert still(address, "at=1")[0] == 200
    monkeypatch.setattr(module, "TAKE_S", 0.2)
    camera.go_on.clear()
    assert "not taken within" in sentence(still(address, "at=2"))
    camera.go_on.set()
    assert still(address, "at=2")[0] == 200


def test_a_measurement_is_not_disturbed(address: str, camera: Camera) -> None:
    assert still(address, "at=1")[0] == 200
    camera.measuring = "arms are being measured"
    assert still(address, "at=1")[0] == 200  # it is there already
    refused = still(address, "at=2")
    assert (refused[0], "arms are being measured" in sentence(refused)) == (503, True)
    assert len(camera.taken) == 1


def test_a_recording_that_is_too_large_is_refused(
    address: str, camera: Camera, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "LARGE", 1000)
    assert still(address)[0] == 503
    assert camera.taken == []


# what the page says


class Tags(HTMLParser):
    """All tags of a text, with their attributes."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


def test_the_entry_names_the_still_of_its_own_address(address: str) -> None:
    query = f"lesson={SLUG}&step=ticks&at=12.5&run=9-hogs&embed=1&speed=1"
    status, headers, body = ask(address, f"/?{query}")
    assert (status, headers["cache-control"]) == (200, "no-cache")
    assert body.startswith(b"<body><noscript><main") and body.endswith(b"</noscript></body>")
    (image,) = [attrs for tag, attrs in Tags(body.decode()).found if tag == "img"]
    wanted = parse_qs(urlsplit(image["src"] or "").query)
    assert wanted == {"lesson": [SLUG], "step": ["ticks"], "at": ["12.5"], "run": ["9-hogs"]}
    assert "They wait for ticks" in (image["alt"] or "")
    assert b"A still of a recorded run." in body and b"JavaScript" in body
    assert b"words" not in body
    assert ask(address, f"/index.html?{query}")[2] == body


def test_the_text_is_that_of_the_step_and_what_answers_is_folded() -> None:
    ticks, three = (noscript(f"lesson={SLUG}&step={step}") for step in ("ticks", "three-hogs"))
    assert "<h2>They wait for ticks</h2>" in ticks and "<em>Armed</em>: a hog has asked" in ticks
    assert "the medians of the kernels" not in ticks
    before, after = three.split("<details>", 1)
    assert "Now there are three hogs" in before and "the medians of the kernels" in after
    assert "<b>one umount</b>" in noscript(f"lesson={SLUG}")
    place = 1 + [one.id for one in load(SLUG).lesson.scenes].index("ticks")
    for typed in (f"lesson=2&step={place}", f"lesson=Grace&step=step+{place}"):
        found = noscript(typed)
        assert "<h2>They wait for ticks</h2>" in found
        assert f"still.png?lesson={SLUG}&amp;step=ticks" in found or not shutil.which("chromium")
    assert "a hog has asked" not in noscript(f"lesson={SLUG}&step=ticks&embed=1")


def test_the_text_is_in_the_language_of_the_address_where_the_lesson_has_it() -> None:
    german = noscript(f"lesson={SLUG}&step=ticks&lang=de")
    assert "<h2>Sie warten auf Ticks</h2>" in german and "Ein Hog hat eine Grace" in german
    assert "lang=" not in german
    assert noscript(f"lesson={SLUG}&step=ticks&lang=fr") == noscript(f"lesson={SLUG}&step=ticks")


def test_an_address_without_a_lesson_gets_links_to_all(address: str) -> None:
    for query in ("", "?lesson=nothing", "?lesson=../../etc", "?" + "a=1&" * 1000):
        tags = Tags(ask(address, f"/{query}")[2].decode()).found
        assert {"href": f"?lesson={SLUG}"} in [attrs for tag, attrs in tags if tag == "a"]
        assert "img" not in [tag for tag, _ in tags]


@pytest.mark.parametrize(
    "word", ["step", "at", "arms", "run", "from", "align", "lesson", "lang", "x"]
)
def test_a_hostile_address_cannot_write_into_the_page(word: str) -> None:
    for value in (HOSTILE, HOSTILE.replace(">", "%3E").replace("<", "%3C").replace('"', "%22")):
        made = noscript(f"lesson={SLUG}&{word}={value}" if word != "lesson" else f"lesson={value}")
        found = Tags(made).found
        text = {"div", "h2", "dl", "dt", "dd", "b", "ol", "details", "summary", "em", "code"}
        assert {tag for tag, _ in found} <= text | {"main", "h1", "img", "p", "ul", "li", "a"}
        assert made.count("<img") <= 1 and "</noscript" not in made
        for _, attrs in found:
            assert not any(name.startswith("on") for name in attrs)
        for image in [attrs for tag, attrs in found if tag == "img"]:
            assert set(image) == {"src", "alt", "style"}
            assert (image["src"] or "").startswith("./still.png?lesson=")


def test_without_chromium_it_is_a_sentence_in_both_places(
    tmp_path: Path, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(browser, "NAMES", ("no-such-browser",))
    settings = KernelSettings(tmp_path / "cache", root / "kernel-patches")
    with serving(
        create_app(lambda hub: default_director(hub, settings, False), page=tmp_path)
    ) as where:
        answer = still(where)
    assert (answer[0], "Chromium, which is not installed" in sentence(answer)) == (503, True)
    said = noscript(f"lesson={SLUG}")
    assert "No still: taking pictures requires Chromium, which is not installed." in said
    assert "<img" not in said


# Chromium itself

real = pytest.mark.skipif(
    not any(map(shutil.which, browser.NAMES))
    or not (repo_root() / "frontend/dist/site/chunks.json").is_file(),
    reason="Chromium or the built page is missing: setup.sh dev page",
)


@pytest.fixture
def helpers(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Where Chromium's folders lie, which another user must be able to pass."""
    with TemporaryDirectory(prefix="c-") as folder:
        Path(folder).chmod(0o711)
        monkeypatch.setenv("XDG_RUNTIME_DIR", folder)
        monkeypatch.setattr("tempfile.tempdir", folder)
        yield Path(folder)


def chromium_below(pid: int | None = None) -> list[psutil.Process]:
    """Chromium's processes among the descendants of a process; zombies are none."""
    found = []
    for child in psutil.Process(pid).children(recursive=True):
        with suppress(psutil.Error):
            if "chrom" in child.name() and child.status() != psutil.STATUS_ZOMBIE:
                found.append(child)
    return found


def left(folder: Path) -> list[str]:
    """Names of private folders."""
    return [path.name for path in folder.rglob("*") if path.parent.name == "kernel-duet"]


class Watch(Thread):
    """Looks at Chromium's processes for as long as they are there."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.users: set[int] = set()
        self.listening: set[object] = set()
        self.seen: set[int] = set()
        self.over = Event()

    def run(self) -> None:
        while not self.over.wait(0.05):
            for process in chromium_below():
                with suppress(psutil.Error, OSError):
                    self.users |= set(process.uids())
                    # Of its network namespace, whoever owns the socket.
                    mine = Path(f"/proc/{process.pid}/net/tcp").read_text().splitlines()[1:]
                    files = Path(f"/proc/{process.pid}/fd").iterdir()
                    links = [str(file.readlink()) for file in files]
                    own = {link[8:-1] for link in links if link.startswith("socket:[")}
                    for line in mine:
                        fields = line.split()
                        if fields[3] == "0A" and fields[9] in own:
                            self.listening.add(fields[1])
                    self.seen.add(process.pid)


@real
def test_chromium_takes_it_listens_nowhere_is_not_root_and_leaves_nothing(
    tmp_path: Path, root: Path, helpers: Path
) -> None:
    settings = KernelSettings(tmp_path / "cache", root / "kernel-patches")
    watch = Watch()
    watch.start()
    with serving(
        create_app(lambda hub: default_director(hub, settings, False), page=tmp_path)
    ) as where:
        query = "/still.png?lesson=04-extent-shrinker&step=budget&at=1&embed=1"
        status, _, png = ask(where, query)
    watch.over.set()
    watch.join()
    assert (status, png[:6]) == (200, b"\x89PNG\r\n")
    assert struct.unpack_from(">II", png, 16) == (1920, 1080)
    assert len(png) > 20_000
    assert left(helpers) == [] and chromium_below() == []
    assert len(watch.seen) > 3 and watch.listening == set()
    assert 0 not in watch.users or os.geteuid() != 0
    if can_change_user():
        assert len(watch.users) == 1 and FIRST_ID <= watch.users.pop() < CHILD_ID


@real
def test_a_server_that_ends_meanwhile_ends_chromium(helpers: Path) -> None:
    folder = load("04-extent-shrinker")

    async def ended() -> bool:
        taking = asyncio.create_task(pictures.take_still(folder, folder.recordings()[0], Shot()))
        for _ in range(2400):
            await asyncio.sleep(0.05)
            if chromium_below():
                break
        taking.cancel()
        await asyncio.gather(taking, return_exceptions=True)
        return taking.cancelled()

    assert asyncio.run(ended())
    assert chromium_below() == [] and left(helpers) == []


TAKER = """
import asyncio
from duet.export import pictures
from duet.lessons.load import load
folder = load("04-extent-shrinker")
async def main():
    while True:
        await pictures.take_still(folder, folder.recordings()[0], pictures.Shot())
asyncio.run(main())
"""


@real
def test_kill_9_leaves_no_chromium_and_the_next_start_no_folder(helpers: Path) -> None:
    taker = subprocess.Popen([sys.executable, "-c", TAKER])
    until = time.monotonic() + 120
    while len(chromium := chromium_below(taker.pid)) < 4:
        assert taker.poll() is None and time.monotonic() < until
        time.sleep(0.05)
    taker.kill()
    taker.wait()
    _, alive = psutil.wait_procs(chromium, timeout=20)
    assert alive == []
    assert left(helpers)
    sweep_all()
    assert left(helpers) == []
