# SPDX-License-Identifier: GPL-2.0-or-later
"""A site holds what the server would send, and is written nowhere but into its folder."""

from __future__ import annotations

import asyncio
import base64
import gzip
import json
import re
import struct
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import msgpack
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from duet.base.errors import InfraError, InputError
from duet.base.settings import repo_root
from duet.cli.entry import main
from duet.cli.export import plain_name, read_shot
from duet.export import pictures, site
from duet.export.pictures import Shot
from duet.lessons.load import LessonFolder, load, slugs
from duet.server.recordings import ChosenRecordings
from duet.stream.packets import differences, small
from tests.support.real_server import keyed, look, real_app
from tests.support.toy_server import SLUG, serving

NINE = load(SLUG).folder / "recorded/9-hogs.duet"


def chunk(*modules: str, **more: list[str]) -> dict[str, list[str]]:
    return {
        "modules": [*modules],
        "imports": [],
        "later": [],
        "styles": [],
        "workers": [],
        **more,
    }


FACTS = {
    "main-1.js": chunk(site.SCRIPTS[0], later=["app-1.js"], styles=["page-1.css"]),
    "app-1.js": chunk(
        site.SCRIPTS[1],
        imports=["main-1.js", "shared-1.js"],
        later=["view-1.js", "view-2.js", "deck-1.js"],
        styles=["a-1.css"],
    ),
    "shared-1.js": chunk(),
    "deck-1.js": chunk("deck.tsx", styles=["deck-1.css"], workers=["deck.worker-1.js"]),
    "view-1.js": chunk(f"lessons/{SLUG}/view/index.tsx", imports=["shared-1.js"]),
    "view-2.js": chunk(
        "lessons/01-shrinker-bitmaps/view/index.tsx",
        imports=["of-view-2.js"],
        workers=["other.worker-1.js"],
    ),
    "of-view-2.js": chunk(),
}
"""A built page in short, as frontend/tools/classic-chunks.ts lists it."""


@pytest.fixture
def built(monkeypatch: pytest.MonkeyPatch) -> None:
    """A page that stands for the built one, which tests of Python alone do not need."""
    page = {name: name.encode() for name in ("fonts-1.css", "kernel-duet.js", "page-1.css")}
    page |= {name: name.encode() for name in FACTS}
    page |= {
        "a-1.css": b"a",
        "deck-1.css": b"deck",
        "deck.worker-1.js": b"",
        "other.worker-1.js": b"",
    }
    page[site.CHUNKS] = json.dumps(FACTS).encode()
    monkeypatch.setattr(site, "built_page", lambda: page)


def write(out: Path, **chosen: Path) -> Path:
    site.write(site.check_site(out), load(SLUG), chosen or {"nine": NINE})
    return out


def listed_in(out: Path) -> dict[str, Any]:
    text = (out / "site.js").read_text().removeprefix(site.MARK).rstrip(";\n")
    found: dict[str, Any] = json.loads(text)
    return found


def part(out: Path, name: str) -> Path:
    """The script of a part."""
    return out / listed_in(out)["parts"][name]


def brought(script: Path) -> Iterator[bytes]:
    """The messages of one part, as the page reads them."""
    found = re.fullmatch(r"duetSite\.brought\[.*?\] = (\".*\");\n", script.read_text())
    assert found is not None
    framed = gzip.decompress(base64.b64decode(json.loads(found[1])))
    at = 0
    while at < len(framed):
        (size,) = struct.unpack_from("<I", framed, at)
        yield whole(framed[at + 4 : at + 4 + size])
        at += 4 + size


def whole(body: bytes) -> bytes:
    """What frontend/src/protocol/decode.ts does: columns sent as differences become columns."""
    message = msgpack.unpackb(body)
    chained = message.pop("chained", False)
    columns = message.get("columns", {})
    for name in message.pop("deltas", []):
        if not chained or name != "t0_ns":
            columns[name] = summed(columns[name], message["dtypes"][name])
    if chained:
        columns["t0_ns"] = unchained(columns)
    return bytes(msgpack.packb(message))


def unchained(columns: dict[str, bytes]) -> bytes:
    """Starts of spans from gaps, as frontend/src/protocol/decode.ts computes them."""
    gaps = np.frombuffer(columns["t0_ns"], np.uint8).reshape(8, -1).T.copy().view("<i8").ravel()
    rows = np.frombuffer(columns["row"], "<i4").tolist()
    ends = np.frombuffer(columns["t1_ns"], "<f8").tolist()
    kinds = list(columns.get("kind", bytes(len(rows))))
    last: dict[int, float] = {}
    starts = np.zeros(len(rows), "<f8")
    places = {i: at for at, i in enumerate(sorted(range(len(rows)), key=lambda i: kinds[i]))}
    for i, (row, end) in enumerate(zip(rows, ends, strict=True)):
        gap = int(gaps[places[i]])
        starts[i] = last.get(row, 0) + gap
        if gap >= 0:
            last[row] = end
    return starts.tobytes()


def summed(deltas: bytes, dtype: str) -> bytes:
    width = int(dtype[1:])
    planes = np.frombuffer(deltas, np.uint8).reshape(width, -1)
    values = np.cumsum(planes.T.copy().view(f"<i{width}" if width > 1 else "i1").ravel())
    return bytes(values.astype("<f8" if dtype == "f8" else f"<i{width}").tobytes())


@pytest.mark.parametrize(
    ("dtype", "values", "deltas"),
    [
        (
            "f8",
            [1000, 2234, -3, 2**31],
            "e8d243030304f7000000ff000000ff800000ff000000ff000000ff000000ff00",
        ),
        ("i4", [5, -5, -6], "05f6ff00ffff00ffff00ffff"),
        ("u4", [2**32 - 1, 1], "ff02ff00ff00ff00"),
        ("i2", [-1, 256, -32511], "ff0101ff0180"),
        ("u1", [7, 3, 1], "07fcfe"),
    ],
)
def test_columns_are_reported_as_differences(dtype: str, values: list[int], deltas: str) -> None:
    # The same texts as in frontend/src/protocol/decode.test.ts.
    column = np.array(values, f"<{dtype}").tobytes()
    assert differences(column, dtype) == bytes.fromhex(deltas)
    assert summed(bytes.fromhex(deltas), dtype) == column


@given(st.lists(st.floats(width=64) | st.integers(-(2**53), 2**53).map(float)))
def test_no_bit_of_a_column_is_lost(values: list[float]) -> None:
    column = np.array(values, "<f8").tobytes()
    deltas = differences(column, "f8")
    assert deltas is None or summed(deltas, "f8") == column


@pytest.mark.parametrize("value", [0.5, -0.0, float("nan"), float("inf"), 2.0**52, -(2.0**60)])
def test_what_would_be_rounded_is_reported_as_it_is(value: float) -> None:
    column = np.array([1.0, value], "<f8").tobytes()
    assert differences(column, "f8") is None
    columns = {"t": column, "n": b"\x01\x02"}
    batch = {"type": "batch", "columns": columns, "dtypes": {"t": "f8", "n": "u1"}}
    assert msgpack.unpackb(whole(small(msgpack.packb(batch)))) == batch


def test_a_site_holds_the_messages_of_the_server(
    built: None, root: Path, tmp_path: Path, run_async: Any
) -> None:
    out = write(tmp_path / "site", **{"9-hogs": NINE})
    messages = [msgpack.unpackb(raw) for raw in brought(part(out, f"recorded:{SLUG}:9-hogs"))]
    with serving(real_app(tmp_path / "cache", root)) as address:
        seen = run_async(look(address, f"recorded:{SLUG}:9-hogs")).seen

    from_server = keyed(seen)
    assert keyed(messages) == from_server
    assert len(from_server) > 10
    assert [m["type"] for m in messages if m["type"] == "run"] == ["run"]
    first = [msgpack.unpackb(raw) for raw in brought(part(out, "greeting"))]
    assert (first[0]["type"], first[0]["live"]) == ("hello", False)
    lesson = next(
        m for raw in brought(part(out, "lesson")) if (m := msgpack.unpackb(raw))["type"] == "lesson"
    )
    assert [r["name"] for r in lesson["lesson"]["recordings"]] == ["9-hogs"]
    assert lesson["lesson"]["measured"]
    assert (out / "9-hogs.duet").read_bytes() == NINE.read_bytes()


def test_a_site_has_the_languages_of_its_lesson_while_there_is_room(
    built: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = part(write(tmp_path / "site"), "words-de").read_text()
    assert script.startswith('duetSite.brought["words-de"] = "') and script.endswith('";\n')
    framed = gzip.decompress(base64.b64decode(script.split('"')[3]))
    words = json.loads(framed[4:])
    assert words["page"]["next"] == "weiter"
    # Of its own view, and no class: it has no server.
    own = json.loads((load(SLUG).folder / site.VIEW_WORDS / "de.json").read_text())
    others = json.loads((repo_root() / site.PAGE_WORDS / "de/server.json").read_text())
    assert set(own) <= set(words["page"]) and not (set(others) - set(own)) & set(words["page"])
    assert [["title"], "Grace Periods"] in words["lessons"][SLUG]
    monkeypatch.setattr(site, "SITE_BYTES", site.PICTURE_BYTES)
    target = site.check_site(tmp_path / "small")
    assert site.write(target, load(SLUG), {"nine": NINE}) == ["de", "zh-Hans"]
    assert not list((tmp_path / "small").glob("words-*"))


def test_a_lesson_with_the_picture_of_another_has_its_words(root: Path) -> None:
    folder = load(SLUG)
    assert site.home_of_view(folder) == folder.folder
    lent = replace(load("03-inode-recycling"), lesson=folder.lesson)
    assert site.home_of_view(lent) == lent.folder  # its own folder has a picture, too
    lent = replace(lent, folder=root / "tests/sixth/lessons/06-pipe-herd")
    assert site.home_of_view(lent) == folder.folder
    general = folder.lesson.model_copy(update={"view": "timeline"})
    assert site.home_of_view(replace(lent, lesson=general)) is None


def test_several_recordings_are_parts_of_their_own(built: None, tmp_path: Path) -> None:
    three = NINE.with_name("3-hogs.duet")
    out = write(tmp_path / "site", nine=NINE, three=three)
    listed = listed_in(out)
    assert listed["first"] == f"recorded:{SLUG}:nine"
    assert list(listed["steps"]) == [scene.id for scene in load(SLUG).lesson.scenes]
    assert listed["steps"]["three-hogs"] == f"recorded:{SLUG}:three"
    assert listed["steps"]["ticks"] == f"recorded:{SLUG}:nine"
    assert set(listed["parts"]) == {
        "greeting", "lesson", f"recorded:{SLUG}:nine", f"recorded:{SLUG}:three",
        "words-de", "words-zh-Hans",
    }  # fmt: skip
    assert listed["bundle"] is None
    assert all((out / name).is_file() for name in listed["files"])


def test_a_folder_with_other_things_is_refused_an_earlier_export_is_replaced(
    built: None, tmp_path: Path
) -> None:
    out = write(tmp_path / "site", nine=NINE)
    again = write(out, three=NINE.with_name("3-hogs.duet"))
    assert not list(again.glob("run-nine-*.js")) and list(again.glob("run-three-*.js"))
    (out / "thesis.txt").write_text("mine")
    with pytest.raises(InputError, match=r"only an earlier export, but also has 'thesis.txt'"):
        site.check_site(out)
    assert list(out.glob("run-three-*.js")) and (out / "thesis.txt").read_text() == "mine"
    other = tmp_path / "other"
    other.mkdir()
    (other / "notes").write_text("mine")
    with pytest.raises(InputError, match="is not empty"):
        site.check_site(other)
    with pytest.raises(InputError, match="should be a folder"):
        site.check_site(other / "notes")


@pytest.mark.parametrize("names", [["../../thesis.txt"], ["/etc/passwd"], ["sub"]])
def test_a_forged_list_takes_nothing_away(tmp_path: Path, names: list[str]) -> None:
    out = tmp_path / "deep/site"
    (out / "sub").mkdir(parents=True)
    thesis = tmp_path / "thesis.txt"
    thesis.write_text("mine")
    tree = {"files": names, "bundle": "../../thesis.txt"}
    (out / "site.js").write_text(site.MARK + json.dumps(tree) + ";\n")
    with pytest.raises(InputError, match="only an earlier export, but also has 'sub'"):
        site.check_site(out)
    assert thesis.read_text() == "mine" and (out / "site.js").is_file()


def test_texts_of_a_lesson_are_no_markup_of_the_page() -> None:
    folder = load(SLUG)
    lesson = folder.lesson.model_copy(
        update={
            "title": "</title><script>x()</script>",
            "question": '"><script>y()</script>',
        }
    )
    text = site.index_html(replace(folder, lesson=lesson), "page.css", ["page.js"])
    assert "<script>x()" not in text and "<script>y()" not in text
    assert text.count("<script") == 2


def test_a_site_has_the_scripts_of_its_own_view_and_loads_the_first_ones_together(
    built: None, tmp_path: Path
) -> None:
    out = write(tmp_path / "site")
    names = {path.name for path in out.iterdir()}
    assert {
        "deck-1.js",
        "deck-1.css",
        "deck.worker-1.js",
        "kernel-duet.js",
        "fonts-1.css",
    } <= names
    assert not {"view-2.js", "of-view-2.js", "other.worker-1.js", site.CHUNKS} & names
    (script,) = out.glob("page-*.js")
    (style,) = out.glob("page-*.css")
    # The entry is last. Its style sheet is first.
    assert script.read_text() == "app-1.jsshared-1.jsview-1.jsmain-1.js"
    assert style.read_text() == "page-1.cssa"
    index = (out / "index.html").read_text()
    parts = listed_in(out)["parts"]
    assert re.findall(r'<script (?:defer )?src="([^"]+)">', index) == [
        "site.js", parts["greeting"], parts["lesson"], script.name,
    ]  # fmt: skip
    assert re.findall(r'rel="stylesheet" href="([^"]+)"', index) == [style.name]
    assert listed_in(out)["fonts"] == "fonts-1.css"


def test_a_picture_is_added_to_the_page(built: None, tmp_path: Path) -> None:
    target = site.check_site(tmp_path / "site")
    site.write(target, load(SLUG), {"nine": NINE})
    site.add_picture(target, load(SLUG), b"webp")
    assert '<img src="picture.webp" alt="' in (tmp_path / "site/index.html").read_text()
    assert (tmp_path / "site/picture.webp").read_bytes() == b"webp"


def test_the_service_worker_has_another_version_when_a_file_changes(
    built: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def worker(out: Path) -> dict[str, Any]:
        first, _, code = (out / "sw.js").read_text().partition("};\n")
        assert "addEventListener('fetch'" in code
        listed: dict[str, Any] = json.loads(first.removeprefix("const site = ") + "}")
        return listed

    found: list[dict[str, Any]] = []
    for text in ("one", "one", "two"):
        monkeypatch.setattr(site, "encode_packets", lambda _, text=text: text)
        found.append(worker(write(tmp_path / f"site{len(found)}")))
    assert found[0] == found[1] and found[0]["version"] != found[2]["version"]
    out = tmp_path / "site0"
    names = {path.name for path in out.iterdir()}
    assert {*found[0]["lasting"], *found[0]["changing"], "sw.js"} == names
    assert {"index.html", "site.js", "icon.svg", "kernel-duet.js"} <= set(found[0]["changing"])
    assert all(re.search(r"-[0-9a-f]{10}\.|-1\.", name) for name in found[0]["lasting"])
    assert set(listed_in(out)["files"]) | {"site.js", "nine.duet"} >= names


def test_cells_of_a_grid_have_a_budget_of_their_own(
    built: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(LessonFolder, "cells", lambda self: (Path("nine.duet"),))
    write(tmp_path / "site")
    monkeypatch.setattr(site, "GRID_BYTES", 1000)
    with pytest.raises(InputError, match="the cells of the grid take"):
        write(tmp_path / "large")


@given(
    st.lists(
        st.tuples(st.integers(0, 2), st.integers(0, 5), st.integers(0, 99), st.integers(0, 99)),
        max_size=30,
    )
)
def test_no_start_of_a_span_is_lost(spans: list[tuple[int, int, int, int]]) -> None:
    rows, kinds, starts, ends = np.array(spans, "<i8").reshape(-1, 4).T
    columns = {
        "t0_ns": starts.astype("<f8").tobytes(),
        "t1_ns": ends.astype("<f8").tobytes(),
        "row": rows.astype("<i4").tobytes(),
        "kind": kinds.astype("u1").tobytes(),
    }
    dtypes = {"t0_ns": "f8", "t1_ns": "f8", "row": "i4", "kind": "u1"}
    plain = bytes(msgpack.packb({"type": "batch", "columns": columns, "dtypes": dtypes}))
    assert msgpack.unpackb(whole(site.chained(small(plain), plain)))["columns"] == columns


@pytest.mark.parametrize(
    ("stem", "plain"),
    [
        ("9-hogs", "9-hogs"),
        ("My Run (2)", "my-run-2"),
        ("..", "recording"),
        ("a" * 99, "a" * 60),
    ],
)
def test_file_names_become_plain(stem: str, plain: str) -> None:
    assert plain_name(stem) == plain


def test_a_page_that_is_not_built_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(site, "repo_root", lambda: tmp_path)
    with pytest.raises(InfraError, match="not built"):
        site.built_page()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--to", "docx"], "there is no export format 'docx'"),
        (["--to", "gif"], "a film needs a range"),
        (["--to", "gif", "--from", "9", "--to-ms", "3"], "has no length"),
        (["--to", "webm", "--from", "1", "--to-ms", "3", "--seconds", "999"], "frames"),
        (["--to", "png", "--step", "nowhere"], "has no step 'nowhere'"),
        (["--to", "png", "--arms", "rwsem,fast"], "fast"),
        (["--to", "png", "--size", "huge"], "--size needs"),
        (["--to", "png", "--size", "100x9000"], "--size needs"),
        (["--to", "png", "--theme", "pink"], "no theme 'pink'"),
        (["--to", "csv", "--at", "3"], "takes no step"),
        (["--to", "site", "--theme", "dark"], "takes no step"),
    ],
)
def test_what_cannot_be_exported_is_one_sentence(
    arguments: list[str], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    assert main(["export", f"{SLUG}/9-hogs", str(out), *arguments]) == 2
    error = capsys.readouterr().err
    assert said in error and "remedy:" in error
    assert not out.exists()


def test_frames_go_from_the_first_moment_to_the_last() -> None:
    shot = Shot(from_ms=5, to_ms=45, seconds=1)
    found = pictures.moments(shot, 25)
    assert (found[0], found[-1], len(found)) == (5, 45, 25)
    steps = {round(b - a, 6) for a, b in pairwise(found)}
    assert len(steps) == 1


def test_an_address_says_where_a_picture_looks() -> None:
    given = read_shot(("ticks", 20.0, 5.0, 45.0, None), ("rwsem",), "1600x900", "dark")
    assert (given.screen.width, given.screen.height, given.screen.dark) == (
        1600,
        900,
        True,
    )
    query = pictures.address(load(SLUG), given, 20.0)
    assert query == (
        f"?lesson={SLUG}&step=ticks&lang=en&at=20.000000&from=5.000000&for=40.000000&arms=rwsem&embed=1"
    )


# Each cell is decoded.
@pytest.mark.nightly
@pytest.mark.parametrize("slug", slugs())
def test_the_cells_of_each_lesson_fit_into_a_site(slug: str) -> None:
    folder = load(slug)
    cells = {path.stem: path for path in folder.cells()}
    assert cells
    sent = asyncio.run(site.site_packets(slug, ChosenRecordings(slug, cells)))
    sizes = [len(site.encode_packets(packets)) for packets in sent.runs.values()]
    assert len(sizes) == len(cells) and sum(sizes) <= site.GRID_BYTES
